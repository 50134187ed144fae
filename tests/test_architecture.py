"""The house stands as drawn: who may import whom, what lies at the top, what is a package."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOP = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "desim",
    "models",
    "ledgers",
    "policies",
    "experiments",
    "tests",
}
ROOMS = ("desim", "ledgers", "models", "policies", "experiments")
#: Which of our rooms each room may import; `models/x` and heuristics of `x` are told apart below.
MAY = {
    "desim": {"desim"},
    "ledgers": {"ledgers"},
    "models": {"models", "desim", "ledgers"},
    "policies": {"policies", "desim", "models"},
    "experiments": set(ROOMS),
}


def files(room: str) -> list[Path]:
    """Every Python file of a room."""
    return sorted((ROOT / room).rglob("*.py"))


def imports(file: Path) -> Iterator[str]:
    """Every module a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""


def ours(file: Path) -> list[str]:
    """The imports of our own rooms."""
    return [name for name in imports(file) if name.split(".")[0] in ROOMS]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_whom_they_may_know(room: str) -> None:
    """`desim` and `ledgers` know nobody; models know both; policies know desim and their model."""
    strangers = [
        (str(file.relative_to(ROOT)), name)
        for file in files(room)
        for name in ours(file)
        if name.split(".")[0] not in MAY[room]
    ]
    assert strangers == []


def test_a_model_knows_no_other_model_and_no_policy() -> None:
    """What two models share belongs to desim or ledgers."""
    for file in files("models"):
        own = f"models.{file.relative_to(ROOT / 'models').parts[0]}"
        assert [n for n in ours(file) if n.startswith("models") and not n.startswith(own)] == []


def test_only_heuristics_know_a_model_and_only_their_own() -> None:
    """A generic policy plays every world, so it knows none."""
    for file in files("policies"):
        parts = file.relative_to(ROOT / "policies").parts
        own = f"models.{parts[1].removesuffix('.py')}" if parts[0] == "heuristics" else "nobody"
        assert [n for n in ours(file) if n.startswith("models") and not n.startswith(own)] == []


def test_nothing_but_heuristics_names_a_model() -> None:
    """A fifth world needs only its own folders: no other file mentions one by name."""
    names = [p.name for p in (ROOT / "models").iterdir() if p.is_dir() and p.name[0] not in "_."]
    generic = [*files("desim"), *files("ledgers"), *(ROOT / "policies").glob("*.py")]
    for file in generic:
        text = file.read_text(encoding="utf-8")
        assert [n for n in names if f"models.{n}" in text or f'"{n}"' in text] == [], file


@pytest.mark.parametrize(
    "folder", ["models", "ledgers", "policies", "policies/heuristics", "tests", "experiments"]
)
def test_open_folders_are_namespace_packages(folder: str) -> None:
    """A user's folder of the same name joins ours instead of hiding it."""
    assert not (ROOT / folder / "__init__.py").exists()


def test_the_top_level_holds_what_was_agreed() -> None:
    """Nothing else lies there, dot-files and caches apart."""
    found = {p.name for p in ROOT.iterdir() if not p.name.startswith(".")}
    assert found - {"__pycache__", "uv.lock"} - TOP == set()
    assert found >= TOP


@pytest.mark.parametrize("room", ROOMS)
def test_every_file_says_what_it_is_for(room: str) -> None:
    """A module without a docstring has no reason to exist."""
    silent = [f for f in files(room) if not ast.get_docstring(ast.parse(f.read_text("utf-8")))]
    assert silent == []
