"""The requests of a page in a browser tab: a game, the replay of a record, a policy over seeds.

The page's worker calls `answer` with the name of a request and its arguments as JSON.
"""

import contextlib
import inspect
import io
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import define
from click.testing import CliRunner

from desim import DesimError, PolicyFailed, UsageError, catalog, play
from desim.cli.main import main
from desim.core.model_protocols import Model
from desim.episodes.caller import CallerSession
from desim.episodes.lineup import policy_knows
from desim.records.record import PERSON
from desim.short_repr import short_repr
from models.beer_game import Stage

WORLD = "beer_game"

#: Bytes of a record as dropped, characters of a policy, and of what it prints.
LARGEST_RECORD, LONGEST_POLICY, LONGEST_PRINT = 8_000_000, 100_000, 2_000

#: Seeds of a policy's games, and the rule that plays them too.
SEEDS, TEXTBOOK = range(5), "base_stock,target=20"

#: The name of the policy's file in an error.
POLICY_FILE = "policy.py"

#: Endings of the names of records.
_RECORDS = (".jsonl", ".jsonl.gz")

_KNOWS = {"observation": "", "future": "reads the demand of the weeks to come"}


def answer(request: str, arguments: str) -> str:
    """Return the result of a request as JSON, or an object with the sentence of its error."""
    try:
        return json.dumps(REQUESTS[request](**json.loads(arguments)))
    except DesimError as fault:
        return json.dumps({"error": str(fault)})
    except ModuleNotFoundError as fault:
        return json.dumps({"error": lacking(fault)})


def lacking(fault: ModuleNotFoundError) -> str:
    """Return the sentence about a module that the page does not have."""
    return f"this needs {fault.name}, which this page was built without"


@define
class Game:
    """A person's game of one stage, recorded in a file.

    Attributes:
        preset: The preset of the Beer Game.
        role: The person's stage.
        seed: The seed of the demand.
        session: The episode.
        record: The file.
    """

    preset: str
    role: str
    seed: int
    session: CallerSession
    record: Path

    @classmethod
    def begin(cls, preset: str, role: str, seed: str) -> "Game":
        """Begin a game.

        Raises:
            UsageError: The preset, the stage or the seed is wrong.
        """
        model, number = catalog.model(f"{WORLD}/{preset}"), whole(seed, "a seed")
        record = Path(tempfile.mkdtemp()) / f"{WORLD}-{preset}-{number}.jsonl"
        session = CallerSession(model, number, seats={role: PERSON}, record=record)
        session.advance()
        return cls(preset, role, number, session, record)

    def order(self, units: str) -> None:
        """Order units, which ends the week.

        Raises:
            UsageError: The text is not a whole number of at least 0, or the game has ended.
            WrongAction: The number is too large.
        """
        if not self.session.open:
            raise UsageError("the game has ended; begin another one")
        action = {"do": "order", "quantity": whole(units, "an order")}
        self.session.answer(self.session.open[0], action)
        self.session.advance()

    def shown(self) -> dict[str, Any]:
        """Return what the page shows of the game."""
        model, state = self.session.model, self.session.run.state
        weeks = model.tables(state, self.role)["weeks"]
        ended = self.session.episode
        return {
            "preset": self.preset,
            "role": self.role,
            "seed": self.seed,
            "rules": model.rules_for(self.role),
            "horizon": model.horizon,
            "cost": -model.score(state),
            "weeks": weeks,
            "stage": None if ended else observed(self.session.open[0].observation),
            "end": ended and {"score": ended.score, "digest": ended.ledger_digest},
            "record": self.record.read_text("utf-8") if ended else "",
            "file": self.record.name,
        }

    def rules(self) -> dict[str, Any]:
        """Return the scores of the known rules in the same game, the best first."""
        model, lines, without = self.session.model, [], []
        for rule in stage_rules(model):
            try:
                score = play(model, {self.role: rule}, self.seed).score
                lines.append({"rule": rule, "score": score, "knows": known(rule, model)})
            except ModuleNotFoundError as fault:
                without.append(f"{rule}: {lacking(fault)}")
        return {"lines": sorted(lines, key=lambda line: -line["score"]), "without": without}


def observed(stage: Stage) -> dict[str, Any]:
    """Return the figures of an observation that the page shows."""
    flows = ("incoming_order", "incoming_delivery", "supply_line")
    return {name: getattr(stage, name) for name in ("week", "inventory", "backlog", *flows)}


def stage_rules(model: Model[Any]) -> Iterator[str]:
    """Yield the specs of the baselines, without the stage that some of them name."""
    for spec in catalog.baselines(model):
        role, _, rule = spec.partition("=")
        yield rule if role in model.roles else spec


def known(rule: str, model: Model[Any]) -> str:
    """Return in words what a rule knows besides its observations."""
    level = policy_knows(rule, model)
    return _KNOWS.get(level, f"knows the {level}")


def whole(text: str, what: str) -> int:
    """Return the whole number of a text.

    Raises:
        UsageError: It is not one, or it is below 0.
    """
    if not (text.strip().isdecimal() and len(text) <= 30):
        raise UsageError(f"{short_repr(text)} was given; {what} is a whole number of at least 0")
    return int(text)


#: The game that is played.
_played: list[Game] = []


