"""Factors of a design: a parameter with the range or the values that it takes."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.sweeps.combinations import from_numpy, refuse_duplicates
from desim.sweeps.ranges import Choices, Range, read_range

__all__ = ["Factor", "is_factor", "read_factors"]

#: Most factors of a design.
_MAX_FACTORS = 1_000


@frozen
class Factor:
    """A parameter that a design varies.

    Attributes:
        name: As `--set` names it: `opening_cash`, `scenario.fixed_cost`, `policy.retailer.target`.
        over: The range or the values that it takes.
    """

    name: str
    over: Range | Choices

    @property
    def levels(self) -> tuple[Any, ...]:
        """The ends of its range, or all its values."""
        return self.over.ends if isinstance(self.over, Range) else self.over.values


def read_factors(given: Mapping[str, Any] | Sequence[Factor]) -> tuple[Factor, ...]:
    """Return factors from ranges and lists of values by parameter.

    Args:
        given: For each parameter a `Range`, a text `low:high`, `int:low:high` or `log:low:high`, or
            a list of values; or factors.

    Raises:
        UsageError: There is none or too many, or a range or a list is wrong.

    >>> [str(factor.over) for factor in read_factors({"weeks": "int:1:9", "cash": "log:10:1e6"})]
    ['int:1:9', 'log:10:1000000']
    """
    if isinstance(given, Mapping):
        found = tuple(Factor(name, _over(name, from_numpy(value))) for name, value in given.items())
    else:
        found = tuple(given)
        refuse_duplicates("parameter", (factor.name for factor in found))
    if not found:
        raise UsageError(
            "a design varies at least one parameter; give a range, as in --set KEY=low:high, or "
            "several values"
        )
    if len(found) > _MAX_FACTORS:
        raise UsageError(f"{len(found):,} parameters vary; a design has up to {_MAX_FACTORS:,}")
    return found


def is_factor(value: Any) -> bool:
    """Return whether a value of `set` is a range or a list, and not a single value."""
    if isinstance(value, str):
        try:
            return read_range(value) is not None
        except UsageError:
            return True  # a wrong one, of which `read_factors` names the parameter
    return isinstance(value, Range | Choices) or isinstance(from_numpy(value), list | tuple | range)


def _over(name: str, value: Any) -> Range | Choices:
    try:
        return value if isinstance(value, Range | Choices) else _read(value)
    except UsageError as fault:
        raise UsageError(f"{name}: {fault}") from None


def _read(value: Any) -> Range | Choices:
    if isinstance(value, str):
        if found := read_range(value):
            return found
        raise UsageError(
            f"{short_repr(value)} is no range; write low:high, int:low:high or log:low:high"
        )
    return Choices(tuple(map(from_numpy, value)) if isinstance(value, Sequence) else (value,))
