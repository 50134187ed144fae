"""Checks of what an ended episode reports: score, metrics, series."""

import math
from collections import defaultdict
from typing import Any

import msgspec

from desim.core.model import model_of
from desim.core.points import checked_name
from desim.core.result import Series, Ticks, read_series, score_of
from desim.errors import DesimError
from desim.schema import to_plain
from desim.short_repr import short_repr
from desim.show.column import Column
from desim.show.labels import flat
from desim.studies.checks.checked_world import CheckedWorld
from desim.studies.checks.outcomes import CheckAdvice, CheckFailed, NotChecked
from desim.studies.checks.wording import counted


def score(world: CheckedWorld) -> str:
    """The score is a finite number within the bounds that the model declares."""
    model, courses = world.model, world.ended()
    low, high = -math.inf, math.inf
    if declared := model.figures.score_range:
        low, high = declared[0], math.inf if declared[1] is None else declared[1]
    try:
        found = [score_of(model, one.state) for one in courses]
    except DesimError as fault:
        raise CheckFailed(str(fault), model.score) from None
    for one, value in zip(courses, found, strict=True):
        if not low <= value <= high:
            text = f"seed {one.seed} has the score {value:g}, outside of the declared"
            raise CheckFailed(f"{text} {low:g} to {high:g}", model.score)
    bounds = f"declared {low:g} to {high:g}" if (low, high) != (-math.inf, math.inf) else "no bound"
    return f"{min(found):,.6g} to {max(found):,.6g} in {counted(len(found), 'episode')}; {bounds}"


def metrics(world: CheckedWorld) -> str:
    """Metrics are JSON values by name, and those of boards are numbers or texts.

    Raises:
        CheckAdvice: One is NaN or infinite, and so in no mean.
    """
    model, odd = world.model, dict[str, float]()
    for one in world.ended():
        found: dict[str, Any] = dict(model.metrics(one.state))
        for name, value in found.items():
            _check_plain(model, name, value)
            if isinstance(value, float) and not math.isfinite(value):
                odd[name] = value
    numbers = dict(flat(to_plain(found)))
    for name in model.figures.board:
        if name not in numbers:
            raise CheckFailed(f"the board metric {name!r} is no metric", type(model).metrics)
        if not isinstance(numbers[name], int | float | str | None):
            text = f"the board metric {name!r} is {short_repr(numbers[name])}, no number or text"
            raise CheckFailed(text, type(model).metrics)
    if odd:
        text = ", ".join(f"the metric {name!r} is {value}" for name, value in odd.items())
        raise CheckAdvice(f"{text} in an episode, which is then in no mean", type(model).metrics)
    return f"{counted(len(numbers), 'metric')}, all JSON values"


def _check_plain(model: Any, name: Any, value: Any) -> None:
    text = f"the metric {name!r} is {short_repr(value)} ({type(value).__name__})"
    try:
        plain = to_plain({name: value})
    except (TypeError, ValueError, msgspec.MsgspecError):
        raise CheckFailed(f"{text}; a metric is a JSON value", model.metrics) from None
    if msgspec.json.decode(msgspec.json.encode(plain)) != plain:
        raise CheckFailed(f"{text}, and differs when it is read from JSON", model.metrics)


def series(world: CheckedWorld) -> str:
    """Series of one period are numbers of one length, as many as the ticks of their periods."""
    model: Any = world.model
    if world.model.series is None:
        raise NotChecked("the model has no method `series`")
    for one in world.ended():
        try:
            found, ends = read_series(model, one.state)
            for name in found:
                checked_name(name)
        except DesimError as fault:
            raise CheckFailed(f"seed {one.seed}: {fault}", model.series) from None
        _check_lengths(model, found)
        _check_ticks(model, found, ends)
    lengths = sorted({len(values) for values in found.values()})
    return f"{counted(len(found), 'series', 'series')} of {', '.join(map(str, lengths))} periods"


def _check_lengths(model: Any, found: Series) -> None:
    """Compare the lengths of series that have a period in common.

    Raises:
        CheckFailed: They differ.
    """
    declared = model.figures.series
    groups: dict[tuple[int, str], dict[str, int]] = defaultdict(dict)
    for name, values in found.items():
        period = declared.get(name, Column()).period
        groups[id(model_of(model, name)[0]), period][name] = len(values)
    for (_, period), lengths in groups.items():
        first, *others = lengths
        for other in others:
            if lengths[other] != lengths[first]:
                text = f"the series {first!r} has {lengths[first]} values and {other!r} has "
                text += f"{lengths[other]}, with one a {period}"
                raise CheckFailed(text, model.series)


def _check_ticks(model: Any, found: Series, ends: Ticks) -> None:
    """Compare series with the ticks at which their periods end.

    Raises:
        CheckFailed: There are more or fewer of them, or a tick is before the one before it.
    """
    for name, values in found.items():
        ticks = ends.get(name, ())
        if name in ends and len(ticks) != len(values):
            text = f"the series {name!r} has {len(values)} values and {len(ticks)} ticks"
            raise CheckFailed(text, model.series)
        if [*ticks] != sorted(ticks):
            raise CheckFailed(f"the ticks of the series {name!r} go back", model.series)
