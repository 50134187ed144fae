"""Classes and functions without a file count by what they do: a notebook's and local ones."""

import functools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import support.small_worlds
from attrs import field, frozen
from support.paths import PYTHONPATH
from support.small_worlds import Go, Spot, Stride, Walk

from desim import Policy, sweep
from desim.errors import UsageError
from desim.jobs.keep.code_digests import code_digests
from desim.jobs.keep.fingerprint import code_topics
from desim.jobs.plan.grid import grid

SIZE = {"plus": 1}


def digest(made: object) -> str:
    """Return the digest of the class or function itself."""
    found, _ = code_digests([made])
    return found[f"the code of {made.__module__}:{made.__qualname__}"]  # type: ignore[attr-defined]


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


def test_what_has_a_file_counts_by_definitions() -> None:
    """Also where a local class uses it; what belongs to Python and packages does not."""
    assert code_digests([Walk, digest, Path]) == ({}, [])

    class Local(Stride):
        """A local class of a file's class."""

    topics = code_topics(grid(Walk, Local, [0]).parts(0))
    assert {"Stride", "Walk"} <= {*json.loads(topics["definitions"])}
    assert [one for one in topics if one.startswith("the code of")] == [
        f"the code of {__name__}:test_what_has_a_file_counts_by_definitions.<locals>.Local"
    ]


def described(text: str, *, imports: bool) -> Callable[[Spot], Any]:
    """A function with or without docstrings and import lines, from the same text."""
    lines = (
        text if imports else text.replace("        import os.path, desim.errors as faults\n", "")
    )
    known: dict[str, Any] = {"json": json}
    exec(compile(lines, "<a notebook>", "exec", dont_inherit=True), known)  # noqa: S102 (our text)
    made: Callable[[Spot], Any] = known["rule"]
    return made


RULE = """
def rule(spot):
        {doc}
        import os.path, desim.errors as faults
        class Inner:
            {doc}
            size = 1
        try:
            while spot:
                spot = json.loads(spot)
        except ValueError:
            return {result}
        return [one for one in Inner.size]
"""


def test_docstrings_and_import_lines_do_not_count() -> None:
    """Nor those of what is inside; what is done does, and what an import line names."""
    texts = [RULE.format(doc=doc, result=2) for doc in ('"""One."""', '"""Two.\n\n  Three."""', "")]
    digests = {digest(described(text, imports=imports)) for text in texts for imports in (False,)}
    assert len(digests) == 1
    assert len({digest(described(text, imports=True)) for text in texts}) == 1
    other = described(RULE.format(doc="", result=3), imports=False)
    assert digest(other) not in digests

    def late(_spot: Spot) -> Go:
        from support.small_worlds import Stride as Other

        return Other().decide(_spot)

    _, met = code_digests([late])
    assert Stride in met


def test_a_member_of_a_module_counts_and_not_all_of_it() -> None:
    """A function that uses `module.name` reaches that name alone."""

    def rule(_spot: Spot) -> Any:
        return support.small_worlds.Go(1)

    _, met = code_digests([rule])
    assert Go in met
    assert support not in met


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
    """A function that calls itself; a value that is too deep is refused."""

    def falls(count: int) -> int:
        return falls(count - 1) if count else 0

    assert digest(falls) == digest(falls)
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(UsageError, match="refers to too much, one thing inside the other"):
        digest(rule(deep))  # type: ignore[arg-type] # as a user may do


def test_rows_of_another_closure_are_not_taken(tmp_path: Path) -> None:
    """Both policies have the same label, and the same file."""

    def named(size: int) -> Callable[[Spot], Go]:
        def rule(_spot: Spot) -> Go:
            return Go(size)

        return rule

    rows = sweep(Walk, named(2), range(3), out=tmp_path)
    assert sweep(Walk, named(2), range(3), out=tmp_path) == rows
    text = r"rows of other code or data \(the code of .*named\.<locals>\.rule has changed\)"
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
    assert "(the code of __main__:Own has changed)" in played("third", 3).stderr
    (tmp_path / "helper.py").write_text("def factor(): return 2\n")
    assert "(factor of helper has changed)" in played("first", 2).stderr
