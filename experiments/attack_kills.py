"""Does a sweep that is killed at any moment end with the same bytes as one that is not?

Processes of a sweep are killed (SIGKILL) in one of three ways, and the same command is given until
it ends. Then its files are compared with those of an undisturbed sweep, byte by byte.

    python experiments/attack_kills.py --kills 60
"""

import random
import sys
import tempfile
import time
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from subprocess import DEVNULL, Popen

import click
from attrs import define, field

SWEEP = ("beer_game", "--preset", "poisson", "--set", "horizon=1,2,3", "--seeds", "0:200")
WAYS = ("at a random moment", "while it writes rows", "one of two at once")


@define
class Killing:
    """Kills processes of sweeps, and counts.

    Attributes:
        folder: Where the sweeps are.
        chance: Draws ways, moments and numbers of workers.
        kills: By way.
        sweeps, bytes: Those that were killed and have ended; the size of their files.
        wrong: Bytes that differ from the undisturbed sweep's, and files that should not be there.
    """

    folder: Path
    chance: random.Random
    kills: Counter[str] = field(factory=Counter)
    sweeps: int = 0
    bytes: int = 0
    wrong: int = 0
    _seconds: float = 0.0

    def run(self, kills: int) -> "Killing":
        """Kill so many processes."""
        begun = time.monotonic()
        assert self._started(self.folder / "whole").wait() == 0
        self._seconds = time.monotonic() - begun
        while (left := kills - self.kills.total()) > 0:
            out = self.folder / f"sweep{self.sweeps}"
            for _ in range(self.chance.randint(1, min(left, 9))):
                self._kill(out, self.chance.choice(WAYS))
            assert self._started(out, None).wait() == 0, f"the sweep in {out} cannot be continued"
            self._compare(out)
            self.sweeps += 1
        return self

    def _kill(self, out: Path, way: str) -> None:
        """Kill a process of a sweep, unless it ends before."""
        process, *others = (self._started(out) for _ in range(1 + (way == WAYS[2])))
        end = time.monotonic() + self.chance.uniform(0, self._seconds)
        while process.poll() is None:
            writes = any(out.glob(f".rows.*.{process.pid}"))
            if writes if way == WAYS[1] else time.monotonic() > end:
                process.kill()
                process.wait()
                self.kills[way] += 1
            time.sleep(0.001)
        assert all(each.wait() in {0, 2} for each in others), "a sweep beside the killed one failed"

    def _started(self, out: Path, errors: int | None = DEVNULL) -> "Popen[bytes]":
        jobs = str(self.chance.randint(1, 2))
        desim = [sys.executable, "-m", "desim", "sweep", *SWEEP, "--out", str(out), "--jobs", jobs]
        return Popen(desim, stdout=DEVNULL, stderr=errors)  # noqa: S603 (our own command)

    def _compare(self, out: Path) -> None:
        for name in ("rows.csv", "rows.jsonl"):
            whole, again = ((each / name).read_bytes() for each in (self.folder / "whole", out))
            self.bytes += len(again)
            self.wrong += sum(a != b for a, b in zip_longest(whole, again)) if whole != again else 0
        self.wrong += sum(not file.name.startswith(("rows.", "sweep.")) for file in out.iterdir())


@click.command()
@click.option("--kills", default=60, show_default=True)
def main(kills: int) -> None:
    """Print the numbers of kills, bytes, sweeps and wrong sweeps."""
    with tempfile.TemporaryDirectory() as folder:
        killing = Killing(Path(folder), random.Random(11)).run(kills)  # noqa: S311 (moments)
    for way in WAYS:
        print(f"{killing.kills[way]:10,} killed {way}")
    print(f"{killing.bytes:10,} bytes in {killing.sweeps} sweeps, {killing.wrong:,} of them wrong")
    sys.exit(1 if killing.wrong else 0)


if __name__ == "__main__":
    main()
