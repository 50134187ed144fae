"""Sensible commands of the controller, and the usual ranges of their amounts."""

from collections.abc import Mapping

from attrs import evolve

from desim import Option
from desim.show.column import DOLLARS, Column
from models.enterprise.actions import Command, Continue, SetLimits
from models.enterprise.observation import Department, GroupPosition
from models.enterprise.params import EnterpriseParams

#: Months of the last month's outflow that a suggested floor covers.
_MONTHS = 3
#: Opening cash of the treasury that an amount may be before a person is asked to confirm it.
_USUAL = 10


def options(seen: GroupPosition) -> list[Option]:
    """Return the commands: go on, or a floor for each department that spends more than it earns.

    The value is in dollars: the cash that the floor would bring, none for going on.
    """
    floors = [
        Option(_floor(each, wanted), min(missing, seen.treasury_cash), "for months of losses")
        for each in seen.departments
        if (wanted := round(-_MONTHS * each.cash_change, 2)) > 0 and each.status == "open"
        if (missing := wanted - max(each.floor, each.cash)) > 0
    ]
    return [Option(Continue(), 0.0, "let the pool balance"), *floors]


def described(params: EnterpriseParams) -> Mapping[str, Mapping[str, Column]]:
    """Return the columns of amounts, usual up to ten times the treasury's opening cash."""
    most = _USUAL * max(params.treasury.opening_cash, 1)
    limit = evolve(DOLLARS, usual=(0, most))
    return {
        "set_limits": {"floor": limit, "ceiling": limit},
        "transfer": {"amount": evolve(DOLLARS, usual=(-most, most))},
    }


def default_action(_: GroupPosition) -> Command:
    """Return the command that changes nothing."""
    return Continue()


def _floor(each: Department, wanted: float) -> SetLimits:
    ceiling = None if each.ceiling is None else max(each.ceiling, wanted)
    return SetLimits(each.name, wanted, ceiling)
