"""Does a record of a stranger import a module, hang a command, or break it?

Records name every module of desim and of the standard library, in each place in which a record can
name something: as model, as part of a model, as link, as policy and as policy inside another one.
Each is given to each command that reads records, without `--trust`. The current folder contains a
folder `models` of a stranger. An import of a named module, a command that takes too long, and an
error that is not one sentence of desim's own are holes.

    python experiments/attack_records.py
"""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from attrs import define, field, frozen
from click.testing import CliRunner

import desim
from desim import play
from desim.cli.main import main as command_line
from desim.records.seal import Seal
from experiments.attacks import Tally, print_tallies

_COMPOSITE = "desim.composition.composite:Composite"
_GAME = {"model": "beer_game"}


def _parts(part: Any, **others: Any) -> dict[str, Any]:
    return {"model": _COMPOSITE, "params": {"parts": {"a": part}, **others}}


def _inside(name: str) -> dict[str, Any]:
    return _parts({"model": _COMPOSITE, "params": {"parts": {"b": {"model": name}}}})


#: Places where a record names something: functions from a name to the replaced header fields.
PLACES: Mapping[str, Any] = {
    "model": lambda name: {"model": name},
    "model without a class": lambda name: {"model": name.partition(":")[0]},
    "part": lambda name: _parts({"model": name}),
    "part as text": _parts,
    "part with a preset": lambda name: _parts(f"{name}/default"),
    "part of a part": _inside,
    "link": lambda name: _parts(_GAME, links=[{"function": name}]),
    "link as text": lambda name: _parts(_GAME, links=name),
    "policy": lambda name: {"policies": {"retailer": name}},
    "policy in a policy": lambda name: {"policies": {"retailer": f"rollout,base={name}"}},
    "starts": lambda name: {"policies": {"retailer": name}, "starts": {"retailer": 1}},
}

#: The commands that read a record, and whether they take one that was cut.
COMMANDS: Mapping[tuple[str, ...], bool] = {
    ("resume", "RECORD"): True,
    ("branch", "RECORD", "--at", "1"): True,
    ("replay", "RECORD"): False,
    ("export", "RECORD", "--out", "exported"): False,
    ("report", "RECORD", "--out", "page.html", "--force"): False,
    ("regret", "RECORD", "--futures", "2"): False,
}

#: The commands that build the policies on record; the others play the game whatever these are.
_BUILD = ("resume", "branch")

#: Seconds of a command; one that reads standard input would take all of them.
_LONGEST = 60

#: The stranger's own model, and the file that it leaves when it is imported.
_LEFT = "imported"
_MODEL = f"import pathlib; pathlib.Path({_LEFT!r}).touch()\n"


def module_names() -> list[str]:
    """Return every module of desim and of the standard library; without importing them."""
    home = Path(desim.__file__).parent
    files = (file.relative_to(home.parent).with_suffix("") for file in home.rglob("*.py"))
    ours = {".".join(file.parts).removesuffix(".__init__") for file in files}
    return sorted(ours | {*sys.stdlib_module_names})


@frozen
class _Forger:
    """Writes records with another header than that of the episode.

    Attributes:
        header: The header of an honest record.
        steps: Its decisions.
        end: Its last line without a digest.
    """

    header: dict[str, Any]
    steps: list[bytes]
    end: bytes

    @classmethod
    def of(cls, file: Path) -> "_Forger":
        play("beer_game", "typical", record=file)
        first, *steps, last = file.read_bytes().splitlines(keepends=True)
        return cls(json.loads(first), steps, last.partition(b',"record_digest"')[0] + b"}")

    def write(self, file: Path, changes: Mapping[str, Any], *, cut: bool) -> None:
        """Write a record whose digest fits; without a last line if *cut*."""
        header = json.dumps(self.header | changes, separators=(",", ":")).encode() + b"\n"
        lines = [header, *self.steps[: 2 if cut else None]]
        if not cut:
            seal = Seal()
            for line in lines:
                seal.add(line)
            lines.append(seal.sealed(self.end) + b"\n")
        file.write_bytes(b"".join(lines))


@define
class Attack:
    """Gives records to commands, and counts; in the current folder, which it fills.

    Attributes:
        tallies: Exit codes of the commands, and outcomes that must not happen, by place.
    """

    tallies: dict[str, Tally] = field(factory=dict)
    _forger: _Forger = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._forger = _Forger.of(Path("honest.jsonl"))
        mine = Path("models", "mine")
        mine.mkdir(parents=True)
        (mine / "__init__.py").write_text(_MODEL)
        # Modules that every record makes a command import are imported before the first count.
        for place in PLACES:
            self._give("json:loads", place)
        self._give("beer_game", "model")
        self.tallies = {place: Tally(place) for place in PLACES}

    def run(self, names: list[str]) -> "Attack":
        """Give a record for each module in each place to each command."""
        for name in names:
            for place in PLACES:
                self._give(f"{name}:main", place)
        for place in ("model", "part", "part as text", "part of a part"):
            self._give("mine", place)
        imported = "the stranger's folder of models was imported"
        self.tallies["model"].expect(imported, holds=not Path(_LEFT).exists())
        return self

    def _give(self, name: str, place: str) -> None:
        changes = PLACES[place](name)
        for command, cut in COMMANDS.items():
            if "policies" in changes and command[0] not in _BUILD:
                continue
            file = Path("record.jsonl")
            self._forger.write(file, changes, cut=cut)
            before = {*sys.modules}
            code, error = _ended([str(file) if part == "RECORD" else part for part in command])
            tally = self.tallies.setdefault(place, Tally(place))
            tally.ended[f"exit {code}"] += 1
            for why in _faults(name, code, error, before):
                tally.expect(f"{command[0]} of a record with {name}: {why}", holds=False)
            for made in _made():
                made.unlink()


def _made() -> Iterator[Path]:
    yield from Path("exported").glob("*")
    yield from Path().glob("record*")
    yield from Path().glob("page.html")


def _faults(name: str, code: int, error: str, before: set[str]) -> Iterator[str]:
    module = name.partition(":")[0]
    if module in sys.modules and module not in before:
        yield f"{module} was imported"
    if code not in (0, 1, 2):
        yield f"exit code {code}"
    if code and (error.count("\n") != 1 or not error.startswith("desim: ")):
        yield f"no sentence: {error[-200:]!r}"
    if "desim --debug" in error:
        yield f"an error that is not desim's own: {error[-200:]!r}"


def _ended(arguments: list[str]) -> tuple[int, str]:
    """Run a command; return its exit code and its standard error."""
    signal.alarm(_LONGEST)
    try:
        done = CliRunner().invoke(command_line, arguments)
    finally:
        signal.alarm(0)
    return done.exit_code, done.stderr


def _too_long(*_: object) -> None:
    raise TimeoutError("a command takes too long")


@click.command()
@click.option("--every", default=1, show_default=True, help="Try every Nth module alone.")
def main(every: int) -> None:
    """Give records of a stranger to every command, and print a table."""
    signal.signal(signal.SIGALRM, _too_long)
    dangerous = ["desim.sandbox.child.__main__", "desim.__main__", "antigravity", "this"]
    names = dict.fromkeys([*dangerous, *module_names()[::every]])
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()  # noqa: PTH109 (given back below)
        os.chdir(folder)
        try:
            attack = Attack().run([*names])
        finally:
            os.chdir(before)
    click.echo(f"{len(names)} modules")
    print_tallies("place", ["exit 0", "exit 1", "exit 2"], attack.tallies.values())


if __name__ == "__main__":
    main()
