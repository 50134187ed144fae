"""Which calls refuse a notebook's class, keep rows of edited data, or give the world's seed away?

Every call that takes a class is made by a notebook, a program on standard input, a script and the
command line, in this process and in workers. Data files that policies open are edited between two
equal commands. A rule looks for the world's seed in everything that its seat holds.

    python experiments/attack_sweeps.py --seeds 50
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from subprocess import PIPE, CompletedProcess
from typing import Any, ClassVar, Self

import click
from attrs import frozen

from desim import Seat, catalog, play
from desim.composition import Composite
from desim.core.model_protocols import Model
from desim.core.roles import Knowledge
from desim.episodes.lineup import resolve
from experiments.attacks import DESIM, ROOT, started
from experiments.class_calls import CALLS

PROGRAM = Path(__file__).with_name("class_calls.py")

#: Arguments of Python that run a program which defines a class.
FORMS = {
    "notebook": ("-c", f"exec(open({str(PROGRAM)!r}).read())"),
    "standard input": ("-",),
    "script": (str(PROGRAM),),
}

_CLASS = "experiments.class_calls:Cover"
_GAME = ("beer_game/poisson", "--set", "horizon=6")
_SWEEP = (*("sweep", *_GAME, "--policy", _CLASS, "--set", "policy.weeks=3,4"), "--jobs", "2")
_RECORD = ("run", *_GAME, "--policy", _CLASS, "--record", "record.jsonl")

#: Commands by what they do, each after those before it.
COMMANDS: dict[str, Sequence[str]] = {
    "run": _RECORD,
    "sweep": (*_SWEEP, "--seeds", "0:3"),
    "sweep, design": (*_SWEEP, "--seeds", "0:3", "--design", "factorial"),
    "sweep, until": (*_SWEEP, "--until", "99"),
    "sweep, select": (*_SWEEP, "--select", "best", "--delta", "9", "--seeds", "3:63"),
    "regret": ("regret", "record.jsonl", "--then", _CLASS, "--futures", "2", "--jobs", "2"),
    "branch": ("branch", "record.jsonl", "--at", "2", "--policy", _CLASS),
}

#: When a policy reads its data.
READINGS = ("Imported", "Built", "Cached", "Reads")

_POLICIES = """
import pathlib
from functools import cache
from models.beer_game import Order

def read(): return int(pathlib.Path("data.txt").read_text())
once = cache(read)
AT_IMPORT = read()

class Imported:
    def decide(self, stage): return Order(AT_IMPORT)
class Built:
    def __init__(self): self.units = read()
    def decide(self, stage): return Order(self.units)
class Cached:
    def decide(self, stage): return Order(once())
class Reads:
    def decide(self, stage): return Order(read())
"""


@frozen
class Finding:
    """One attack.

    Attributes:
        kind: The kind of the attacked thing.
        name: The name of the attack.
        hole: The error; empty without one.
    """

    kind: str
    name: str
    hole: str


# -- classes ---------------------------------------------------------------------------------------


def class_findings(forms: Sequence[str], calls: Sequence[str]) -> Iterator[Finding]:
    """Make calls with a class of programs of some forms."""
    for form in forms:
        given = PROGRAM.read_text(encoding="utf-8") if form == "standard input" else None
        done = _python(*FORMS[form], *calls, given=given)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        found = {line["call"]: line["fault"] for line in lines}
        for call in calls:
            yield Finding(f"class, {form}", call, found.get(call, "no answer: " + _last(done)))


def command_findings(commands: Sequence[str]) -> Iterator[Finding]:
    """Give a module's class to commands."""
    with tempfile.TemporaryDirectory() as folder:
        for name in commands:
            done = _python(*DESIM, *COMMANDS[name], folder=folder)
            yield Finding("class, shell", name, "" if done.returncode == 0 else _last(done))


# -- data files ------------------------------------------------------------------------------------


