"""Does a suite that is killed, edited, damaged, run twice at once or on a full disk stay honest?

Every attack ends with the command of the suite. It may fail with a sentence; a hole is a command
that succeeds with other results than an undisturbed one, that hangs, or that ends with a traceback.
A language model at a scripted endpoint plays beside a rule, so that money is attacked as well.

    python experiments/attack_suites.py --kills 20 --flips 40 --pairs 10 --disks 20
"""

import random
import resource
import shutil
import tempfile
import time
from pathlib import Path
from subprocess import Popen, TimeoutExpired

import click
from attrs import define, field

from experiments.attacks import DESIM, Tally, endpoint, print_tallies, started

RULE = """
from models.beer_game.actions import Order

class Mine:
    def decide(self, stage):
        return Order({quantity})
"""

SUITE = """
seeds = "0:{seeds}"
[worlds.game]
model = "beer_game/poisson"
set = {{ horizon = 8 }}
[entries.mine]
policy = "mine:Mine"
[entries.model]
model = "m"
base_url = "{url}"
price_in = 100
price_out = 100
"""

#: The files of a folder that are flipped, and the two versions of the rule.
FILES = (
    "suite.json",
    "suite.sqlite",
    "spent.jsonl",
    "status.json",
    "results.csv",
    "table.csv",
    "results.json",
    "records/game__mine__seed0__1.jsonl",
    "records/game__model__seed1__1.jsonl",
)
OLD, NEW = 4, 9

#: Seconds after which a command counts as hanging, and the codes with which one may end.
_PATIENCE, _CODES = 120.0, {0, 1, 2}

#: The columns of results.csv that kills change: the time of replies, and calls that lost theirs.
_VARIABLE = {"usage.seconds", "usage.calls"}


