"""Do processes that are killed, or that write one file at once, lose anything?

Sweeps are killed (SIGKILL) in one of three ways, and the same command is given until it ends. Then
its files are compared with those of an undisturbed sweep, byte by byte.

Pairs of the same command are started at once: on a record, on the memory of a method that learns,
and on the folder of a sweep. Each process must end as if it were alone, or be refused with the name
of the file. Afterwards the record must replay, the memory must hold every episode of those that
were not refused, and the rows must be those of a sweep that nothing disturbed.

    python experiments/attack_writers.py --kills 60 --rounds 10
"""

import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from subprocess import DEVNULL, Popen

import click
from attrs import define, field

from desim import replay
from desim.errors import DesimError
from experiments.attacks import DESIM, Tally, endpoint, print_tallies, started

_KILLED = ("beer_game", "--preset", "poisson", "--set", "horizon=1,2,3", "--seeds", "0:200")
WAYS = ("at a random moment", "while it writes rows", "one of two at once")

_EPISODES = 3
_SWEEP = ("sweep", "beer_game", "--set", "horizon=1,2,3", "--seeds", "0:60", "--jobs", "1")


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

    def _started(self, out: Path, errors: int | None = DEVNULL) -> "Popen[str]":
        jobs = str(self.chance.randint(1, 2))
        command = (*DESIM, "sweep", *_KILLED, "--out", str(out), "--jobs", jobs)
        return started(*command, stdout=DEVNULL, stderr=errors)

    def _compare(self, out: Path) -> None:
        for name in ("rows.csv", "rows.jsonl"):
            whole, again = ((each / name).read_bytes() for each in (self.folder / "whole", out))
            self.bytes += len(again)
            self.wrong += sum(a != b for a, b in zip_longest(whole, again)) if whole != again else 0
        self.wrong += sum(not file.name.startswith(("rows.", "sweep.")) for file in out.iterdir())


def _pair(tally: Tally, arguments: Sequence[str], file: Path) -> int:
    """Start a command twice at once; return how many of the two were not refused."""
    whole = 0
    for process in [started(*DESIM, *arguments) for _ in range(2)]:
        error = process.communicate()[1]
        refused = process.returncode == 2 and file.name in error and error.count("\n") == 1
        whole += process.returncode == 0
        tally.ended["whole" if process.returncode == 0 else "refused"] += 1
        ended = f"exit code {process.returncode}: {error[-300:]}"
        tally.expect(ended, holds=process.returncode == 0 or refused)
    tally.expect("both were refused", holds=bool(whole))
    return whole


def _records(tally: Tally, folder: Path) -> None:
    file = folder / "run.jsonl"
    policy = "rollout,base=typical"
    _pair(tally, ("run", "beer_game", "--policy", policy, "--record", str(file)), file)
    _replay(tally, file)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:5]))
    _pair(tally, ("resume", str(file)), file)
    _replay(tally, file)


def _replay(tally: Tally, file: Path) -> None:
    try:
        replay(file)
    except DesimError as fault:
        tally.expect(str(fault), holds=False)


def _memories(tally: Tally, folder: Path) -> None:
    file = folder / "memory.json"
    with endpoint(4, seconds=0.1) as address:  # so slow that both processes overlap
        policy = f"llm,model=m,base_url={address},method=reflexion,memory={file}"
        world = ("beer_game", "--set", "horizon=2", "--episodes", str(_EPISODES))
        whole = _pair(tally, ("run", *world, "--policy", policy), file)
    [role] = json.loads(file.read_bytes())["roles"].values()
    learned = f"{role['episodes']} of {_EPISODES * whole} episodes are on file"
    tally.expect(learned, holds=role["episodes"] == _EPISODES * whole)


def _sweeps(tally: Tally, folder: Path) -> None:
    alone, both = folder / "alone", folder / "both"
    undisturbed = started(*DESIM, *_SWEEP, "--out", str(alone))
    error = undisturbed.communicate()[1]
    tally.expect(f"the sweep alone failed: {error[-300:]}", holds=undisturbed.returncode == 0)
    _pair(tally, (*_SWEEP, "--out", str(both)), both)
    same = (both / "rows.jsonl").read_bytes() == (alone / "rows.jsonl").read_bytes()
    tally.expect("the rows are not those of an undisturbed sweep", holds=same)


#: The attacks by the kind of file that two processes write at once.
KINDS: dict[str, Callable[[Tally, Path], None]] = {
    "record": _records,
    "memory": _memories,
    "sweep folder": _sweeps,
}


def attacked(kind: str, rounds: int) -> Tally:
    """Start pairs of processes on files of a kind, and return the counts."""
    tally = Tally(kind)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            KINDS[kind](tally, Path(folder))
    return tally


@click.command()
@click.option("--kills", default=60, show_default=True, help="Processes that are killed.")
@click.option("--rounds", default=10, show_default=True, help="Pairs of each kind.")
def main(kills: int, rounds: int) -> None:
    """Print the numbers of kills, bytes and wrong bytes, and a table of the pairs."""
    with tempfile.TemporaryDirectory() as folder:
        killing = Killing(Path(folder), random.Random(11)).run(kills)  # noqa: S311 (moments)
    for way in WAYS:
        print(f"{killing.kills[way]:10,} killed {way}")
    print(f"{killing.bytes:10,} bytes in {killing.sweeps} sweeps, {killing.wrong:,} of them wrong")
    killed = Tally("killed sweeps", Counter(whole=killing.sweeps))
    killed.expect(f"{killing.wrong:,} bytes are wrong", holds=not killing.wrong)
    print_tallies("file", ["whole", "refused"], [killed, *(attacked(k, rounds) for k in KINDS)])


if __name__ == "__main__":
    main()
