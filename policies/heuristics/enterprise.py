"""Rules of the controller, and line-ups of rules for all seats of a group."""

from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen
from attrs.validators import ge, le

from desim import Policy
from models.enterprise.controller import Command, Continue, Department, GroupPosition, SetLimits

_CENT = 0.01

_STAGES = ("retailer", "wholesaler", "distributor", "factory")

#: Every department under the rule that the boards of the worlds rank high and that is quick, and
#: the group left alone: no funds are raised and no cash is moved.
_LAISSEZ_FAIRE = {
    "controller": "let_run",
    "treasury.cfo": "never_raise",
    **{f"plant.{stage}": "order_up_to" for stage in _STAGES},
    "consultancy.manager": "greedy",
    "startup.founder": "learning_focus",
}

#: The same departments with a cash pool, and funds raised when the treasury is low.
_TUNED = {
    **_LAISSEZ_FAIRE,
    "controller": "cash_pool,months=2,least=100000,slack=2",
    "treasury.cfo": "raise_below,floor=300000,amount=1000000",
}

#: The line-up that `experiments/tune_enterprise.py` finds. An episode takes 15 times as long as
#: under `tuned`.
_PLANNED = {**_TUNED, "startup.founder": "planner,rerolls=10"}


def lineups(params: Any) -> Mapping[str, Mapping[str, str]]:
    """Return rules by role for all seats that the group has, by the name of the line-up."""
    named = {"laissez_faire": _LAISSEZ_FAIRE, "tuned": _TUNED, "planned": _PLANNED}
    return {
        name: {role: spec for role, spec in specs.items() if role in params.roles}
        for name, specs in named.items()
    }


def baselines(params: Any) -> tuple[str, ...]:
    """Return the line-ups that play quickly."""
    return tuple(name for name in lineups(params) if name != "planned")


@frozen
class LetRun(Policy):
    """Sets no limits and moves no cash: every department lives on its own."""

    def decide(self, _: GroupPosition) -> Command:
        """Return the command that changes nothing."""
        return Continue()


@define
class CashPool(Policy):
    """Keeps in every department what its worst months so far would need, and pools the rest.

    Attributes:
        months: A department's floor is so many times the cash that it lost in its worst month.
        least: Dollars; no floor is below it.
        slack: The ceiling is so many times the floor.
    """

    months: float = field(default=3.0, validator=(ge(0), le(120)))
    least: float = field(default=100_000.0, validator=(ge(0), le(1e9)))
    slack: float = field(default=2.0, validator=(ge(1), le(1_000)))
    _worst: dict[str, float] = field(factory=dict, init=False)

    def decide(self, seen: GroupPosition) -> Command:
        """Return the limits of the next department whose limits are to change, or go on."""
        for each in seen.departments:
            if each.status == "open":
                limits = self._limits(each)
                if abs(each.floor - limits.floor) > _CENT or each.ceiling is None:
                    return limits
        return Continue()

    def _limits(self, each: Department) -> SetLimits:
        worst = max(self._worst.get(each.name, 0.0), -each.cash_change)
        self._worst[each.name] = worst
        floor = round(max(self.least, self.months * worst), 2)
        return SetLimits(each.name, floor, round(self.slack * floor, 2))
