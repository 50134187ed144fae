"""The series of an ended episode, which a model reports period by period."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from desim.core.model import Model
from desim.errors import UsageError, WrongResult
from desim.short_repr import short_repr

#: One number for each period that was played, by name; NaN if unknown.
Series = Mapping[str, Sequence[float]]

#: The ticks at which periods end, by the name of the series.
Ticks = Mapping[str, Sequence[int]]


def check_series(model: Model[Any]) -> None:
    """Check before an episode that its model reports series.

    Raises:
        UsageError: The model has no method `series`.
    """
    if model.series is None:
        raise UsageError(
            f"{type(model).__name__} reports no series: it has no method series(state)"
        )


def read_series(model: Model[Any], state: Any) -> dict[str, tuple[float, ...]]:
    """Return the series of an ended episode as Python's floats.

    Raises:
        UsageError: The model has no method `series`.
        WrongResult: A series is not a sequence of numbers.
    """
    check_series(model)
    assert model.series is not None
    return {name: _floats(name, values) for name, values in model.series(state).items()}


def ended_series(model: Model[Any], state: Any, end: int) -> tuple[Series, Ticks]:
    """Return the series of an ended episode up to its end, and the ends of their periods.

    A company that went bankrupt in May may report all months of its year. The period in which the
    episode ended ends with it. Series without the ends of all periods are whole; a model without
    series has none.

    Args:
        model: The model.
        state: Its state.
        end: The tick at which the episode ended.

    Raises:
        WrongResult: A series is not a sequence of numbers.
    """
    found = read_series(model, state) if model.series else {}
    ticks = model.series_ticks(state) if found else {}
    kept = {name: _played(each, end) for name, each in ticks.items()}
    values = {
        name: each[: len(kept[name])] if len(ticks.get(name, ())) == len(each) else each
        for name, each in found.items()
    }
    return values, kept


def _played(ticks: Sequence[int], end: int) -> Sequence[int]:
    """Return the ends of the periods that were played."""
    whole = [tick for tick in ticks if tick <= end]
    if len(whole) == len(ticks):
        return ticks
    return [*whole, end] if end > (whole[-1] if whole else 0) else whole


def _floats(name: str, values: Any) -> tuple[float, ...]:
    # A text is a sequence whose items may be numbers, as in float("7").
    if not isinstance(values, str | bytes):
        with contextlib.suppress(TypeError, ValueError):
            return tuple(map(float, values))
    raise WrongResult(
        f"the model's series {name!r} is {short_repr(values)}; a series is a sequence of numbers, "
        "one a period"
    )
