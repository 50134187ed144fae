"""The published ordering rules, which stages without a player follow.

Each is a formula over five numbers and returns units that are not yet floored or cut. They are
whole, exact fractions once an order was a fraction, or arrays of lanes:

    i    units ordered from the stage this week, or their mean over the last `memory` weeks
    on   units on hand after this week's shipping
    owed units of backlog
    line units under way to the stage
    want target inventory

Sources: reference SPEC sections 4 and 10, and 9 for the paper's moving average; Sterman, Management
Science 35(3), 1989.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from desim.short_repr import short_repr

#: Units of goods: whole numbers as long as every order so far was whole.
Number = int | float

#: Largest size of an order, in units; the largest order of a published run is near 5e9.
LARGEST = 10**18

Rule = Callable[..., Any]

#: Sterman's cost-minimising parameters: anchor 4, desired stock plus supply line 28, 20 upstream.
ANCHOR, DESIRED, DESIRED_UPSTREAM = 4, 28, 20

#: Weeks of `smoothing` and `moving_average` when their argument is missing or no whole number.
SMOOTHING_WEEKS = AVERAGED_WEEKS = 4

#: Rules with alpha and beta, by the number of arguments before these; the largest of both.
_WEIGHED, _MOST = {"typical": 0, "moving_average": 1}, 100


def pass_through(i: Any, _on: Any, _owed: Any, _line: Any, _want: Any) -> Any:
    """Order i."""
    return i


def typical(
    i: Any, on: Any, owed: Any, _line: Any, want: Any, *, alpha: Any = 1, beta: Any = 1
) -> Any:
    """Order i + alpha (want - on) + beta owed (A.5 of the paper); the supply line is left out."""
    return i + alpha * (want - on) + beta * owed


def base_stock(i: Any, on: Any, owed: Any, line: Any, want: Any) -> Any:
    """Order want - (on + line - owed) + i, as published: demand counts twice.

    This week's incoming order has already lowered the stage's position, as units shipped or owed.
    """
    return want - (on + line - owed) + i


def smoothing(
    i: Any, on: Any, owed: Any, line: Any, want: Any, *, weeks: int = SMOOTHING_WEEKS
) -> Any:
    """Order trunc(i + (want - (on + line - owed)) / max(1, weeks)): a part of the gap each week.

    Rounding down has the same effect as truncation, because negative orders count as 0.
    """
    return (i + (want - (on + line - owed)) / max(1, weeks)) // 1


def benchmark(_i: Any, on: Any, owed: Any, line: Any, _want: Any, *, desired: Any = DESIRED) -> Any:
    """Order 4 + S' - (on - owed) - line, with S' as *desired* (Sterman 1989)."""
    return ANCHOR + desired - (on + line - owed)


def desired(*, upstream: bool) -> int:
    """Return S' of `benchmark`: 28, and 20 at the last stage."""
    return DESIRED_UPSTREAM if upstream else DESIRED


RULES: dict[str, Rule] = {
    "typical": typical,
    "moving_average": typical,
    "no_backorder": partial(typical, beta=0),
    "base_stock": base_stock,
    "smoothing": smoothing,
    "benchmark": benchmark,
    "pass_through": pass_through,
}


def known(name: str) -> bool:
    """Return whether *name* names a rule; any other name means `pass_through`."""
    return name.partition(":")[0] in RULES


@lru_cache(100)
def rule(name: str, *, upstream: bool) -> Rule:
    """Return a rule by name; *upstream* at the last stage, whose lead time is shorter.

    The name is one of `RULES`, `smoothing:T`, `typical:ALPHA:BETA`, `moving_average:T:ALPHA:BETA`,
    or any other text for `pass_through`.
    """
    base, _, argument = name.partition(":")
    if base == "smoothing":
        return partial(smoothing, weeks=_weeks(argument, SMOOTHING_WEEKS))
    if base in _WEIGHED:
        given = weights(name)
        return partial(typical, **given) if given else typical
    if base == "benchmark":
        return partial(benchmark, desired=desired(upstream=upstream))
    return RULES.get(name, pass_through)


def weights(name: str) -> dict[str, Any]:
    """Return alpha and beta of `typical` or `moving_average` as far as a name gives them."""
    base, *given = name.split(":")
    texts = given[_WEIGHED[base] :] if base in _WEIGHED else []
    try:
        found = [Fraction(text) for text in texts]
        if len(found) <= 2 and all(0 <= each <= _MOST for each in found):  # noqa: PLR2004 (alpha, beta)
            return dict(zip(("alpha", "beta"), found, strict=False))
    except (ValueError, ZeroDivisionError):
        pass
    raise ValueError(
        f"opponents={short_repr(name)} was given; typical:ALPHA:BETA and "
        f"moving_average:T:ALPHA:BETA take two numbers from 0 to {_MOST}"
    )


def memory(name: str) -> int:
    """Return the number of weeks, at least 1, over which a rule averages the incoming orders."""
    base, _, argument = name.partition(":")
    averages = base == "moving_average"
    return max(1, _weeks(argument.partition(":")[0], AVERAGED_WEEKS)) if averages else 1


def divisor(name: str) -> int:
    """Return the weeks, at least 1, by which a rule divides."""
    base, _, argument = name.partition(":")
    return max(1, _weeks(argument, SMOOTHING_WEEKS)) if base == "smoothing" else memory(name)


def _weeks(argument: str, otherwise: int) -> int:
    try:
        return int(argument)
    except ValueError:
        return otherwise
