"""Rewards: the change of the score or of a metric since the last decision."""

import math
from collections.abc import Mapping
from typing import Any

from desim.core.run import Run
from desim.errors import UsageError, WrongResult, possible

#: The name of the model's score among the metrics.
SCORE = "score"


class Rewards:
    """Measures the rewards of an episode's seats.

    The rewards of an episode add up to the score, or the metric, at its end less that at the
    world's begin: changes before the first decision are part of the first reward. A metric that is
    not known yet counts as 0.

    Args:
        run: The episode's run.
        names: By seat "score" or a metric's name, with or without a minus before it.

    Raises:
        UsageError: The model does not have the metric, or it is not a number.
    """

    def __init__(self, run: Run[Any], names: Mapping[str, str]) -> None:
        self._run = run
        self._names = dict(names)
        self._signs = {seat: -1.0 if name[:1] == "-" else 1.0 for seat, name in names.items()}
        self._keys = {seat: name.removeprefix("-") for seat, name in names.items()}
        self._only_score = set(self._keys.values()) <= {SCORE}
        self._last = self._values()

    def changes(self) -> dict[str, float]:
        """Return the reward of each seat since the last call."""
        values = self._values()
        last, self._last = self._last, values
        return {seat: self._signs[seat] * (values[k] - last[k]) for seat, k in self._keys.items()}

    def _values(self) -> dict[str, float]:
        score = self._run.score()
        if self._only_score:
            return {SCORE: score}
        metrics = self._run.model.metrics(self._run.state)
        keys = self._keys.values()
        return {key: score if key == SCORE else _number(metrics, key) for key in keys}


def _number(metrics: Mapping[str, Any], name: str) -> float:
    if name not in metrics:
        raise UsageError(f"reward {name!r} was given; {possible(name, [SCORE, *metrics])}")
    value = metrics[name]
    if value is None:
        return 0.0
    if not isinstance(value, int | float):
        raise UsageError(f"metric {name!r} is {value!r}; a reward is the change of a number")
    if not math.isfinite(value):
        raise WrongResult(f"metric {name!r} is {value}; a reward is a finite number")
    return float(value)
