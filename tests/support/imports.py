"""Which of our modules imports which, read from the source: nothing is imported.

Imports count wherever they are: at module level, under `TYPE_CHECKING` and inside functions.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from attrs import frozen
from support.paths import ROOT

ROOMS = ("desim", "ledgers", "models", "policies", "experiments")

#: The names of our models.
WORLDS = sorted(p.name for p in (ROOT / "models").iterdir() if (p / "__init__.py").exists())


@cache
def files(room: str) -> tuple[Path, ...]:
    """Return every Python file of a room."""
    return tuple(sorted((ROOT / room).rglob("*.py")))


def module_name(file: Path) -> str:
    """Return the name under which a file is imported; `__init__.py` has its package's name."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@frozen
class Source:
    """What a file says of itself.

    Attributes:
        docstring: Of the module; None if it has none.
        imports: Its import statements, wherever they are.
        classes: The names of its public classes.
        functions: The names of its functions, methods included, wherever they are.
    """

    docstring: str | None
    imports: tuple[ast.Import | ast.ImportFrom, ...]
    classes: tuple[str, ...]
    functions: frozenset[str]


@cache
def source(file: Path) -> Source:
    """Parse a file, once for all tests."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = [*ast.walk(tree)]
    classes = (n.name for n in tree.body if isinstance(n, ast.ClassDef))
    return Source(
        ast.get_docstring(tree),
        tuple(n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)),
        tuple(name for name in classes if not name.startswith("_")),
        frozenset(n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)),
    )


@cache
def _modules() -> Mapping[str, Path]:
    return {module_name(file): file for room in ROOMS for file in files(room)}


@cache
def imported(module: str) -> frozenset[str]:
    """Return which of our modules a module's import statements name.

    `from A import b` names the module `A.b` if there is one, and else `A`, which for a package is
    its `__init__.py`.
    """
    return frozenset(_named(_modules()[module]))


def _named(file: Path) -> Iterator[str]:
    for node in source(file).imports:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in _modules())
        else:
            package = node.module or ""
            for alias in node.names:
                inner = f"{package}.{alias.name}"
                yield from [name for name in (inner, package) if name in _modules()][:1]


@cache
def graph() -> Mapping[str, frozenset[str]]:
    """Return for each of our modules those that are executed when it is imported.

    These are the modules it names and the `__init__.py` of packages around them, except those
    around the module itself, which have started before it.
    """
    return {
        module: frozenset(
            needed
            for name in imported(module)
            for needed in (name, *_packages(name))
            if needed == name or not f"{module}.".startswith(f"{needed}.")
        )
        for module in _modules()
    }


def _packages(module: str) -> list[str]:
    """Return the packages around a module that have an `__init__.py`."""
    parts = module.split(".")
    around = (".".join(parts[:n]) for n in range(1, len(parts)))
    return [name for name in around if name in _modules()]


def reachable(module: str, within: str = "") -> frozenset[str]:
    """Return the modules that a module imports, at once or through others.

    Args:
        module: Where to start.
        within: Follow only imports of modules whose names start with this.
    """
    known: set[str] = set()
    left = [module]
    while left:
        new = {n for n in imported(left.pop()) if n.startswith(within)} - known
        known |= new
        left += new
    return frozenset(known)


def circle(edges: Mapping[str, frozenset[str]]) -> list[str]:
    """Return modules that import each other in a circle, the first one again at its end."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []
