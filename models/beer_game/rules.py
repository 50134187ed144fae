"""Ordering rules as published: what a stage without a player orders.

Formulas over five numbers, returning units that are not yet floored or cut:

    i    units ordered from the stage this week
    on   units on hand after this week's shipping
    owed units of backlog
    line units under way to the stage
    want target inventory

Sources: reference SPEC sections 4 and 10; Sterman, Management Science 35(3), 1989.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from models.beer_game.observation import Number

__all__ = ["RULES", "Rule", "known", "rule"]

#: Takes the five numbers; the chain gives exact fractions where orders were fractions.
Rule = Callable[..., Any]

#: Sterman's cost-minimising parameters: anchor 4, desired stock plus supply line 28, 20 upstream.
ANCHOR, DESIRED, DESIRED_UPSTREAM = 4, 28, 20

#: Weeks over which `smoothing` closes the gap where its own figure cannot be read.
SMOOTHING_WEEKS = 4


def pass_through(i: Number, _on: Number, _owed: Number, _line: Number, _want: Number) -> Number:
    """Order what was ordered."""
    return i


def typical(i: Number, on: Number, owed: Number, _line: Number, want: Number) -> Number:
    """Order i + want - on + owed: the supply line is forgotten."""
    return i + want - on + owed


def no_backorder(i: Number, on: Number, _owed: Number, _line: Number, want: Number) -> Number:
    """Order i + want - on."""
    return i + want - on


def base_stock(i: Number, on: Number, owed: Number, line: Number, want: Number) -> Number:
    """Restore the inventory position on + line - owed to the target, and add i."""
    return want - (on + line - owed) + i


def smoothing(
    i: Number, on: Number, owed: Number, line: Number, want: Number, *, weeks: int = SMOOTHING_WEEKS
) -> Number:
    """Close a part of the gap each week: trunc(i + (want - (on + line - owed)) / max(1, weeks)).

    Rounding down does the same as truncation, since less than nothing is not ordered.
    """
    return (i + (want - (on + line - owed)) / max(1, weeks)) // 1


def benchmark(
    _i: Number, on: Number, owed: Number, line: Number, _want: Number, *, upstream: bool = False
) -> Number:
    """Sterman's benchmark: 4 + S' - (on - owed) - line, S' being 28 and at the last stage 20."""
    return ANCHOR + (DESIRED_UPSTREAM if upstream else DESIRED) - (on + line - owed)


RULES: dict[str, Rule] = {
    "typical": typical,
    "no_backorder": no_backorder,
    "base_stock": base_stock,
    "smoothing": smoothing,
    "benchmark": benchmark,
    "pass_through": pass_through,
}


def known(name: str) -> bool:
    """Whether a rule has that name; any other passes orders through, as published."""
    return name.partition(":")[0] in RULES


def rule(name: str, *, upstream: bool) -> Rule:
    """Return a rule by name.

    Args:
        name: One of `RULES`, `smoothing:T`, or anything else, which passes orders through.
        upstream: Whether it is for the last stage, which has a shorter lead time.
    """
    base, _, argument = name.partition(":")
    if base == "smoothing":
        return partial(smoothing, weeks=_weeks(argument))
    if base == "benchmark":
        return partial(benchmark, upstream=upstream)
    return RULES.get(name, pass_through)


def _weeks(argument: str) -> int:
    try:
        return int(argument)
    except ValueError:
        return SMOOTHING_WEEKS
