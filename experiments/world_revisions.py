"""Does the revision of every world fit its golden digests, and is an episode of it in the archive?

`tests/golden/revisions.tsv` has a line for every baseline: preset, policy, revision of the world,
and a digest of its lines in `digests.tsv`. `tests/golden/archive` has a record for every world and
revision, and in SHA256SUMS its digest; what is there is never written again. After a change that is
meant to change a world, renew its golden episode and `digests.tsv`, raise `revision` in its
model.py and its README, and run

    python experiments/world_revisions.py

which writes the lines and adds the records. It refuses lines that have changed at one revision.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from attrs import frozen

from desim import Episode, catalog, play
from desim.core.model_protocols import FIRST_REVISION, own_revision, revision_of, revision_text

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"
DIGESTS, TABLE, ARCHIVE = GOLDEN / "digests.tsv", GOLDEN / "revisions.tsv", GOLDEN / "archive"
#: The digests of the archive, as `sha256sum --check` reads them.
SUMS = "SHA256SUMS"
#: Hexadecimal digits of the digest of a baseline's lines.
DIGITS = 16
#: Policies of archived episodes, where the record of the golden one has more than 100 KB.
SMALLER = {"enterprise_arena": {"cfo": "human_like"}}


@frozen
class GoldenLines:
    """The golden lines of one baseline.

    Attributes:
        revision: The revision of the world at which they were written, in words.
        digest: A digest of scores and ledgers on all seeds.
    """

    revision: str
    digest: str


#: Golden lines by preset, as `model/preset`, and policy.
Table = Mapping[tuple[str, str], GoldenLines]


def present() -> Table:
    """Return the lines of `digests.tsv` at the present revisions."""
    rows = (line.split("\t") for line in DIGESTS.read_text(encoding="utf-8").splitlines())
    found = {}
    for (preset, policy), each in groupby(rows, lambda row: (row[0], row[1])):
        text = "\n".join("\t".join(row[2:]) for row in each)
        digest = hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
        found[preset, policy] = GoldenLines(
            revision_text(revision_of(catalog.model(preset))), digest
        )
    return found


def written() -> Table:
    """Return the lines of `revisions.tsv`."""
    text = TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""
    rows = (line.split("\t") for line in text.splitlines())
    return {(preset, policy): GoldenLines(*rest) for preset, policy, *rest in rows}


def unrevised(before: Table, now: Table) -> list[str]:
    """Return for each world whose lines have changed at one revision what is to be done."""
    changed: dict[str, list[str]] = {}
    for (preset, policy), lines in now.items():
        known = before.get((preset, policy))
        if known and known.revision == lines.revision and known.digest != lines.digest:
            changed.setdefault(preset.partition("/")[0], []).append(f"{preset} {policy}")
    return [_advice(world, lines) for world, lines in changed.items()]


def _advice(world: str, lines: list[str]) -> str:
    revision = own_revision(catalog.model_class(world)) or FIRST_REVISION
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return (
        f"the golden lines of {lines[0]}{more} are not those of revision {revision}: raise "
        f"{world}'s revision to {revision + 1} (models/{world}/model.py and README.md) and run "
        "python experiments/world_revisions.py"
    )


def record_name(episode: Episode) -> str:
    """Return the name of an archived record: its world, and its revision with those of parts."""
    numbers = episode.header.provenance.text.split(", ")
    return (
        "-".join([episode.header.model, *(one.rpartition(" ")[2] for one in numbers)]) + ".jsonl.gz"
    )


def archive(folder: Path, worlds: Iterable[str]) -> Iterator[Path]:
    """Add and yield the records of worlds whose present revision has none."""
    for world in worlds:
        golden = Episode.read(GOLDEN / f"{world}.jsonl").header
        model, policies = golden.build(), SMALLER.get(world, golden.policies)
        episode = play(model, policies, golden.seed)
        file = folder / record_name(episode)
        if not file.exists():
            episode.write(file)
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            with (folder / SUMS).open("a", encoding="utf-8") as sums:
                sums.write(f"{digest}  {file.name}\n")
            yield file


def main() -> None:
    """Write the table and add the records, or exit with what is to be done first."""
    now = present()
    if faults := unrevised(written(), now):
        sys.exit("\n".join(faults))
    lines = ("\t".join([*case, one.revision, one.digest]) for case, one in now.items())
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    ARCHIVE.mkdir(exist_ok=True)
    for file in archive(ARCHIVE, catalog.models()):
        print(f"added {file.name}, {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
