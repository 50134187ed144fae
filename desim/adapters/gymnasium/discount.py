"""Discounts by the time that has passed, for learners that discount by steps alone."""

from typing import Any

import gymnasium

from desim.errors import UsageError
from desim.short_repr import short_repr


class DiscountByElapsed(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Multiplies each reward by `factor ** ticks`, the ticks from the reset to the step's end.

    Decisions that follow each other at unequal times then have returns that are discounted by time:
    a learner adds the rewards with a factor of 1 a step. The value of a state depends on its time,
    so the observation should hold it. `info["discount"]` is the factor of the step alone, for a
    learner with a discount of its own a step.

    Args:
        env: A `SeatEnv`, also in other wrappers.
        factor: The factor a tick, above 0 and at most 1.

    Raises:
        UsageError: The factor is not such a number.
    """

    def __init__(self, env: Any, factor: float) -> None:
        if not (isinstance(factor, int | float) and 0 < factor <= 1):
            raise UsageError(
                f"factor {short_repr(factor)} was given; it is a number above 0 and at most 1"
            )
        super().__init__(env)
        self._factor, self._weight = float(factor), 1.0

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; see `SeatEnv.reset`."""
        self._weight = 1.0
        seen, info = self.env.reset(**options)
        return seen, {**info, "discount": 1.0}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Answer the open decision; see `SeatEnv.step`."""
        seen, reward, ended, truncated, info = self.env.step(action)
        discount = self._factor ** info["elapsed"]
        self._weight *= discount
        return seen, self._weight * float(reward), ended, truncated, {**info, "discount": discount}
