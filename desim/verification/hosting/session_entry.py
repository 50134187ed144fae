"""Makes the folder of an entry from a sealed session that has ended."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from desim.records.provenance import versions
from desim.suites.suite_plan import Plan
from desim.verification.entries.entry_folder import (
    MANIFEST,
    SESSION,
    SUITE,
    record_files,
    suite_digest,
)
from desim.verification.entries.entry_manifest import FORMAT, EntryManifest
from desim.verification.figures import figures_of, knowledge_of, outcome_of, revisions_of, used_by
from desim.verification.record_content import content_digest
from desim.verification.sealed.sealed_suite import SealedSuite
from desim.verification.sealed.statements import Offer, Opening
from desim.verification.submit import copy_zipped
from desim.version import __version__


def write_entry(
    out: Path,
    suite: SealedSuite,
    session: bytes,
    said: tuple[Offer, Opening],
    plan: Plan,
    records: Sequence[Path],
) -> None:
    """Write the folder of an entry, which replaces one that a killed server has left.

    Args:
        out: The folder.
        suite: The suite.
        session: The content of the file of the session.
        said: Its offer and its opening.
        plan: The plan with the seeds that the end has revealed.
        records: The records in the order of the episodes.
    """
    offer, opening = said
    shutil.rmtree(out, ignore_errors=True)
    names = [name for job in plan.jobs for name in record_files(job)]
    for name, record in zip(names, records, strict=True):
        copy_zipped(record, out / name)
    (out / SUITE).write_bytes(suite.content)
    (out / SESSION).write_bytes(session)
    outcomes = {
        job.name: outcome_of(job, [record]) for job, record in zip(plan.jobs, records, strict=True)
    }
    manifest = EntryManifest(
        format=FORMAT,
        entry=opening.name,
        name=opening.name,
        suite=suite_digest(suite.suite),
        suite_file=suite.digest,
        seeds="sealed",
        session=offer.session,
        commitment=opening.commitment,
        worlds=revisions_of(plan, outcomes),
        knows={
            world: most
            for world, most in knowledge_of(plan, outcomes).items()
            if most != "observation"
        },
        records={n: content_digest(r) for n, r in zip(names, records, strict=True)},
        results=figures_of(plan, outcomes),
        used=used_by(outcomes.values()),
        made_with={"desim": __version__, **versions()},
    )
    (out / MANIFEST).write_bytes(manifest.content)
