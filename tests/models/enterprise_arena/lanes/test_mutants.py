"""The test of equality notices a changed rule, of the episode or of the lanes."""

import sys
from types import ModuleType

import pytest
from support.arena_lanes import OFFICERS, random_world
from support.lanes import lanes_differ
from support.mutants import mutant

from models.enterprise_arena import processes, score
from models.enterprise_arena.accounting import books, operations
from models.enterprise_arena.lanes import (
    lane_commands,
    lane_funding,
    lane_months,
    lane_score,
    notes_owed,
    operated_months,
)
from models.enterprise_arena.officer import commands, desk, funding

#: Changed rules of the episodes: module, text, changed text.
_RULES = {
    "noise of gross margin dropped": (
        operations,
        "ind_gross_margin[month] + e1",
        "ind_gross_margin[month]",
    ),
    "EBITDA above gross margin": (operations, "min(ebitda, gross)", "ebitda"),
    "noise of growth dropped": (operations, "lender.growth[month] + e3", "lender.growth[month]"),
    "collection rate not clipped": (
        operations,
        "params.collection_base + e4, params.collection_range",
        "params.collection_base + e4, (-9.0, 9.0)",
    ),
    "negative growth repaid": (
        operations,
        "max(0.0, growth / 100 * lender.users)",
        "(growth / 100 * lender.users)",
    ),
    "rate not blended": (operations, "rate * added) / after", "0 * added) / after"),
    "borrowers of zero": (operations, "max(min(1.0, before), before", "max(0.0, before"),
    "overhead of nothing": (operations, "lender.params.overhead + earned", "earned"),
    "payroll of all": (operations, "expense * lender.params.payroll_share_of_opex", "expense"),
    "payables of this month": (
        operations,
        "books.pay_vendors(month, lender.payables_due)",
        "books.pay_vendors(month, -books.held[PAYABLES])",
    ),
    "interest of thirteen months": (operations, "loan.rate / 12 for", "loan.rate / 13 for"),
    "interest truncated": (operations, "round(interest)", "int(interest)"),
    "interest summed one by one": (
        operations,
        "fsum([loan.balance * loan.rate / 12 for loan in loans])",
        "sum([round(loan.balance * loan.rate / 12) for loan in loans])",
    ),
    "instalments a month late": (
        operations,
        "month - loan.drawn, term",
        "month - loan.drawn - 1, term",
    ),
    "losses not carried": (
        operations,
        "lender.loss_carryforward -= income",
        "lender.loss_carryforward -= 0",
    ),
    "losses not used": (
        operations,
        "lender.loss_carryforward -= used",
        "lender.loss_carryforward -= 0",
    ),
    "tax before losses": (operations, "(income - used)", "income"),
    "tax of last month unpaid": (operations, "books.pay_tax(month)", "None"),
    "chargeoff before collection": (
        books,
        "cents(dollars(self.held[LOANS]) * yearly / 12)",
        "cents(dollars(self.held[LOANS]) * yearly / 11)",
    ),
    "uncollected from cents": (
        books,
        "return paid, due - dollars(paid)",
        "return paid, dollars(self.held[account] - paid)",
    ),
    "billed after revenue": (
        books,
        "cents(loans * rate), cents(loans * yearly / 12)",
        "cents(loans * rate), cents((loans - loans * rate) * yearly / 12)",
    ),
    "provision on loans alone": (books, " + on_receivables * dollars(billed)", ""),
    "solvency of one cent": (
        processes,
        "        if lender.cash < 0:",
        "        if lender.cash < 1_000_000_00:",
    ),
    "last cash not tested": (processes, "BANKRUPT if lender.cash < 0 else SURVIVED", "SURVIVED"),
    "tools end the month": (
        commands,
        "            lender.reply = call(lender, command)\n            return False",
        "            lender.reply = call(lender, command)\n            return True",
    ),
    "one free refusal more": (
        commands,
        "lender.refusals > lender.params",
        "lender.refusals - 1 > lender.params",
    ),
    "budget of one call more": (
        commands,
        "lender.calls[-1] >= budget",
        "lender.calls[-1] > budget",
    ),
    "no decay of odds": (funding, "params.round_decay**lender.rounds", "1.0"),
    "leverage below the threshold": (funding, "max(0.0, leverage - terms", "(leverage - terms"),
    "penalty below zero": (
        funding,
        "max(0.0, 1 - terms.leverage_penalty",
        "abs(1 - terms.leverage_penalty",
    ),
    "spread on all leverage": (
        funding,
        "max(0.0, lender.leverage - params.leverage_threshold)",
        "lender.leverage",
    ),
    "rate after the draw": (
        funding,
        "    rate, received = contract_rate(lender), request.received\n",
        "    received = request.received\n    rate = contract_rate(lender) + 1e-12\n",
    ),
    "forced outcome ignored": (funding, "if month in lender.forced:", "if False:"),
    "cap ignored": (
        funding,
        "return received if most is None else min(received, most)",
        "return received",
    ),
    "delay of one month more": (
        funding,
        "int((latest - soonest + 1) * wait)",
        "int((latest - soonest + 2) * wait)",
    ),
    "fill from the lowest": (funding, "low + (high - low) * share", "high * share"),
    "largest request refused": (
        funding,
        "0 < amount <= params.largest_request",
        "0 < amount < params.largest_request",
    ),
    "second request accepted": (funding, "    if lender.slot.count:\n        return PENDING\n", ""),
    "rounds not counted": (funding, "lender.rounds += 1", "lender.rounds += 0"),
    "users truncated": (desk, "round(lender.users)", "int(lender.users)"),
    "rate to five digits": (desk, "round(lender.lending_rate, 6)", "round(lender.lending_rate, 5)"),
    "flow of two months": (desk, "at in (last, last - 1)", "at in (last, last - 2)"),
    "value of the bankrupt": (score, "if lender.world.ended != SURVIVED:", "if False:"),
    "trailing a month more": (
        score,
        "last - lender.params.trailing_months + 1",
        "last - lender.params.trailing_months",
    ),
    "calls free": (score, "worth - params.tool_charge * lender.tool_calls", "worth"),
}