def begin(preset: str, role: str, seed: str) -> dict[str, Any]:
    """Begin a game, which takes the place of the present one."""
    game = Game.begin(preset, role, seed)
    for before in _played:
        before.session.close()
    _played[:] = [game]
    return _played[0].shown()


def order(units: str) -> dict[str, Any]:
    """Order units in the game that is played."""
    game = _played[0]
    game.order(units)
    return game.shown()


def rules() -> dict[str, Any]:
    """Return the scores of the known rules in the game that is played."""
    return _played[0].rules()


def replay(name: str, file: str) -> dict[str, str]:
    """Run `desim replay` on a record and return its sentence.

    Args:
        name: The name of the dropped file.
        file: The file with its bytes, which is deleted.
    """
    dropped = Path(file)
    try:
        return _replayed(Path(name).name, dropped)
    finally:
        dropped.unlink()


def _replayed(name: str, dropped: Path) -> dict[str, str]:
    if not name.endswith(_RECORDS):
        raise UsageError(f"{name} was given; the name of a record ends in {' or '.join(_RECORDS)}")
    if (size := dropped.stat().st_size) > LARGEST_RECORD:
        raise UsageError(
            f"{name} has {size:,} bytes; a record of at most {LARGEST_RECORD:,} can be dropped"
        )
    with tempfile.TemporaryDirectory() as folder, _inside(folder):
        Path(name).write_bytes(dropped.read_bytes())
        done = CliRunner().invoke(main, ["replay", "--", name])
    if isinstance(done.exception, ModuleNotFoundError):
        raise done.exception
    said = done.output.strip() or str(done.exception)
    return {"said": said} if done.exit_code == 0 else {"error": said}


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    """Make a folder the current one; the command line may add it to the path of imports."""
    before, path = Path.cwd(), [*sys.path]
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path


def run_policy(text: str, preset: str) -> dict[str, Any]:
    """Play a policy and the textbook rule for the retailer on the same seeds.

    Raises:
        UsageError: The text is too long, has a syntax error, fails, or defines no policy; the
            error names the line.
        PolicyFailed: The policy fails in a game; the error names the line.
    """
    model = catalog.model(f"{WORLD}/{preset}")
    role, printed = model.default_roles[0], io.StringIO()
    with contextlib.redirect_stdout(printed):
        maker = policy_of(text)
        lines = []
        for seed in SEEDS:
            with _line_named(text):
                mine = play(model, {role: maker()}, seed)
            textbook = play(model, {role: TEXTBOOK}, seed)
            scores = {"seed": seed, "mine": mine.score, "textbook": textbook.score}
            lines.append({**scores, "digest": mine.ledger_digest})
    return {
        "name": maker.__name__,
        "textbook": TEXTBOOK,
        "lines": lines,
        "printed": printed.getvalue()[:LONGEST_PRINT],
    }


def policy_of(text: str) -> Callable[[], Any]:
    """Run a program and return the last class that it defines with `decide`.

    Raises:
        UsageError: See `run_policy`.
    """
    if len(text) > LONGEST_POLICY:
        raise UsageError(f"the policy has {len(text):,} characters; at most {LONGEST_POLICY:,}")
    module = ModuleType(Path(POLICY_FILE).stem)
    sys.modules[module.__name__] = module  # attrs looks the module up
    with _line_named(text):
        exec(compile(text, POLICY_FILE, "exec"), vars(module))  # noqa: S102 (the person's own)
    made = [one for one in vars(module).values() if inspect.isclass(one)]
    own = [one for one in made if one.__module__ == module.__name__ and hasattr(one, "decide")]
    if not own:
        raise UsageError("the program defines no class with a method `decide`")
    return own[-1]


@contextlib.contextmanager
def _line_named(text: str) -> Iterator[None]:
    """Raise every error of the person's program with the line of the program.

    Raises:
        UsageError: The program failed outside a game.
        PolicyFailed: It failed in a game.
    """
    try:
        yield
    except ModuleNotFoundError as fault:
        raise UsageError(f"{_place(fault, text)}{lacking(fault)}") from fault
    except DesimError as fault:
        raise PolicyFailed(f"{_place(fault.__cause__ or fault, text)}{fault}") from fault
    except (Exception, SystemExit) as fault:
        said = fault.msg if isinstance(fault, SyntaxError) else str(fault)
        raise UsageError(f"{_place(fault, text)}{type(fault).__name__}: {said}") from fault


def _place(fault: BaseException, text: str) -> str:
    """Return the line of the program in which an exception was raised; empty if in none."""
    numbers = [
        frame.lineno
        for frame in traceback.extract_tb(fault.__traceback__)
        if frame.filename == POLICY_FILE and frame.lineno
    ]
    if isinstance(fault, SyntaxError) and fault.lineno:
        numbers.append(fault.lineno)
    if not numbers:
        return ""
    lines = text.splitlines()
    code = lines[numbers[-1] - 1].strip() if numbers[-1] <= len(lines) else ""
    return f"line {numbers[-1]} ({code[:80]}): "


#: The requests of the page by name.
REQUESTS: dict[str, Callable[..., Any]] = {
    "begin": begin,
    "order": order,
    "rules": rules,
    "replay": replay,
    "run_policy": run_policy,
}
