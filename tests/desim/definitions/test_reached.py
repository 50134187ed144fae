"""The digest of reached definitions: edits that change it, and edits that do not."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desim.definitions.reached import Reached, reached
from desim.jobs.keep import fingerprint
from desim.jobs.run.play_job import play_on_lanes, play_to_json

#: A user's policy; `Own` reaches everything but what the last lines of files hold.
FILES = {
    "rule.py": '''"""A policy."""
from functools import cache

import sizes
from kit import helpers as tools
from kit.base import Base
from kit.marks import marked

TABLE = {"a": 1}
TABLE["b"] = 2
LIMIT: int = sizes.LIMIT + 1


@marked(times=2)
class Own(Base):
    """A rule."""

    weeks: int = 3

    def decide(self, spot, factor=sizes.FACTOR):
        """Return what to do."""
        # A comment.
        from kit.late import delay
        limit = LIMIT
        return tools.rule(spot, factor) + TABLE["a"] + delay() + limit + sum(
            weeks for weeks in range(3)
        )


@cache
def unused():
    return 1
''',
    "sizes.py": "FACTOR, LIMIT = 2, 8\nUNUSED = 3\n",
    "kit/__init__.py": "from kit.helpers import rule\n",
    "kit/base.py": "class Base:\n    def act(self): return 1\n",
    "kit/helpers.py": """from .deep import deeper


def rule(spot, factor):
    return deeper(spot)
""",
    "kit/deep.py": """try:
    from fast import deeper
except ImportError:
    def deeper(spot): return spot
""",
    "kit/late.py": "def delay(): return 1\n",
    "kit/marks.py": "def marked(times):\n    return lambda made: made\n",
}

#: Files by name, as they are changed; an empty text removes one.
Files = dict[str, str]


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Reached]]:
    """A function that changes files and returns what the class `rule.Own` reaches."""
    before = {*sys.modules}
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, FILES)

    def found(**changes: tuple[str, str]) -> Reached:
        for name, (old, new) in changes.items():
            file = tmp_path / f"{name.replace('__', '/')}.py"
            text = file.read_text()
            assert old in text
            file.write_text(text.replace(old, new))
        importlib.invalidate_caches()
        return reached([importlib.import_module("rule").Own])

    yield found
    for name in {*sys.modules} - before:
        if name.partition(".")[0] in {"rule", "sizes", "kit", "moved"}:
            del sys.modules[name]


def write(folder: Path, files: Files) -> None:
    """Write files into a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    "change",
    [
        {"rule": ("# A comment.", "# Another comment, of more words.")},
        {"rule": ('"""Return what to do."""', "")},
        {"rule": ('    """A rule."""', '    """Another rule."""')},
        {
            "rule": (
                "sum(\n            weeks for weeks in range(3)\n        )",
                "(sum(weeks for weeks in range(3)))",
            )
        },
        {"rule": ("import sizes\n", "import sys\nimport sizes\n")},
        {"rule": ("tools.rule", "tools . rule")},
        {"rule": ("class Own(Base):", "class Own(  # of two\n    Base,\n):")},
        {"rule": ("return 1", "return 2")},
        {"sizes": ("UNUSED = 3", "UNUSED = 4")},
        {"kit__helpers": ("def rule(spot, factor):", "def rule(\n    spot,\n    factor,\n):")},
        {"rule": ("from kit import helpers as tools", "import kit.helpers as tools")},
    ],
)
def test_what_changes_nothing(
    code: Callable[..., Reached], change: dict[str, tuple[str, str]]
) -> None:
    """Comments, docstrings, layout, import lines and definitions that are not reached."""
    before = code()
    assert code(**change) == before


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"rule": ("range(3)", "range(4)")}, "Own"),
        ({"rule": ("weeks: int = 3", "weeks: int = 4")}, "Own"),
        ({"rule": ("weeks: int = 3", "weeks: float = 3")}, "Own"),
        ({"rule": ("times=2", "times=3")}, "Own"),
        ({"rule": ("factor=sizes.FACTOR", "factor=3")}, "Own"),
        ({"rule": ('TABLE["b"] = 2', 'TABLE["b"] = 3')}, "TABLE"),
        ({"rule": ("LIMIT + 1", "LIMIT + 2")}, "LIMIT"),
        ({"sizes": ("2, 8", "3, 8")}, "FACTOR"),
        ({"kit__base": ("return 1", "return 2")}, "Base"),
        ({"kit__marks": ("made: made", "made: None")}, "marked"),
        ({"kit__helpers": ("deeper(spot)", "deeper(factor)")}, "rule"),
        ({"kit__deep": ("return spot", "return 2")}, "deeper"),
        ({"kit__late": ("return 1", "return 2")}, "delay"),
    ],
)
def test_what_is_another_digest(
    code: Callable[..., Reached], change: dict[str, tuple[str, str]], named: str
) -> None:
    """A rule, a field, a default, a decorator, a base, a constant, a helper, and its helper."""
    before, after = code(), code(**change)
    assert before.digest != after.digest
    changed = {n for n, text in after.definitions.items() if before.definitions[n] != text}
    assert named in changed


