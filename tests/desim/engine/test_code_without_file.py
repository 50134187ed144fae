"""Classes and functions without a file count by what they do: a notebook's and local ones."""

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen
from support.paths import PYTHONPATH
from support.small_worlds import Go, Spot, Stride, Walk

from desim import Policy, sweep
from desim.engine.fingerprint import code_topics, digest_without_file
from desim.engine.grid import grid
from desim.errors import UsageError

SIZE = {"plus": 1}


def digest(made: object) -> str:
    """Return the digest of the class or function itself."""
    return digest_without_file(made, [])


def rule(size: int) -> Callable[[Spot], Go]:
    """A function that depends on the value around it."""
    return lambda _spot: Go(size)


def owner(default: int, help_text: str = "", step: Any = 1) -> type:
    """A class with a field, a method, a helper and members of all kinds."""

    def helper() -> Any:
        return step

    @frozen
    class Own(Policy):
        size: int = field(default=default, metadata={"help": help_text})

        def decide(self, _spot: Spot) -> Go:
            return Go(self.size * helper() + SIZE["plus"] + self.more + self.cached)

        @property
        def more(self) -> int:
            return self.made(3)

        @staticmethod
        def made(number: int) -> int:
            return number

        @functools.cached_property
        def cached(self) -> int:
            return 2

        @functools.cache  # noqa: B019 (a member that pickle knows by name alone)
        def kept(self) -> int:
            return 3

    return Own


def test_a_function_counts_with_what_it_encloses() -> None:
    """With the same values it is the same function."""
    assert digest(rule(3)) == digest(rule(3)) != digest(rule(4))


def test_a_class_counts_with_its_members_and_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Defaults, metadata, helpers and globals, however deep inside."""
    before = digest(owner(2))
    assert digest(owner(2)) == before
    others = [owner(3), owner(2, "size"), owner(2, step=2), owner(2, step={"a": {1, 2}})]
    assert len({before, *map(digest, others)}) == 5
    monkeypatch.setitem(SIZE, "plus", 9)
    assert digest(owner(2)) != before


def test_what_has_a_file_counts_by_it() -> None:
    """Also where a local class uses it; what belongs to Python and packages does not."""

    class Local(Stride):
        """A local class of a file's class."""

    topics = code_topics(grid(Walk, Local, [0]).cells[0].parts)
    assert "the code of support.small_worlds" in topics
    assert [one for one in topics if ":" in one] == [
        f"the code of {__name__}:test_what_has_a_file_counts_by_it.<locals>.Local"
    ]


def test_a_local_import_is_met() -> None:
    """By the name of the module, which counts by its file."""

    def late(_spot: Spot) -> Go:
        from support.small_worlds import Stride as Other

        return Other().decide(_spot)

    met: list[str] = []
    digest_without_file(late, met)
    assert "support.small_worlds" in met


def test_what_cannot_be_pickled_counts_by_its_class() -> None:
    """A lock has no value that two processes could compare."""

    def made(lock: Any) -> Callable[[Spot], Go]:
        def careful(_spot: Spot) -> Go:
            with lock:
                return Go(1)

        return careful

    assert digest(made(threading.Lock())) == digest(made(threading.Lock()))
    assert digest(made(threading.Lock())) != digest(made(threading.RLock()))


def test_what_refers_to_itself_is_compared() -> None:
    """A function that calls itself, and a value that is deep."""

    def falls(count: int) -> int:
        return falls(count - 1) if count else 0

    assert digest(falls) == digest(falls)
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert digest(rule(deep)) != digest(rule(deep[0]))  # type: ignore[arg-type] # as a user may


def test_rows_of_another_closure_are_not_taken(tmp_path: Path) -> None:
    """Both policies have the same label, and the same file."""

    def named(size: int) -> Callable[[Spot], Go]:
        def rule(_spot: Spot) -> Go:
            return Go(size)

        return rule

    rows = sweep(Walk, named(2), range(3), out=tmp_path)
    assert sweep(Walk, named(2), range(3), out=tmp_path) == rows
    text = r"rows of other code or data \(changed: the code of .*named\.<locals>\.rule\)"
    with pytest.raises(UsageError, match=text):
        sweep(Walk, named(3), range(3), out=tmp_path)


#: A notebook; `{}` is the size of a step. Some members have another order or hash in each process.
NOTEBOOK = """
import enum
from attrs import frozen
from desim import Policy
from helper import factor
import desim
from support.small_worlds import Go, Walk
# {}
class Kind(enum.Enum):
    A = 1
KNOWN = {{"a", "b", ("c", "d")}}
SIZE = {}
@frozen
class Own(Policy):
    kind: Kind = Kind.A
    def decide(self, spot): return Go(factor() * SIZE if spot not in {{"e", "f"}} else len(KNOWN))
print(len(desim.sweep(Walk, Own, range(3), out="out")))
"""


@pytest.mark.slow
def test_a_notebook_continues_its_sweep_in_another_process(tmp_path: Path) -> None:
    """If nothing but comments has changed in it, and nothing in the files that it uses."""
    (tmp_path / "helper.py").write_text("def factor(): return 1\n")

    def played(comment: str, size: int) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", NOTEBOOK.format(comment, size)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": PYTHONPATH, "PYTHONHASHSEED": str(len(comment))},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert played("first", 2).stdout == "3\n"
    assert played("another\n", 2).stdout == "3\n"
    assert "(changed: the code of __main__:Own)" in played("third", 3).stderr
    (tmp_path / "helper.py").write_text("def factor(): return 2\n")
    assert "(changed: the code of helper)" in played("first", 2).stderr
