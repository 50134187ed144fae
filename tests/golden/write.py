"""Writes `digests.tsv` and `revisions.tsv`: what every baseline of every world scores.

`digests.tsv` has a line an episode, separated by tabs: world and preset, policy, seed, score and
ledger digest. `revisions.tsv` has a line a baseline: preset, policy, revision of the world, and a
digest of its lines. After a change that is meant to change a world, raise `revision` in its
model.py and its README, renew its golden episode, say why in the commit, and run

    python tests/golden/write.py [MODEL[/PRESET]]...

which plays the worlds named, or all, and refuses lines that have changed at one revision.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from attrs import frozen

from desim import catalog, play
from desim.catalog.model_finder import everything
from desim.catalog.policy_spec import read_policies
from desim.core.model import FIRST_REVISION, own_revision, revision_of, revision_text

GOLDEN = Path(__file__).resolve().parent
DIGESTS, TABLE = GOLDEN / "digests.tsv", GOLDEN / "revisions.tsv"
SEEDS = range(5)
#: Hexadecimal digits of the digest of a baseline's lines.
DIGITS = 16


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


def line(world: str, spec: str, seed: int) -> str:
    """Play one episode and return its line."""
    episode = play(world, read_policies([spec]), seed)
    return f"{world}\t{spec}\t{seed}\t{episode.score!r}\t{episode.ledger_digest}"


def played(world: str) -> Iterator[str]:
    """Play every baseline of a world, named `model/preset`."""
    for spec in catalog.baselines(catalog.model(world)):
        for seed in SEEDS:
            yield line(world, spec, seed)


def on_file() -> list[str]:
    """Return the lines of `digests.tsv`."""
    return DIGESTS.read_text(encoding="utf-8").splitlines()


def present(lines: Iterable[str]) -> Table:
    """Return golden lines at the present revisions."""
    rows = (one.split("\t") for one in lines)
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
    rows = (one.split("\t") for one in TABLE.read_text(encoding="utf-8").splitlines())
    return {(preset, policy): GoldenLines(*rest) for preset, policy, *rest in rows}


def unrevised(before: Table, now: Table) -> list[str]:
    """Return for each world whose lines have changed at one revision what is to be done."""
    changed: dict[str, list[str]] = {}
    for (preset, policy), lines in now.items():
        known = before.get((preset, policy))
        if known and known.revision == lines.revision and known.digest != lines.digest:
            changed.setdefault(preset.partition("/")[0], []).append(f"{preset} {policy}")
    return [_advice(world, lines) for world, lines in changed.items()]


def _advice(world: str, lines: Sequence[str]) -> str:
    revision = own_revision(catalog.model_class(world)) or FIRST_REVISION
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return (
        f"the golden lines of {lines[0]}{more} are not those of revision {revision}: raise "
        f"{world}'s revision to {revision + 1} (models/{world}/model.py and README.md)"
    )


def write(lines: Sequence[str]) -> None:
    """Write both files, or exit with what is to be done first."""
    now = present(lines)
    if faults := unrevised(written(), now):
        sys.exit("\n".join(faults))
    table = ("\t".join([*case, one.revision, one.digest]) for case, one in now.items())
    DIGESTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    TABLE.write_text("\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    old, new = on_file(), everything(sys.argv[1:])
    kept = {name: [*each] for name, each in groupby(old, lambda one: one.partition("\t")[0])}
    write([one for name in everything() for one in (played(name) if name in new else kept[name])])
