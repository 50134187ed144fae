"""A design: a list of points, each a value for every factor.

A factor is a parameter with the range or the values that it takes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from attrs import field, frozen

from desim.engine.parameters import Choices, Range, from_numpy, read_range, refuse_duplicates
from desim.errors import UsageError
from desim.short_repr import short_repr

#: Most factors of a design.
_MAX_FACTORS = 1_000


@frozen
class Factor:
    """A parameter that a design varies.

    Attributes:
        name: Its name for `--set`: `opening_cash`, `scenario.fixed_cost`, `policy.retailer.target`.
        over: The range or the values that it takes.
    """

    name: str
    over: Range | Choices

    @property
    def levels(self) -> tuple[Any, ...]:
        """The ends of its range, or all its values."""
        if isinstance(self.over, Choices):
            return self.over.values
        return self.over.value(0.0), self.over.value(1.0)


def read_factors(given: Mapping[str, Any] | Sequence[Factor]) -> tuple[Factor, ...]:
    """Return factors from ranges and lists of values by parameter.

    Args:
        given: For each parameter a `Range`, a text `low:high`, `int:low:high` or `log:low:high`, or
            a list of values; or factors.

    Raises:
        UsageError: No factors or too many are given, or a range or a list is wrong.

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
            return True  # a wrong one; the error of `read_factors` names the parameter
    return isinstance(value, Range | Choices) or isinstance(from_numpy(value), list | tuple | range)


def _over(name: str, value: Any) -> Range | Choices:
    try:
        return value if isinstance(value, Range | Choices) else _range_or_choices(value)
    except UsageError as fault:
        raise UsageError(f"{name}: {fault}") from None


def _range_or_choices(value: Any) -> Range | Choices:
    if isinstance(value, str):
        if found := read_range(value):
            return found
        raise UsageError(
            f"{short_repr(value)} is no range; write low:high, int:low:high or log:low:high"
        )
    return Choices(tuple(map(from_numpy, value)) if isinstance(value, Sequence) else (value,))


Kind = Literal["lhs", "sobol", "factorial", "points"]


KINDS: tuple[Kind, ...] = get_args(Kind)


#: Most points of a design; each is played on every seed by every policy.
MAX_POINTS = 2**16


@frozen
class Design:
    """Points at which a sweep is played.

    Attributes:
        kind: How the points were made.
        names: The parameters.
        points: For each point the values of the parameters, in the order of *names*.
    """

    kind: Kind
    names: tuple[str, ...]
    points: tuple[tuple[Any, ...], ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.points)

    def at(self, place: int) -> dict[str, Any]:
        """Return a point as values by parameter."""
        return dict(zip(self.names, self.points[place], strict=True))


def at_places(kind: Kind, factors: Sequence[Factor], places: Iterable[Sequence[float]]) -> Design:
    """Return the design whose points are at places from 0 to 1 on each factor."""
    points = tuple(
        tuple(factor.over.value(at) for factor, at in zip(factors, place, strict=True))
        for place in places
    )
    return Design(kind, tuple(factor.name for factor in factors), points)


def listed(points: Iterable[Mapping[str, Any]]) -> Design:
    """Return the design of given points.

    Args:
        points: Values by parameter; every point has the same parameters.

    Raises:
        UsageError: No points or too many are given, or one is empty or has other parameters.
    """
    given = [dict(point) for point in points]
    checked_count(len(given), least=1)
    names = tuple(given[0])
    if not names:
        raise UsageError("point 0 is empty; a point has a value for at least one parameter")
    for place, point in enumerate(given):
        if point.keys() != set(names):
            raise UsageError(
                f"point {place} has the parameters {', '.join(point) or 'none'}, and point 0 has "
                f"{', '.join(names)}; all points have the same ones"
            )
    values = tuple(tuple(from_numpy(point[name]) for name in names) for point in given)
    return Design("points", names, values)


def checked_count(count: Any, least: int = 2) -> int:
    """Return a number of points that a design may have.

    Raises:
        UsageError: The number is not whole, too small or too large.
    """
    if type(count) is not int or not least <= count <= MAX_POINTS:
        raise UsageError(
            f"{short_repr(count)} points were given; possible: {least} to {MAX_POINTS:,}"
        )
    return count
