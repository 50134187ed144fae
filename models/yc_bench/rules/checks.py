"""Validators and the converter that the rule parameters share.

Decimals as the published store keeps them: they pass through doubles (SPEC section 5).
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from attrs import Attribute
from attrs.validators import ge, instance_of, le, optional

from desim.schema.validators import finite, finite_numbers, whole
from desim.short_repr import short_repr

Pair = tuple[float, float]


Triple = tuple[float, float, float]


COUNT: list[Any] = [whole, ge(1), le(100_000)]


CENTS: list[Any] = [whole, ge(0), le(10**15)]


SHARE: list[Any] = [finite, ge(0), le(1)]


AMOUNT: list[Any] = [finite, ge(0), le(1e9)]


SEED: Any = optional([whole, ge(0)])


SWITCH: Any = instance_of(bool)


DIGITS: list[Any] = [whole, ge(0), le(12)]


_pair = finite_numbers(2)


_triple = finite_numbers(3)


def as_tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    """Convert the list that a record or a file holds."""
    return tuple(values)


def triangle(instance: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Validate low, high and mode of a triangular distribution."""
    _triple(instance, attribute, value)
    low, high, mode = value
    if not low <= mode <= high or low == high:
        raise ValueError(
            f"{attribute.name}={short_repr(value)} was given; it is low, high, mode in between"
        )


def levels(instance: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Validate low, high and mode of levels of prestige, of which the lowest is 1."""
    triangle(instance, attribute, value)
    if value[0] < 1:
        raise ValueError(f"{attribute.name}={short_repr(value)} was given; prestige is at least 1")


def positive_pair(instance: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Validate two numbers above 0."""
    _pair(instance, attribute, value)
    if min(value) <= 0:
        raise ValueError(f"{attribute.name}={short_repr(value)} was given; both are above 0")


def stored(value: Decimal | float, digits: int) -> Decimal:
    """Return the value that the store reads back after writing a value with some decimals.

    >>> stored(Decimal("2.67449"), 3)
    Decimal('2.674')
    """
    return Decimal(f"{float(value):.{digits}f}")


def decimal(value: float) -> Decimal:
    """Return the shortest decimal that reads back as the double.

    >>> decimal(0.1)
    Decimal('0.1')
    """
    return Decimal(str(value))