#: Changed rules of the lanes.
_ARRAYS = {
    "growth repaid": (
        operated_months,
        "np.maximum(0.0, growth / 100 * self.users)",
        "(growth / 100 * self.users)",
    ),
    "payables of this month": (
        operated_months,
        "        due = self.payables\n",
        "        due = self.payables * 0\n",
    ),
    "revenue after billing": (
        operated_months,
        "cents(loans * self.lending_rate / 12)",
        "cents((loans - billed / 100) * self.lending_rate / 12)",
    ),
    "allowance kept": (operated_months, "self.allowance = -required", "pass"),
    "vendors rounded apart": (
        operated_months,
        "cost + (cents(expense) - payroll)",
        "cost + cents(expense - payroll / 100)",
    ),
    "instalment of the last month": (notes_owed, "month >= notes.last", "month > notes.last"),
    "place taken twice": (
        notes_owed,
        "free = owed[:, lanes] == 0",
        "free = owed[:, lanes] >= 0",
    ),
    "tax of last month unpaid": (lane_months, " - money.tax\n", "\n"),
    "losses kept": (lane_months, "np.maximum(-taxable, 0.0)", "money.losses"),
    "bankrupt at zero": (
        lane_months,
        "short = money.cash < 0",
        "short = money.cash < 1_000_000_00",
    ),
    "paid to the ended": (lane_funding, "& (state.ended == RUNNING)", ""),
    "declined money arrives": (lane_funding, "wins = due & request.succeeds", "wins = due"),
    "no decay of odds": (lane_funding, "* terms.decay[state.tallies.equity[rows]]", ""),
    "refusals free": (
        lane_commands,
        "refused & (refusals <= terms.params.free_refusals)",
        "refused & (refusals <= 1 + terms.params.free_refusals)",
    ),
    "value of the bankrupt": (
        lane_score,
        "np.where(state.ended == SURVIVING, worth, 0.0)",
        "worth",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", _RULES)
def test_a_changed_rule_of_the_episode_is_noticed(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the named rules."""
    plant(monkeypatch, *_RULES[rule], lanes=False)
    assert noticed()


@pytest.mark.slow
@pytest.mark.parametrize("rule", _ARRAYS)
def test_a_changed_rule_of_the_lanes_is_noticed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the named rules."""
    plant(monkeypatch, *_ARRAYS[rule], lanes=True)
    assert noticed()


@pytest.mark.slow
def test_copies_without_a_change_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tests notice the change and not the copy."""
    plant(monkeypatch, operations, "fsum([", "fsum( [", lanes=False)
    plant(monkeypatch, lane_months, "short = money", "short =  money", lanes=True)
    assert not noticed(10)


def noticed(most: int = 60) -> bool:
    """Return whether one of some random worlds differs between lanes and `play`, or fails."""
    return any(differs(number, officer) for number in range(most) for officer in OFFICERS)


def differs(number: int, officer: str) -> bool:
    """Return whether a world differs, or a changed rule fails in it."""
    try:
        return lanes_differ(random_world(number, 30), OFFICERS[officer], (number, 1)) != ""
    except Exception:  # noqa: BLE001 (whatever a changed rule raises)
        return True


def plant(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, rule: str, changed: str, *, lanes: bool
) -> None:
    """Put a changed copy of a module in its place, in the modules of the lanes or in the others."""
    copy = mutant(module, rule, changed)
    before = {id(value): name for name, value in vars(module).items() if callable(value)}
    # The others hold the module itself, or what they have imported from it.
    before[id(module)] = ""
    for name, holder in [*sys.modules.items()]:
        if not name.startswith("models.enterprise_arena") or (".lanes" in name) != lanes:
            continue
        for attribute, value in [*vars(holder).items()]:
            found = before.get(id(value))
            if found is not None:
                monkeypatch.setattr(holder, attribute, vars(copy)[found] if found else copy)
