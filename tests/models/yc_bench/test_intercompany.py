"""The company in a group: its calendar, and cash that links bring and take between its events."""

from collections.abc import Callable
from typing import Any

import pytest
from support.holdings import cash_of, intercompany, pay_cash, receive_cash
from support.yc_links import DAY, HOUR, Link, LinkedRun

from desim.episodes.lineup import resolve
from ledgers.consolidation import ACCOUNT, KIND
from models.yc_bench import YCBench
from models.yc_bench.actions import EndTurn, FinanceLedger
from models.yc_bench.report import founder_tables

#: A tick of every fourteenth day at which no event of the company falls: most are at night.
TICKS = [at * 14 * DAY + 11 * HOUR + 17 for at in range(26)]


def bot(model: YCBench, seed: int, rule: str = "published_greedy") -> Callable[[Any], Any]:
    """Return the decisions of a rule."""
    decide: Callable[[Any], Any] = resolve(model, rule, seed).policies["founder"].decide
    return decide


def played(
    model: YCBench, seed: int, links: dict[int, Link] | None = None, rule: str = "published_greedy"
) -> LinkedRun:
    """Let a rule play the year."""
    linked = LinkedRun(model, seed, links)
    linked.play(bot(model, seed, rule))
    return linked


def receive(model: YCBench, cents: int, partner: str = "bank") -> Link:
    """Return a link that brings cash."""
    return lambda company: receive_cash(model, company, cents, partner)


def idle(_: Any) -> EndTurn:
    """Do nothing: the year passes."""
    return EndTurn()


# -- the calendar ----------------------------------------------------------------------------------


# -- cash between events ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "rule"),
    [
        ("default", "learning_focus"),
        ("direct", "published_greedy"),
        ("paper", "published_greedy"),
        pytest.param("paper", "learning_focus", marks=pytest.mark.slow),
    ],
)
def test_cash_between_events_changes_nothing_but_cash(preset: str, rule: str) -> None:
    """Commands, progress, plans, trust and all other entries are those of the year without it."""
    model = YCBench.preset(preset, initial_funds_cents=100_000_000)
    alone = played(model, 1, rule=rule)

    def swing(company: Any) -> None:
        receive_cash(model, company, 700, "bank")
        pay_cash(model, company, 400, "plant")

    linked = played(model, 1, dict.fromkeys(TICKS, swing), rule)
    for ours, theirs in zip(linked.states, alone.states, strict=True):
        gained = ours.pop("funds_cents") - theirs["funds_cents"]
        assert (gained % 300, ours) == (0, {k: v for k, v in theirs.items() if k != "funds_cents"})
    acted = len(linked.company.accounts.book.journal) - len(alone.company.accounts.book.journal)
    assert acted == 2 * len(TICKS)
    own = [entry for entry in linked.company.accounts.book.journal if entry.kind != KIND]
    assert own == list(alone.company.accounts.book.journal)
    assert intercompany(model, linked.company) == {"bank": -700 * 26, "plant": 400 * 26}
    assert cash_of(model, linked.company) == cash_of(model, alone.company) + 300 * 26
    ours, theirs = linked.run.result(), alone.run.result()
    assert (ours.ended, ours.decisions) == (theirs.ended, theirs.decisions)
    assert ours.score == pytest.approx(theirs.score + 3 * 26)
    money = ("final_funds_cents", "funds_by_month_cents", "episodes")
    for name in theirs.metrics.keys() - set(money):
        assert ours.metrics[name] == theirs.metrics[name], name


# -- what the founder sees -------------------------------------------------------------------------


