"""Functions that are called once for each immutable object."""

import gc
import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from attrs import define, frozen

from desim.schema.immutable import is_immutable, once_an_object


@frozen
class Terms:
    """Immutable, unless a part of it is not."""

    price: float = 1.0
    parts: tuple[Any, ...] = ()
    names: Mapping[str, Any] | None = None


@define
class Open:
    """Mutable."""

    price: int = 1


class Undecorated(Terms):
    """Has attributes that attrs does not know."""


@pytest.mark.parametrize(
    ("value", "immutable"),
    [
        (Terms(), True),
        (Terms(parts=(1, ("a", Terms()))), True),
        (Terms(parts=([],)), False),
        (Terms(parts=(Open(),)), False),
        (Terms(names={}), False),
        (Terms(names=MappingProxyType({})), False),
        (Open(), False),
        (Undecorated(), False),
        (Terms, False),
        (frozenset({1}), True),
        ([1], False),
    ],
    ids=repr,
)
def test_what_is_immutable(value: object, *, immutable: bool) -> None:
    """Scalars, tuples of them, and frozen classes whose every field is."""
    assert is_immutable(value) is immutable


def test_equal_objects_are_different() -> None:
    """A result belongs to one object, and is made once for it."""
    calls: list[Any] = []
    price = once_an_object(calls.append)
    one, other = Terms(), Terms()
    for each in (one, other, one, other):
        price(each)
    assert calls == [one, other]
    assert calls[0] is one
    assert calls[1] is other


def test_a_mutable_object_is_read_each_time() -> None:
    """Its result may have changed."""
    price = once_an_object(lambda terms: terms.price)
    terms = Open(1)
    assert price(terms) == 1
    terms.price = 2
    assert price(terms) == 2


def test_a_result_is_dropped_with_its_object() -> None:
    """Neither the object nor its result is kept alive."""

    class Result:
        """Something that can be referred to weakly."""

    kept = once_an_object(lambda _: Result())
    terms = Terms()
    result = weakref.ref(kept(terms))
    assert result() is kept(terms)
    del terms
    gc.collect()
    assert result() is None
