"""The series of an ended episode: what a model reports period by period."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from desim.core.protocols import HasSeries, Model, offers
from desim.errors import UsageError, WrongResult
from desim.short_repr import short_repr

__all__ = ["Series", "check_series", "read_series"]

#: One number for each period that was played, by name; NaN where it is not known.
Series = Mapping[str, Sequence[float]]


def check_series(model: Model[Any]) -> None:
    """Check before an episode that its model reports series.

    Raises:
        UsageError: It does not.
    """
    if not offers(model, HasSeries):
        raise UsageError(
            f"{type(model).__name__} reports no series: it has no method series(state)"
        )


def read_series(model: Model[Any], state: Any) -> dict[str, tuple[float, ...]]:
    """Return the series of an ended episode as Python's floats.

    Raises:
        UsageError: The model reports none.
        WrongResult: A series is no sequence of numbers.
    """
    check_series(model)
    assert offers(model, HasSeries)
    return {name: _floats(name, values) for name, values in model.series(state).items()}


def _floats(name: str, values: Any) -> tuple[float, ...]:
    # A text is a sequence whose items may be numbers, as in float("7").
    if not isinstance(values, str | bytes):
        with contextlib.suppress(TypeError, ValueError):
            return tuple(map(float, values))
    raise WrongResult(
        f"the model's series {name!r} is {short_repr(values)}; a series is a sequence of numbers, "
        "one a period"
    )
