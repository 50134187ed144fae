"""Rules of the controller, who sets the limits of a cash pool."""

from attrs import define, field, frozen
from attrs.validators import ge, le

from desim import Policy
from models.enterprise.controller import Command, Continue, Department, GroupPosition, SetLimits

_CENT = 0.01


@frozen
class LetRun(Policy):
    """Sets no limits and moves no cash: every department lives on its own."""

    def decide(self, seen: GroupPosition) -> Command:  # noqa: ARG002 (a policy)
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
