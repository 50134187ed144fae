"""Makes the folder of an entry from the results of a suite."""

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen
from msgspec.structs import replace

from desim.core.roles import Knowledge
from desim.episodes.series import episode_file
from desim.errors import BadRecord, UsageError
from desim.jobs.keep.record_folder import RecordFolder, series_folder
from desim.records.provenance import versions
from desim.suites.manifest import suite_text
from desim.suites.suite_plan import Plan, SuiteJob
from desim.verification.boards.commitment import BEACON, COMMITMENT, RECEIPT, files_of
from desim.verification.entries.entry_folder import (
    CODE,
    MANIFEST,
    SESSION,
    SIGNATURE,
    SUITE,
    EntryFolder,
    EntryPlan,
    entry_suite,
    plan_of,
    record_files,
)
from desim.verification.entries.entry_manifest import FORMAT, EntryManifest
from desim.verification.figures import (
    figures_of,
    knowledge_of,
    outcome_of,
    revisions_of,
    tuned_on_of,
    used_by,
)
from desim.verification.played_again import Players, rehearses
from desim.verification.record_content import content_digest
from desim.verification.rule_code import code_digest, code_of
from desim.verification.signed.canonical import digest
from desim.verification.signed.keys import PrivateKey
from desim.version import __version__


@frozen
class Submission:
    """The facts that a submitter adds to the results of a suite.

    Attributes:
        entry: The name of the entry in the suite.
        name: Its name on a board; the entry's where empty.
        submitter: The name of the submitter.
        attempts: How often it was played.
        key: Signs the manifest; None for an entry without a signature.
        commitment: The folder of the commitment of fresh seeds; None for public seeds.
    """

    entry: str
    name: str = ""
    submitter: str = ""
    attempts: int = 1
    key: PrivateKey | None = None
    commitment: Path | None = None


def submit(results: Path, out: Path, submission: Submission) -> EntryManifest:
    """Write the folder of an entry from the folder of a suite's results.

    The records of language models are copied, those of rules are named by their digests. So are
    the files of the submitter's own that its rules reach.

    Args:
        results: The folder of `desim bench --out`, or the entry of a sealed session.
        out: A folder that does not exist yet.
        submission: What the submitter adds.

    Raises:
        UsageError: The folder holds no such entry, an episode is missing, or *out* exists.
        BadRecord: A record cannot be read.
    """
    if out.exists():
        raise UsageError(f"{out} exists and is kept; choose another name")
    if (results / SESSION).exists():
        return _signed_session(results, out, submission)
    text = suite_text(RecordFolder(results))
    try:
        entry = plan_of(*entry_suite(text, submission.entry))
    except BadRecord as fault:  # no entry yet
        raise UsageError(str(fault)) from None
    partial = out.with_name(f".{out.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        manifest = _readable(_written(RecordFolder(results), entry, partial, submission))
        (partial / SUITE).write_bytes(text)
        for name, content in _committed(submission).items():
            (partial / name).write_bytes(content)
        (partial / MANIFEST).write_bytes(manifest.content)
        if submission.key is not None:
            signature = submission.key.sign("entry", manifest.content)
            (partial / SIGNATURE).write_bytes(signature)
        partial.rename(out)
    except OSError as fault:
        raise UsageError(f"cannot write {out}: {fault.strerror}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return manifest


def _signed_session(session: Path, out: Path, submission: Submission) -> EntryManifest:
    """Copy the entry that a server has made of a sealed session, with its submitter's name and key.

    Raises:
        UsageError: The copy cannot be written.
    """
    folder = EntryFolder.opened(session)
    told = folder.manifest()
    manifest = _readable(
        replace(
            told,
            name=submission.name or told.name,
            submitter=submission.submitter,
            key=submission.key.public.hex if submission.key else "",
            attempts=submission.attempts,
        )
    )
    try:
        for name in sorted(folder.files - {MANIFEST, SIGNATURE}):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(session / name, out / name)
        if submission.key is not None:
            (out / SIGNATURE).write_bytes(submission.key.sign("entry", manifest.content))
        (out / MANIFEST).write_bytes(manifest.content)
    except OSError as fault:
        raise UsageError(f"cannot write {out}: {fault.strerror}") from None
    return manifest


def _readable(manifest: EntryManifest) -> EntryManifest:
    """Return a manifest that can be read again.

    Raises:
        UsageError: It cannot, for instance because a name is too long.
    """
    try:
        return EntryManifest.read(manifest.content)
    except BadRecord as fault:
        raise UsageError(f"{fault}; give --name and --who accordingly") from None


def _written(
    results: RecordFolder, entry: EntryPlan, out: Path, submission: Submission
) -> EntryManifest:
    """Copy the records that an entry needs, and return its manifest."""
    records: dict[str, str] = {}
    outcomes = {}
    for job in entry.jobs:
        files = list(_files(results, job))
        for name, file in zip(record_files(job), files, strict=True):
            records[name] = content_digest(file)
            if rehearses(Players(job.model, job.policies)):
                copy_zipped(file, out / name)
        outcomes[job.name] = outcome_of(job, files)
    plan: Plan = entry.plan
    code = code_of(plan.suite.entries[submission.entry])
    for path, content in code.items():
        (out / CODE / path).parent.mkdir(parents=True, exist_ok=True)
        (out / CODE / path).write_bytes(content)
    knows: dict[str, Knowledge] = knowledge_of(plan, outcomes)
    return EntryManifest(
        format=FORMAT,
        entry=submission.entry,
        name=submission.name or submission.entry,
        submitter=submission.submitter,
        key=submission.key.public.hex if submission.key else "",
        suite=entry.digest,
        suite_file=digest(suite_text(results)),
        worlds=revisions_of(plan, outcomes),
        knows={world: level for world, level in knows.items() if level != "observation"},
        records=records,
        results=figures_of(plan, outcomes),
        used=used_by(outcomes.values()),
        made_with={"desim": __version__, **versions()},
        attempts=submission.attempts,
        tuned_on=tuned_on_of(plan),
        code=code_digest(code),
        **_fresh(submission),
    )


def _committed(submission: Submission) -> dict[str, bytes]:
    """Return the files of the commitment by name; none without one."""
    return files_of(submission.commitment) if submission.commitment else {}


def _fresh(submission: Submission) -> dict[str, Any]:
    """Return the fields of a manifest that name a commitment.

    Raises:
        UsageError: The folder has no commitment, or the entry no key.
    """
    if submission.commitment is None:
        return {}
    found = _committed(submission)
    if COMMITMENT not in found or BEACON not in found or submission.key is None:
        raise UsageError(
            f"{submission.commitment} has {', '.join(found) or 'nothing'}; fresh seeds need "
            f"{COMMITMENT}, {RECEIPT}, {BEACON} and --key"
        )
    return {"seeds": "fresh", "commitment": digest(found[COMMITMENT])}


def _files(results: RecordFolder, job: SuiteJob) -> Iterator[Path]:
    """Yield the records of a job.

    Raises:
        UsageError: One is missing.
    """
    record = results.record(job.name)
    numbers = range(1, job.episodes + 1)
    folder = series_folder(record)
    for file in [episode_file(folder, n) for n in numbers] if job.is_series else [record]:
        if not file.is_file():
            raise UsageError(f"{file} is missing; desim bench plays what is left")
        yield file


def copy_zipped(file: Path, out: Path) -> None:
    """Copy a record, gzipped; the same record gives the same bytes."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with (
        file.open("rb") as source,
        out.open("wb") as target,
        gzip.GzipFile("", "wb", fileobj=target, mtime=0) as zipped,
    ):
        shutil.copyfileobj(source, zipped)
