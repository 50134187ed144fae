"""How large is the code, how is it spread over rooms, and how many files does one event touch?"""

import ast
import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from attrs import frozen

from desim import Run, Seat, play, sweep
from models.beer_game import BeerGame
from models.yc_bench import YCBench
from policies.llm.adapter import Llm
from policies.llm.chat.conversation import conversation_kind
from policies.llm.wires.budget import CallLimits, Metered
from policies.llm.wires.completion import Completion

ROOT = Path(__file__).resolve().parent.parent
#: The folders that count, beside `experiments`, which counts in lines and files only.
PACKAGES = ("desim", "models", "ledgers", "policies")
#: A longer function is counted as long.
LONG = 40
#: The counts by room that `tests/test_house.py` compares.
GOLDEN = ROOT / "tests" / "golden" / "house.tsv"


@frozen
class Size:
    """The size of some files.

    Attributes:
        files: Files.
        lines: Lines of any kind.
        code: Lines that are neither empty nor a comment, nor part of a docstring.
        functions: Functions and methods.
        long: Functions of more than `LONG` lines, docstring apart.
    """

    files: int
    lines: int
    code: int
    functions: int
    long: int


def modules(*folders: str) -> list[Path]:
    """Return the Python files below some folders, sorted by path."""
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def room(file: Path) -> str:
    """Return the room of a file: `desim/jobs`, `models/edt`, `policies/llm`, `ledgers`."""
    parts = file.relative_to(ROOT).parts[:-1]
    return "/".join(parts[:1] if parts[0] == "ledgers" else parts[:2])


def docstring_lines(node: ast.AST) -> set[int]:
    """Return the lines of the docstring of a module, class or function."""
    body = getattr(node, "body", None)
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    if not body or ast.get_docstring(node, clean=False) is None:
        return set()
    return set(range(body[0].lineno, body[0].end_lineno + 1))


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that hold code."""
    nodes = [*ast.walk(tree)]
    prose = set().union(*(docstring_lines(node) for node in nodes))
    texts = set().union(*(text_lines(node) for node in nodes))
    lines = ((number, line.lstrip()) for number, line in enumerate(text.splitlines(), 1))
    written = {number for number, line in lines if line and not line.startswith("#")}
    return (written | texts) - prose


def text_lines(node: ast.AST) -> set[int]:
    """Return the lines of a text, of which some may be empty or begin as a comment does."""
    if isinstance(node, ast.JoinedStr | ast.Constant) and node.end_lineno != node.lineno:
        assert node.end_lineno is not None
        return set(range(node.lineno, node.end_lineno + 1))
    return set()


def functions(tree: ast.Module) -> Iterator[int]:
    """Yield the length of each function in lines, without its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.end_lineno - node.lineno + 1 - len(docstring_lines(node))


def size(files: list[Path]) -> Size:
    """Return the size of some files."""
    lines = code = count = long = 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        lengths = list(functions(tree))
        lines += len(text.splitlines())
        code += len(code_lines(text, tree))
        count += len(lengths)
        long += sum(length > LONG for length in lengths)
    return Size(len(files), lines, code, count, long)


@cache
def sizes() -> dict[str, Size]:
    """Return the size of each room, by its name."""
    rooms = defaultdict(list)
    for file in modules(*PACKAGES, "experiments"):
        rooms[room(file)].append(file)
    return {name: size(rooms[name]) for name in sorted(rooms)}


def crowded(most: int = 15) -> dict[str, int]:
    """Return the folders that hold more than *most* modules, `__init__.py` apart."""
    held = Counter(f.parent for f in modules(*PACKAGES) if f.name != "__init__.py")
    return {str(d.relative_to(ROOT)): n for d, n in sorted(held.items()) if n > most}


def names_twice(folder: str = "desim") -> tuple[dict[str, int], dict[str, int]]:
    """Return the names of classes and of modules that occur more than once in a folder."""
    files = modules(folder)
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in files)
    classes = Counter(n.name for tree in trees for n in tree.body if isinstance(n, ast.ClassDef))
    stems = Counter(file.stem for file in files if not file.stem.startswith("__"))
    return _repeated(classes), _repeated(stems)


def _repeated(counts: Counter[str]) -> dict[str, int]:
    return {name: n for name, n in sorted(counts.items()) if n > 1}


def users() -> Counter[str]:
    """Return how many modules import each module of the packages, by its name."""
    names = {_dotted(file) for file in modules(*PACKAGES)}
    found: Counter[str] = Counter(dict.fromkeys(names, 0))
    for file in modules(*PACKAGES, "experiments"):
        used = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                used |= (full & names) or ({node.module} & names)
        found.update(used - {_dotted(file)})
    return found


