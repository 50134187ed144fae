"""Ordering rules as published: what a stage without a player orders.

Each takes what the stage sees after this week's shipping and returns units, not yet floored or cut.
Below, i is the incoming order, I the inventory, B the backlog, I* the target inventory and
pos = I + supply line - B.

Sources: reference SPEC sections 4 and 10; Sterman, Management Science 35(3), 1989.
"""

from collections.abc import Callable
from functools import partial

from models.beer_game.observation import Number, Stage

__all__ = ["RULES", "Rule", "known", "rule"]

Rule = Callable[[Stage], Number]

#: Sterman's cost-minimising parameters: anchor 4, desired stock plus supply line 28, 20 upstream.
ANCHOR, DESIRED, DESIRED_UPSTREAM = 4, 28, 20

#: Weeks over which `smoothing` closes the gap where its own figure cannot be read.
SMOOTHING_WEEKS = 4


def pass_through(stage: Stage) -> Number:
    """Order what was ordered: i."""
    return stage.incoming_order


def typical(stage: Stage) -> Number:
    """Order i + I* - I + B: the supply line is forgotten."""
    return stage.incoming_order + stage.target_inventory - stage.inventory + stage.backlog


def no_backorder(stage: Stage) -> Number:
    """Order i + I* - I."""
    return stage.incoming_order + stage.target_inventory - stage.inventory


def base_stock(stage: Stage) -> Number:
    """Order up to the target: I* - pos + i."""
    return stage.target_inventory - stage.position + stage.incoming_order


def smoothing(stage: Stage, weeks: int = SMOOTHING_WEEKS) -> Number:
    """Close a part of the gap each week: trunc(i + (I* - pos) / max(1, weeks))."""
    return int(stage.incoming_order + (stage.target_inventory - stage.position) / max(1, weeks))


def benchmark(stage: Stage, *, upstream: bool = False) -> Number:
    """Sterman's benchmark: 4 + S' - (I - B) - supply line, S' 28 and at the last stage 20."""
    return ANCHOR + (DESIRED_UPSTREAM if upstream else DESIRED) - stage.position


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