def test_a_definition_may_move(code: Callable[..., Reached], tmp_path: Path) -> None:
    """To another module, under another alias there, also from a package to a module."""
    before = code()
    write(tmp_path, {"moved.py": FILES["kit/helpers.py"].replace("from .deep", "from kit.deep")})
    (tmp_path / "kit" / "helpers.py").unlink()
    (tmp_path / "kit" / "__init__.py").write_text("")
    after = code(rule=("from kit import helpers as tools", "import moved"))
    assert after.digest != before.digest  # `tools` is not a name any more
    after = code(rule=("tools.rule", "moved.rule"))
    assert after == before


def test_a_definition_that_is_another_one_of_that_name_counts(
    code: Callable[..., Reached], tmp_path: Path
) -> None:
    """Two modules may define the same name; which one is used counts."""
    write(tmp_path, {"moved.py": "def rule(spot, factor):\n    return 5\n"})
    before = code()
    after = code(rule=("from kit import helpers as tools", "import moved as tools"))
    assert after.digest != before.digest
    assert after.definitions["rule"] != before.definitions["rule"]


def test_a_module_that_registers_counts(code: Callable[..., Reached], tmp_path: Path) -> None:
    """Calls at the top level of an imported module count, and definitions with decorators."""
    write(
        tmp_path,
        {
            "moved.py": "import kit.marks\n\n\n@kit.marks.marked(1)\ndef late(): return 1\n\n\n"
            "kit.marks.marked(2)\n"
        },
    )
    before = code()
    with_import = code(rule=("import sizes\n", "import moved\nimport sizes\n"))
    assert with_import.digest != before.digest
    assert code(moved=("return 1", "return 2")).digest != with_import.digest
    again = code()
    assert code(moved=("marked(2)", "marked(3)")).digest != again.digest


def test_files_beside_a_module_count(code: Callable[..., Reached], tmp_path: Path) -> None:
    """Those that it names, of a module that uses its own place."""
    (tmp_path / "sizes").mkdir()
    for name in ("sizes/a.csv", "other.csv", "b.csv"):
        (tmp_path / name).write_text("1")
    text = "from pathlib import Path\nHERE = Path(__file__).parent\n"
    (tmp_path / "sizes.py").write_text(f'{text}FACTOR = [HERE / "sizes", "b.csv"]\nLIMIT = 8\n')
    before = code()
    (tmp_path / "other.csv").write_text("2")
    assert code() == before
    for name in ("sizes/a.csv", "b.csv"):
        (tmp_path / name).write_text("2")
        after = code()
        assert after.digest != before.digest
        before = after


def test_names_that_are_found_in_other_ways_count(
    code: Callable[..., Reached], tmp_path: Path
) -> None:
    """By `import *`, and by all definitions of a module that is used as a value."""
    (tmp_path / "sizes.py").write_text("from moved import *\n")
    (tmp_path / "moved.py").write_text("FACTOR, LIMIT = 2, 8\n\n\ndef far(): return 1\n")
    before = code()
    assert code(moved=("return 1", "return 2")) == before
    assert (after := code(moved=("2, 8", "2, 9"))).digest != before.digest
    whole = code(rule=("limit = LIMIT", "limit = vars(sizes)"))
    assert whole.digest != after.digest


def test_only_the_names_of_a_function_are_its_own(
    code: Callable[..., Reached], tmp_path: Path
) -> None:
    """A local variable does not refer to the definition of the same name in its module."""
    write(
        tmp_path, {"kit/late.py": "def size(): return 1\n\n\ndef delay(size=1):\n    return size\n"}
    )
    before = code()
    assert code(kit__late=("return 1", "return 2")) == before
    after = code(kit__late=("return size", "return [size for size in (1,)] + [size]"))
    assert after.digest != before.digest
    assert code(kit__late=("return 2", "return 3")) == after
    used = code(kit__late=("size=1", "other=1"))
    assert code(kit__late=("return 3", "return 4")).digest != used.digest


def test_what_plays_a_row_is_found_by_its_name() -> None:
    """An executor imports the fingerprint, so the fingerprint names the functions in texts."""
    assert reached(fingerprint._PLAY) == reached([play_to_json, play_on_lanes])