@define
class Attacks:
    """Attacks suites in a folder, and counts.

    Attributes:
        folder: Where the suites are.
        url: The endpoint.
        chance: Draws moments, bits and sizes.
        seeds: The number of seeds of each suite.
        tallies: The attacks and the holes of each kind.
    """

    folder: Path
    url: str
    chance: random.Random
    seeds: int = 20
    tallies: dict[str, Tally] = field(factory=dict)
    _seconds: float = 0.0
    _whole: dict[int, bytes] = field(factory=dict)

    def prepare(self) -> None:
        """Play each version of the rule undisturbed."""
        for version in (NEW, OLD):
            begun = time.monotonic()
            self.edit(version)
            out = self.folder / f"whole{version}"
            assert self.run(out)[0] == 0, "an undisturbed suite failed"
            self._whole[version] = _results(out)
            self._seconds = time.monotonic() - begun

    def kills(self, count: int) -> None:
        """Kill a command, edit the rule, and give the command again; then undo the edit."""
        for number in range(count):
            out = self.folder / f"kill{number}"
            process = self._started(out)
            time.sleep(self.chance.uniform(0.2, 1.0) * self._seconds)
            process.kill()
            process.communicate()
            self.edit(NEW)
            code, said = self.run(out)
            # A kill before the first episode leaves nothing that an edit could mix with.
            self._expect("kills with edits", code != 0 or _results(out) == self._whole[NEW], said)
            self.edit(OLD if code else NEW)
            version = OLD if code else NEW
            code, said = self.run(out)
            self._expect("kills", code == 0 and _results(out) == self._whole[version], said)
            self.edit(OLD)
            shutil.rmtree(out)

    def flips(self, count: int) -> None:
        """Flip a bit of each file of a finished suite; a record's is found by the check."""
        out = self.folder / "flips"
        assert self.run(out)[0] == 0
        whole = {name: (out / name).read_bytes() for name in FILES}
        before, said_before = _results(out), self.run(out)[1]
        for name in FILES:
            for _ in range(count):
                damaged = bytearray(whole[name])
                damaged[self.chance.randrange(len(damaged))] ^= 1 << self.chance.randrange(8)
                (out / name).write_bytes(damaged)
                found = self.run(out, check=name.startswith("records"))
                same = found[0] == 0 and _results(out) == before and found[1] == said_before
                refused = found[0] != 0 or "damaged" in found[1]
                kept = refused if name.startswith("records") else same or refused
                self._expect(f"flips in {name.partition('/')[0]}", kept, found[1])
                for each, content in whole.items():
                    (out / each).write_bytes(content)

    def pairs(self, count: int) -> None:
        """Start two commands at once; one is refused, or finds that all is played."""
        for number in range(count):
            out = self.folder / f"pair{number}"
            first, second = self._started(out), self._started(out)
            ends = [self._ended(process) for process in (first, second)]
            fine = {code for code, _ in ends} <= {0, 2} and 0 in {code for code, _ in ends}
            said = "; ".join(text for _, text in ends)
            self._expect("two at once", fine and _results(out) == self._whole[OLD], said)

    def disks(self, count: int) -> None:
        """Play where no file can grow beyond a size, then with enough room."""
        for number in range(count):
            out = self.folder / f"disk{number}"
            code, said = self.run(out, most=self.chance.randrange(500, 30_000))
            self._expect("full disk", "Traceback" not in said and code in _CODES, said)
            code, said = self.run(out)
            self._expect("full disk, then room", code == 0, said)
            self._expect("full disk, then room", _results(out) == self._whole[OLD], said)

    def edit(self, quantity: int) -> None:
        """Write a version of the rule, and the suite."""
        (self.folder / "mine.py").write_text(RULE.format(quantity=quantity))
        suite = SUITE.format(seeds=self.seeds, url=self.url)
        (self.folder / "suite.toml").write_text(suite)

    def run(self, out: Path, *, check: bool = False, most: int = 0) -> tuple[int, str]:
        """Run the command, or the check of its folder; return its code and its output."""
        return self._ended(self._started(out, check=check, most=most))

    def _started(self, out: Path, *, check: bool = False, most: int = 0) -> "Popen[str]":
        words = [str(out), "--check", "--trust"] if check else ["suite.toml", "--out", str(out)]
        command = (*DESIM, "bench", *words, *([] if check else ["--yes"]))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most or soft, hard))
        try:
            return started(*command, folder=self.folder)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    def _ended(self, process: "Popen[str]") -> tuple[int, str]:
        try:
            printed, errors = process.communicate(timeout=_PATIENCE)
        except TimeoutExpired:
            process.kill()
            return -1, "Traceback: it hangs"
        return process.returncode, printed + errors

    def _expect(self, kind: str, fine: bool, said: str) -> None:  # noqa: FBT001 (a condition)
        tally = self.tallies.setdefault(kind, Tally(kind))
        tally.ended["attacks"] += 1
        last = said.strip().splitlines()[-1] if said.strip() else "it said nothing"
        tally.expect(last, holds=fine and "Traceback" not in said)


def _results(out: Path) -> bytes:
    """Return the rows of results.csv without the columns that a kill may change."""
    path = out / "results.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()] if path.exists() else []
    dropped = {place for place, head in enumerate(rows[0]) if head in _VARIABLE} if rows else set()
    kept = ([cell for n, cell in enumerate(row) if n not in dropped] for row in rows)
    return "\n".join(",".join(row) for row in kept).encode()


@click.command()
@click.option("--kills", default=20, show_default=True, help="Commands that are killed.")
@click.option("--flips", default=40, show_default=True, help="Bits flipped in each file.")
@click.option("--pairs", default=10, show_default=True, help="Pairs of commands at once.")
@click.option("--disks", default=20, show_default=True, help="Full disks.")
def main(kills: int, flips: int, pairs: int, disks: int) -> None:
    """Print a line for each kind of attack; the exit code is 1 if there is a hole."""
    with tempfile.TemporaryDirectory() as folder, endpoint(8) as url:
        attacks = Attacks(Path(folder), url, random.Random(7))  # noqa: S311 (moments)
        attacks.prepare()
        attacks.kills(kills)
        attacks.flips(flips)
        attacks.pairs(pairs)
        attacks.disks(disks)
    print_tallies("attack", ["attacks"], attacks.tallies.values())


if __name__ == "__main__":
    main()