def data_findings(readings: Sequence[str], jobs: Sequence[int]) -> Iterator[Finding]:
    """Repeat a sweep with equal and with edited data."""
    for reading in readings:
        for count in jobs:
            with tempfile.TemporaryDirectory() as folder:
                name = f"read when {reading.lower()}, {count} jobs"
                yield Finding("data", name, _data_hole(Path(folder), reading, count))


def _data_hole(folder: Path, reading: str, jobs: int) -> str:
    (folder / "mine.py").write_text(_POLICIES, encoding="utf-8")
    data, rows = folder / "data.txt", folder / "out" / "rows.csv"
    data.write_text("4")
    given = ("sweep", *_GAME, "--policy", f"mine:{reading}", "--seeds", "0:9", "--out", "out")
    command = (*DESIM, *given, "--jobs", str(jobs))
    first, again = (_python(*command, folder=folder) for _ in range(2))
    if first.returncode or again.returncode:
        return f"equal data are refused: {_last(again)}"
    kept = rows.read_bytes()
    data.write_text("9")
    edited = _python(*command, folder=folder)
    if edited.returncode != 2 or "data.txt has changed" not in edited.stderr:
        return "rows of edited data are kept as if nothing had changed"
    return "" if rows.read_bytes() == kept else "rows have changed"


# -- seeds -----------------------------------------------------------------------------------------


@frozen
class Rebuilds:
    """Builds the world of each number that its seat shows, and orders the demand of the last one.

    Attributes:
        policy: Knows the demand of that world.
    """

    knows: ClassVar[Knowledge] = "rules"

    policy: Any

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Take the policy of a world that a number of the seat begins."""
        shown = (getattr(seat, name) for name in dir(seat) if not name.startswith("_"))
        numbers = [one for one in shown if type(one) is int]
        return cls(resolve(seat.model, {seat.role: "foresight"}, numbers[-1]).policies[seat.role])

    def decide(self, observation: Any) -> Any:
        """Order that demand."""
        return self.policy.decide(observation)


def seed_findings(seeds: range) -> Iterator[Finding]:
    """Seat a rule that builds its world again in worlds with random demand."""
    alone = catalog.model("beer_game", "poisson")
    worlds: dict[str, tuple[Model[Any], str]] = {
        "a world": (alone, "retailer"),
        "a part": (Composite({"plant": alone}), "plant.retailer"),
    }
    for name, (model, role) in worlds.items():
        pairs = ([_ends(model, role, one, s) for one in (Rebuilds, "foresight")] for s in seeds)
        found = sum(mine == knowing for mine, knowing in pairs)
        hole = f"{found} of {len(seeds)} worlds were built again" if found else ""
        yield Finding("seed", f"{name}, {len(seeds)} seeds", hole)


def _ends(model: Model[Any], role: str, policy: Any, seed: int) -> str:
    return play(model, {role: policy}, seed).ledger_digest


# -- all -------------------------------------------------------------------------------------------


def _python(
    *arguments: str, folder: str | Path = ROOT, given: str | None = None
) -> "CompletedProcess[str]":
    process = started(*arguments, folder=folder, stdin=PIPE)
    printed, errors = process.communicate(given)
    return CompletedProcess(arguments, process.returncode, printed, errors)


def _last(done: "CompletedProcess[str]") -> str:
    return (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]


@click.command()
@click.option("--seeds", default=50, show_default=True, help="Worlds that a rule is seated at.")
def main(seeds: int) -> None:
    """Print the attacks, and end with 1 if one found a hole."""
    holes = 0
    for one in chain(
        seed_findings(range(1_000, 1_000 + seeds)),
        data_findings(READINGS, (1, 2)),
        command_findings([*COMMANDS]),
        class_findings([*FORMS], [*CALLS]),
    ):
        holes += bool(one.hole)
        print(f"{one.kind:22}  {one.name:28}  {one.hole or 'holds'}", flush=True)
    print(f"{holes} holes")
    sys.exit(1 if holes else 0)


if __name__ == "__main__":
    main()
