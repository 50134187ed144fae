"""Random worlds of EnterpriseArena, and an officer whose commands try every rule, for its lanes."""

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
from attrs import define

from desim.lanes.lane_columns import Array, Columns
from desim.schema import members
from models.enterprise_arena import (
    BookClosing,
    CheckCashInBank,
    Command,
    EnterpriseArena,
    FundRaisingRequest,
    Month,
    Pass,
    VerifyCashPosition,
)
from models.enterprise_arena.actions import INSTRUMENTS
from policies.heuristics.enterprise_arena import RaiseBelow, RaiseWhenFree

_KINDS = (Pass, BookClosing, *[FundRaisingRequest] * 6, VerifyCashPosition, CheckCashInBank)
_NUMBERS = np.array([members(Command).index(kind) for kind in _KINDS])
_AMOUNTS = np.array([2e7, 3.33e7, 1e6, 0.004, 0.0, -5e6, 5e7, 6e7, 1e12, 1e13, 123_456.785])


@define
class Mixed:
    """Requests of all sizes, also refused ones, closings, passes and calls of the cash tools.

    What it does follows from the month, the borrowers and the number of its commands.
    """

    salt: int = 0
    given: Any = 0

    def decide(self, month: Month) -> Any:
        """Return the next command."""
        kind, instrument, amount = (entry.item() for entry in self._next(month))
        if _KINDS[kind] is FundRaisingRequest:
            return FundRaisingRequest(INSTRUMENTS[instrument], amount)
        return _KINDS[kind]()

    def decide_all(self, months: Columns) -> Mapping[str, Array]:
        """Return the next command of every lane."""
        kind, instrument, amount = self._next(months)
        return {"do": _NUMBERS[kind], "type": instrument, "amount": amount}

    def _next(self, month: Any) -> tuple[Array, Array, Array]:
        self.given = self.given + 1
        mixed = self.salt + 7 * np.asarray(month.current_month) + np.asarray(month.active_users)
        mixed = (mixed + 13 * self.given) * 2_654_435_761 % 4_294_967_291
        # A tool is called only within the budget, so that every month comes to an end.
        kinds = np.where(np.asarray(month.tool_calls_remaining) > 0, len(_KINDS), 8)
        return mixed % kinds, mixed // 16 % 2, _AMOUNTS[mixed // 64 % len(_AMOUNTS)]


#: Policies by name: equity, debt, and everything at once.
OFFICERS = {
    "equity": lambda: {"cfo": RaiseBelow()},
    "debt": lambda: {"cfo": RaiseWhenFree("debt", 7e6)},
    "mixed": lambda: {"cfo": Mixed()},
}


def random_world(number: int, longest: int = 48) -> EnterpriseArena:
    """Return a world whose parameters are drawn from a number; each keeps its default or not."""
    draw = Random(number)  # noqa: S311 (worlds of a test)
    preset = draw.choice([*EnterpriseArena.presets])
    drawn = {"horizon": draw.randint(1, longest)}
    for name, values in _DRAWN.items():
        if draw.random() < 0.35:
            drawn[name] = values(draw)
    return EnterpriseArena(**{**EnterpriseArena.presets[preset], **drawn})


def _between(low: float, high: float) -> Any:
    return lambda draw: draw.uniform(low, high)


def _one_of(*values: Any) -> Any:
    return lambda draw: draw.choice(values)


def _pair(low: float, high: float) -> Any:
    return lambda draw: tuple(sorted((draw.uniform(low, high), draw.uniform(low, high))))


def _outcomes(draw: Random) -> Any:
    months = draw.sample(range(12), draw.randint(1, 6))
    return {
        month: (draw.random() < 0.7, draw.random(), draw.choice([1, 2, 5, 90])) for month in months
    }


_DRAWN: Mapping[str, Any] = {
    "opening_cash": _between(0, 4e7),
    "opening_users": _one_of(0, 0.5, 1, 3_000.25, 20_000),
    "average_loan": _between(0, 20_000),
    "opening_loans": _between(0, 2e8),
    "opening_principal_receivable": _between(0, 5e6),
    "opening_interest_receivable": _between(0, 5e5),
    "opening_allowance": _between(0, 3e6),
    "opening_payables": _between(0, 1e6),
    "opening_tax_payable": _between(0, 1e6),
    "opening_shares": _between(0, 2e7),
    "share_price": _between(0.01, 30),
    "opening_loss_carryforward": _between(0, 2e6),
    "sigma_gross_margin": _between(0, 20),
    "sigma_ebitda_margin": _between(0, 20),
    "sigma_growth": _between(0, 5),
    "sigma_collection": _between(0, 0.3),
    "gross_margin_range": _pair(-20, 90),
    "ebitda_margin_range": _pair(-20, 90),
    "collection_base": _between(0.5, 1),
    "collection_range": _pair(0, 1),
    "zero_noise": _one_of(*(True, False)),
    "amortisation_rate": _one_of(0.0, 0.01, 0.1, 0.5, 1.0),
    "interest_bearing_share": _between(0, 1),
    "chargeoff_base_annual": _between(0, 0.5),
    "chargeoff_unemployment_slope": _between(0, 1),
    "chargeoff_unemployment_pivot": _between(0, 15),
    "chargeoff_floor": _between(0, 3),
    "receivable_chargeoff_share": _between(0, 1),
    "allowance_on_loans": _between(0, 0.2),
    "allowance_on_receivables": _between(0, 0.5),
    "overhead": _between(0, 2e6),
    "payroll_share_of_opex": _between(0, 1),
    "tax_rate": _between(0, 1),
    "note_term_months": _one_of(1, 2, 3, 7, 12, 24, 100),
    "equity_midpoint": _between(5, 60),
    "equity_scale": _between(0.5, 20),
    "round_decay": _between(0, 1),
    "debt_base": _between(0, 1),
    "debt_sofr_slope": _between(0, 0.5),
    "debt_spread_slope": _between(0, 0.5),
    "debt_spread_pivot": _between(0, 4),
    "debt_range": _pair(0, 1),
    "leverage_threshold": _between(0, 2),
    "leverage_penalty": _between(0, 5),
    "leverage_spread": _between(0, 0.3),
    "fill_range": _pair(0, 1),
    "delay_range": _one_of((1, 1), (1, 2), (2, 9), (3, 3), (1, 60)),
    "max_raise_multiple": _between(0.01, 2),
    "largest_request": _one_of(1e12, 5e7, 1e7),
    "free_refusals": _one_of(0, 1, 3, 20),
    "forced_funding": _outcomes,
    "tool_budget": _one_of(0, 1, 5),
    "cash_tool": _one_of("scalar", "snapshot"),
    "flash": _one_of(*(True, False)),
    "valuation_multiple": _between(0, 20),
    "trailing_months": _one_of(1, 3, 12, 50),
    "tool_charge": _between(0, 20_000),
    "score_of": _one_of("value", "value_added"),
    "growth_column": _one_of("ind_user_growth_monthly", "ind_user_growth_monthly_alt"),
    "history": _one_of("table", "regimes"),
}