def test_the_founder_sees_group_cash_in_funds_and_in_the_ledger() -> None:
    """Listed entries and the capital still sum to the funds, in reports and tables."""
    model = YCBench()
    linked = LinkedRun(model, 1)
    receive_cash(model, linked.company, 900, "bank")
    pay_cash(model, linked.company, 150, "plant")
    actions = iter([FinanceLedger(), FinanceLedger(category="intercompany"), FinanceLedger()])
    last: list[Any] = []

    def look(desk: Any) -> Any:
        last.append(desk)
        return next(actions, EndTurn())

    linked.play(look)
    assert [desk.funds_cents for desk in last[1:4]] == 3 * [20_000_750]
    assert last[4].status.funds_cents == 20_000_750
    replies = [desk.reply.out for desk in last[1:4]]
    assert replies[0] == replies[1] == replies[2]
    assert replies[0]["total_amount_cents"] == 750
    assert [
        (row["category"], row["amount_cents"], row["ref_type"], row["ref_id"])
        for row in replies[0]["entries"]
    ] == [
        ("intercompany", 900, "partner", "<partner:bank>"),
        ("intercompany", -150, "partner", "<partner:plant>"),
    ]
    tables = founder_tables(linked.company)
    assert {"category": "intercompany", "amount_cents": 750} in tables["funds"]
    assert tables["funds"][-1]["amount_cents"] == linked.company.funds_cents
    assert tables["funds"][0] == {"category": "founders' capital", "amount_cents": 20_000_000}


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cents", "sentence"),
    [
        (20_000_001, "20000001 cents were to be paid to bank; the cash is 20000000 cents"),
        (0, "0 cents were given"),
        (1.5, "1.5 cents were given"),
    ],
)
def test_a_payment_that_is_refused_changes_nothing(cents: Any, sentence: str) -> None:
    """More than the funds, or no amount."""
    model = YCBench()
    company = LinkedRun(model, 1).company
    with pytest.raises(ValueError, match=sentence):
        pay_cash(model, company, cents, "bank")
    assert (company.funds_cents, intercompany(model, company)) == (20_000_000, {})
    assert ACCOUNT not in company.accounts.book.accounts
    pay_cash(model, company, 20_000_000, "bank")
    assert (cash_of(model, company), company.bankrupt) == (0, False)


# -- bankruptcy ------------------------------------------------------------------------------------


def test_cash_in_time_prevents_a_bankruptcy() -> None:
    """An idle company, bankrupt in July, reaches the horizon on the group's money."""
    model = YCBench(idle_limit=1)
    alone = LinkedRun(model, 1)
    alone.play(idle)
    saved = LinkedRun(model, 1, {170 * DAY + 3: receive(model, 22_000_000)})
    saved.play(idle)
    ours, theirs = saved.run.result(), alone.run.result()
    assert (theirs.ended, theirs.metrics["bankrupt_on"]) == ("bankruptcy", "2025-07-01T09:00:00")
    assert (ours.ended, ours.metrics["bankrupt_on"]) == ("horizon_end", None)
    assert ours.metrics["final_funds_cents"] == 42_000_000 - 11 * 3_800_503


# -- several episodes ------------------------------------------------------------------------------


def test_balances_of_all_episodes_are_summed() -> None:
    """A bankrupt company still owes its partners; the one that opens after it has its own cash."""
    model = YCBench(episodes=2, idle_limit=1)
    links = {DAY: receive(model, 300), 2 * DAY: receive(model, 50, "plant")}
    # 181 days to the bankruptcy of the first company, 10 of the second.
    links[191 * DAY] = lambda company: pay_cash(model, company, 1_000, "bank")
    linked = LinkedRun(model, 1, links)
    linked.play(idle)
    company = linked.company
    first, second = company.ledgers
    assert intercompany(model, company) == {"bank": 700, "plant": -50}
    assert (first.balance(ACCOUNT), second.balance(ACCOUNT)) == (-350, 1_000)
    assert cash_of(model, company) == second.balance("cash") == 20_000_000 - 1_000 - 6 * 3_800_503
    assert first.balance("cash") == 20_000_000 + 350 - 6 * 3_800_503
    ended = [each["final_funds_cents"] for each in linked.run.result().metrics["episodes"]]
    assert ended == [first.balance("cash"), second.balance("cash")]
