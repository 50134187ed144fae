"""Values in error texts: short, whatever they are."""

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
from attrs import frozen
from support.cases import stable

from desim import catalog
from desim.errors import UsageError
from desim.short_repr import short_repr, shortened


class Unprintable:
    """An object that has no repr."""

    def __repr__(self) -> str:
        raise RuntimeError


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
    3,
    -2.5,
    "a'b",
    None,
    (1,),
    {"b": 1, "a": [2]},
    {1},
    Pair(1, 2),
    Point("a"),
    [Point(1)],
    int,
]


@pytest.mark.parametrize("value", PLAIN, ids=stable)
def test_a_short_value_has_its_own_repr(value: Any) -> None:
    """Also the order of a dict is kept."""
    assert short_repr(value) == repr(value)


#: Made by the test that shows them: a list of values would stay in memory through all tests.
HUGE: dict[str, Callable[[], Any]] = {
    "int": lambda: 10**5_000,
    "str": lambda: "x" * 10**8,
    "dict": lambda: {n: n for n in range(10**5)},
    "unprintable": Unprintable,
    "loop": loop,
    "loop in a class": lambda: Point(loop()),
    "deep": deep,
}


@pytest.mark.parametrize("make", HUGE.values(), ids=HUGE)
def test_any_value_is_shown_and_cut(make: Callable[[], Any]) -> None:
    """Huge numbers, 100 MB of text, cycles, deep nesting, and objects whose repr raises."""
    value = make()
    assert 0 < len(short_repr(value)) <= 121
    assert len(short_repr(value, 20)) <= 21


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
    assert text == "start " + "x" * 17 + " … " + "x" * 12 + " - at `$.a`"
