"""Classes that cannot be observations or actions are refused in one sentence."""

from collections.abc import Callable
from typing import Any, Optional

import pytest
from attrs import frozen, make_class

from desim import Role
from desim.errors import SchemaError
from desim.schema import Codec, codec, encode, from_plain, json_schema, type_check


@frozen
class Tree:
    """A tree of itself."""

    kids: tuple["Tree", ...] = ()


@frozen
class Link:
    """A list of itself."""

    next: Optional["Link"] = None


@frozen
class Odd:
    """One half of two classes that contain each other."""

    even: tuple["Even", ...] = ()


@frozen
class Even:
    """The other half."""

    odds: dict[str, Odd]


@frozen
class Unknown:
    """A class with a type that does not exist."""

    part: "Missing" = 0  # type: ignore[name-defined]  # noqa: F821 (that is the point)


USES = [json_schema, type_check, codec, lambda cls: encode(cls())]


@pytest.mark.parametrize("cls", [Tree, Link, Odd])
@pytest.mark.parametrize("use", USES)
def test_a_class_that_contains_itself_is_refused(use: Callable[[Any], object], cls: type) -> None:
    """As an observation, an action and a parameter, also by way of another class."""
    with pytest.raises(SchemaError, match=" contains itself"):
        use(cls)


def test_a_class_that_is_used_twice_is_not_recursive() -> None:
    """Side by side, and at several depths."""

    @frozen
    class Plain:
        n: int = 0

    @frozen
    class Pair:
        left: Plain
        rest: tuple[tuple[Plain, ...], ...] = ()

    assert Role(Pair, Pair).action is Pair
    assert all(use(Pair) for use in USES[:3])


def test_an_unknown_type_is_named() -> None:
    """Python's own error does not say which class has it."""
    with pytest.raises(SchemaError, match="a field of Unknown is unknown: name 'Missing' is not"):
        type_check(Unknown)


def test_the_key_of_the_tag_is_taken() -> None:
    """A field of that name is refused when the codec is made."""

    @frozen
    class Job:
        do: str

    with pytest.raises(SchemaError, match="Job has a field 'do'"):
        Codec(Job)
    assert from_plain({"do": "x"}, Job) == Job("x")


def test_two_classes_with_one_tag_are_refused() -> None:
    """An answer could not name one of them."""
    left, right = (make_class("Turn", [name], frozen=True) for name in ("by", "to"))
    with pytest.raises(SchemaError, match="two classes of one role share the tag 'turn'"):
        Codec(left | right)
