"""Values in error texts: short, whatever they are."""

import contextlib
import enum
import sys
from collections import Counter, defaultdict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from support.cases import stable

from desim import catalog
from desim.errors import UsageError, possible, sentence
from desim.short_repr import short_repr, shortened


class Unprintable:
    """An object that has no repr."""

    def __repr__(self) -> str:
        raise RuntimeError


class Colour(enum.Enum):
    """An enumeration."""

    RED = 1


@frozen
class Point:
    """An attrs class."""

    x: Any
    y: int = 2


Pair = namedtuple("Pair", "a b")  # noqa: PYI024 (a plain one)


def loop() -> list[Any]:
    """Return a list that contains itself."""
    one: list[Any] = [1]
    one.append(one)
    return one


def deep() -> Any:
    """Return a list nested deeper than Python can recurse."""
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    return value


PLAIN = [
    *(3, -2.5, "a'b", True, None, (1,), (), {}, [], {"b": 1, "a": [2]}, set(), {1}, b"x", 1j),
    *(frozenset({2}), deque([1]), Pair(1, 2), Point("a"), [Point(1)], Colour.RED, int, len, 10**50),
]


@pytest.mark.parametrize("value", PLAIN, ids=stable)
def test_a_short_value_has_its_own_repr(value: Any) -> None:
    """Also the order of a dict is kept."""
    assert short_repr(value) == repr(value)


#: Made by the test that shows them: a list of values would stay in memory through all tests.
HUGE: dict[str, Callable[[], Any]] = {
    "int": lambda: 10**5_000,
    "negative int": lambda: -(10**5_000),
    "str": lambda: "x" * 10**8,
    "bytes": lambda: b"x" * 10**8,
    "list": lambda: list(range(10**6)),
    "texts in lists": lambda: [["x" * 999] * 99] * 9,
    "dict": lambda: {n: n for n in range(10**5)},
    "unprintable": Unprintable,
    "unprintable in a list": lambda: [Unprintable()],
    "unprintable in a dict": lambda: {"a": Unprintable()},
    "loop": loop,
    "int in a class": lambda: Point(10**5_000),
    "loop in a class": lambda: Point(loop()),
    "int in dicts": lambda: {1: {2: 10**9_999}},
    "ints in a list": lambda: [10**5_000] * 10**5,
    "deep": deep,
}


@pytest.mark.parametrize("make", HUGE.values(), ids=HUGE)
def test_any_value_is_shown_and_cut(make: Callable[[], Any]) -> None:
    """Huge numbers, 100 MB of text, cycles, deep nesting, and objects whose repr raises."""
    value = make()
    assert 0 < len(short_repr(value)) <= 121
    assert len(short_repr(value, 20)) <= 21


class Texts(str):
    """A derived text."""

    __slots__ = ()


class Rows(list[Any]):
    """A derived list that does not end where it is iterated."""

    def __iter__(self) -> Any:
        while True:
            yield 1


class Exits:
    """An object whose repr ends the process."""

    def __repr__(self) -> str:
        raise SystemExit(3)


class Endless:
    """An object whose repr never returns, and catches what stops it."""

    def __repr__(self) -> str:
        while True:
            with contextlib.suppress(Exception):
                self.missing()  # type: ignore[attr-defined]


class BadName(type):
    """A class of classes whose name cannot be read."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise ValueError


class Nameless(metaclass=BadName):
    """An object of a class without a name."""

    def __repr__(self) -> str:
        raise ValueError


@dataclass
class Table:
    """A dataclass."""

    rows: Any


#: The start of its text for each; made by the test, as above.
SLOW: dict[str, Callable[[], Any]] = {
    "'xxx": lambda: Texts("x" * 10**8),
    "[1, 1": lambda: Rows([1] * 10**7),
    "bytearray(b'\\x00": lambda: bytearray(10**8),
    "Counter({0: 1, 1: 1": lambda: Counter(range(10**6)),
    "defaultdict({0: 0": lambda: defaultdict(int, dict.fromkeys(range(10**6), 0)),
    "dict_keys([0, 1": lambda: dict.fromkeys(range(10**6)).keys(),
    "Pair(a=range(0, 3), b=[0, 0": lambda: Pair(range(3), [0] * 10**7),
    "Table(rows=[0, 0": lambda: Table([0] * 10**7),
    "SimpleNamespace(rows=[0, 0": lambda: SimpleNamespace(rows=[0] * 10**7),
    "ValueError('xxx": lambda: ValueError("x" * 10**8),
    "array([[0., 0.": lambda: np.zeros((5_000, 5_000)),
    "<Exits without a repr>": Exits,
    "[<Endless without a repr>, <": lambda: [Endless()] * 1_000,
    "<Nameless without a repr>": Nameless,
}


@pytest.mark.parametrize("start", SLOW)
def test_no_value_takes_long(start: str) -> None:
    """Derived containers, dataclasses, exceptions, arrays; reprs that exit or never return."""
    text = short_repr(SLOW[start]())
    assert text.startswith(start)
    assert len(text) <= 121


def test_a_repr_leaves_a_tracer_in_place() -> None:
    """Such as a debugger's or that of a measurement of coverage."""

    def trace(*_: Any) -> Any:
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        short_repr(Endless())
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


def test_no_error_is_longer_than_a_page() -> None:
    """Whatever was given; an error that is built anew from its text stays the same."""
    with pytest.raises(UsageError) as fault:
        catalog.model("x" * 10**6)
    text = str(fault.value)
    assert len(text) <= 4_000
    assert text.startswith("there is no model 'xxx")
    assert str(UsageError(text)) == text


def test_the_middle_of_a_long_text_is_left_out() -> None:
    """Its end often holds the path of the fault."""
    text = shortened("start " + "x" * 10**7 + " - at `$.a`", 50)
    assert text == "start " + "x" * 19 + " … " + "x" * 14 + " - at `$.a`"


def test_sentences_and_near_misses_of_long_names_are_short() -> None:
    """An exception of 10 MB, and a name of 10 MB that is compared with the known ones."""
    assert len(sentence(ValueError("x" * 10**7))) < 1_100
    assert possible("x" * 10**7, ["retailer"]) == "Possible: retailer"
    assert sentence(UsageError("short")) == "short"
