"""The paper's second rule: the typical rule on a moving average of the incoming orders."""

from collections import deque
from typing import Self

from attrs import define, field
from attrs.validators import ge, optional

from desim import Seat
from models.beer_game import rules
from models.beer_game.actions import Order
from models.beer_game.observation import Number, Stage
from policies.heuristics.beer_game.memoryless import facts, order
from policies.heuristics.beer_game.seat import at_least, parameters


@define
class MovingAverage:
    """Order the mean of the last incoming orders and what inventory lacks to the target.

    Attributes:
        weeks: Weeks of the mean, at least 1.
        before: Units ordered from the stage in each week before the first.
        target: Units to keep on hand; None: the stage's target inventory.

    Source: reference SPEC section 9, the column of the paper.
    """

    weeks: int = field(default=rules.AVERAGED_WEEKS, validator=ge(1))
    before: Number = 0
    target: int | None = field(default=None, validator=optional(ge(0)))
    _past: deque[Number] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._past = deque(maxlen=self.weeks)

    @classmethod
    def seated(
        cls, seat: Seat, weeks: int = rules.AVERAGED_WEEKS, target: int | None = None
    ) -> Self:
        """Build the policy for a stage; before the first week its orders were the initial flow.

        Args:
            seat: A stage of the Beer Game.
            weeks: Weeks of the mean, at least 1.
            target: Units to keep on hand; None: the stage's target inventory.
        """
        at_least(1, weeks=weeks)
        at_least(0, target=target)
        return cls(weeks, parameters(seat.model, "moving_average").flow, target)

    def decide(self, stage: Stage) -> Order:
        """Return the order of the rule."""
        if stage.week:
            self._past.append(stage.incoming_order)
        before = (self.weeks - len(self._past)) * self.before
        _, *others = facts(stage, self.target)
        return order(rules.typical((before + sum(self._past)) / self.weeks, *others))
