"""Values in error texts: short, whatever they are."""

import contextlib
import enum
import sys
from collections import Counter, defaultdict, deque, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from support.ids import stable

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


HUGE = [
    *(
        10**5_000,
        -(10**5_000),
        "x" * 10**8,
        b"x" * 10**8,
        list(range(10**6)),
        [["x" * 999] * 99] * 9,
    ),
    *({n: n for n in range(10**5)}, Unprintable(), [Unprintable()], {"a": Unprintable()}, loop()),
    *(Point(10**5_000), Point(loop()), {1: {2: 10**9_999}}, [10**5_000] * 10**5, deep()),
]


@pytest.mark.parametrize("value", HUGE, ids=lambda value: type(value).__name__)
def test_any_value_is_shown_and_cut(value: Any) -> None:
    """Huge numbers, 100 MB of text, cycles, deep nesting, and objects whose repr raises."""
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


SLOW: list[tuple[Any, str]] = [
    (Texts("x" * 10**8), "'xxx"),
    (Rows([1] * 10**7), "[1, 1"),
    (bytearray(10**8), "bytearray(b'\\x00"),
    (Counter(range(10**6)), "Counter({0: 1, 1: 1"),
    (defaultdict(int, dict.fromkeys(range(10**6), 0)), "defaultdict({0: 0"),
    (dict.fromkeys(range(10**6)).keys(), "dict_keys([0, 1"),
    (Pair(range(3), [0] * 10**7), "Pair(a=range(0, 3), b=[0, 0"),
    (Table([0] * 10**7), "Table(rows=[0, 0"),
    (SimpleNamespace(rows=[0] * 10**7), "SimpleNamespace(rows=[0, 0"),
    (ValueError("x" * 10**8), "ValueError('xxx"),
    (np.zeros((5_000, 5_000)), "array([[0., 0."),
    (Exits(), "<Exits without a repr>"),
    ([Endless()] * 1_000, "[<Endless without a repr>, <"),
    (Nameless(), "<Nameless without a repr>"),
]


@pytest.mark.parametrize(("value", "start"), SLOW, ids=[start for _, start in SLOW])
def test_no_value_takes_long(value: Any, start: str) -> None:
    """Derived containers, dataclasses, exceptions, arrays; reprs that exit or never return."""
    text = short_repr(value)
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