def _dotted(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


# -- walks -----------------------------------------------------------------------------------------


def file_changes(act: Callable[[], Any]) -> int:
    """Return how often control passes from one file of the packages to another during a call."""
    files: list[str] = []
    below = tuple(str(ROOT / package) for package in PACKAGES)

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(below):
            files.append(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return sum(one != two for one, two in itertools.pairwise(files))


def recorded_week() -> float:
    """Return the file changes of a recorded week of the Beer Game, as a mean over 40 weeks."""
    numbers = itertools.count()

    def changes(horizon: int, folder: str) -> int:
        model = BeerGame.preset("poisson", horizon=horizon)
        record = Path(folder) / f"{next(numbers)}.jsonl"
        return file_changes(lambda: play(model, "order_up_to", 0, record=record))

    with TemporaryDirectory() as folder:
        changes(12, folder)  # imports and caches
        return (changes(52, folder) - changes(12, folder)) / 40


def adapter_steps() -> dict[str, float]:
    """Return the file changes of a step through bare `Run` and each installed adapter.

    They are a mean over an episode of each world of `adapter_games`, its begin and end included.
    Adapters whose client runs in the same process are left out.
    """
    from adapter_games import GAMES, Game
    from adapter_players import PLAYERS, bare

    found = {}
    for game in (Game.of(*described) for described in GAMES):
        players = {name: one.start for name, one in PLAYERS.items() if one.installed}
        for name, start in {"bare Run": bare, **players}.items():
            if not name.endswith(_WITH_CLIENT):
                work = start(game)
                work()  # imports and caches
                found[f"{game.model} by {name}"] = file_changes(work) / len(game.answers)
    return found


#: The ends of the names of players whose counts hold those of a client.
_WITH_CLIENT = ("in memory", "mock model", "loopback")


def llm_reply() -> float:
    """Return the file changes of a decision of `llm` in the Beer Game, as a mean over 40 replies.

    The reply is a scripted one, so that no request is sent.
    """
    model, role = BeerGame.preset("poisson", horizon=52), "retailer"
    message = {"content": '{"order_qty": 4}'}
    reply = Completion({}, {"message": message, "finish_reason": "stop"}, message).reply([], 0, str)
    metered = Metered(lambda *_, **__: reply, CallLimits())
    seat, kind = Seat(model, role, model.roles[role], 0), conversation_kind(BeerGame)
    options = kind.options(model="scripted", mode="json")
    llm = Llm(seat.spec, kind.begin(seat, options), metered, metered, 0)
    run = Run(model, 0, [role])
    changes = []
    while decisions := run.advance():
        observation = decisions[0].observation
        changes.append(file_changes(partial(llm.decide, observation)))
        run.answer(decisions[0], llm.decide(observation))
    return fmean(changes[12:])


def sweep_row() -> float:
    """Return the file changes of a row of a sweep beyond those of its episode."""
    model = BeerGame.preset("poisson", horizon=12)

    def changes(seeds: int) -> int:
        return file_changes(lambda: sweep(model, "order_up_to", range(seeds), digests=True))

    changes(10)  # imports and caches
    episodes = sum(
        file_changes(partial(play, model, "order_up_to", seed)) for seed in range(10, 20)
    )
    return (changes(20) - changes(10) - episodes) / 10


def payday() -> float:
    """Return the file changes of a resume of YC-Bench that ends with a payday, as a mean.

    In the episode nothing but a payroll lowers the funds.
    """
    model, changes = YCBench.preset("direct"), []
    run = Run(model, 0, ["founder"])
    decisions = run.advance()
    for step in play(model, "greedy", 0).steps:
        funds = decisions[0].observation.funds_cents
        run.answer(decisions[0], step.action)
        decisions = []
        count = file_changes(lambda: decisions.extend(run.advance()))  # noqa: B023 (called at once)
        if decisions and decisions[0].observation.funds_cents < funds:
            changes.append(count)
    return fmean(changes)


def golden() -> str:
    """Return files and lines of code by room, as the golden file holds them."""
    lines = (f"{name}\t{held.files}\t{held.code}" for name, held in sizes().items())
    return "\n".join(["room\tfiles\tlines of code", *lines, ""])


def main() -> None:
    """Print the counts; with `--write` change the golden file."""
    if "--write" in sys.argv[1:]:
        GOLDEN.write_text(golden(), encoding="utf-8")
    total = size(modules(*PACKAGES, "experiments"))
    print(f"{'room':24}{'files':>7}{'lines':>8}{'code':>8}{'functions':>11}{'> 40 lines':>12}")
    for name, held in {**sizes(), "all": total}.items():
        counts = f"{held.files:7}{held.lines:8,}{held.code:8,}{held.functions:11,}{held.long:12}"
        print(f"{name:24}{counts}")
    classes, stems = names_twice()
    print(f"modules with one user: {sum(n == 1 for n in users().values())}")
    print(f"names twice in desim: {len(classes)} classes, {len(stems)} modules")
    print(f"folders of more than 15 modules: {crowded() or 'none'}")
    print("file changes in")
    walks = {
        "a recorded week of the Beer Game": recorded_week(),
        "a reply of a language model": llm_reply(),
        "a row of a sweep, its episode apart": sweep_row(),
        "a payday of YC-Bench": payday(),
        **{f"a step of {name}": changes for name, changes in adapter_steps().items()},
    }
    for what, changes in walks.items():
        print(f"  {what:60}{changes:7.1f}")


if __name__ == "__main__":
    main()
