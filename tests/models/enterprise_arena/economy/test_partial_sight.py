"""No command, with any arguments, returns a hidden figure.

Twins are pairs of episodes that differ only in hidden figures; their replies to any command must be
equal. In addition, the replies of ordinary episodes are searched for figures of unclosed months.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from attrs import asdict, evolve
from hypothesis import given
from hypothesis import strategies as st
from support.arena import Seat, document, names, numbers
from support.cases import thinned
from support.examples import examples

from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    BookClosing,
    CheckCashInBank,
    CheckMarketData,
    ConductCashflowProjection,
    FundRaisingRequest,
    Month,
    Pass,
    RecallNotes,
    ReviewFinancialRecords,
    SaveNote,
    VerifyCashPosition,
)
from models.enterprise_arena.lender import Lender
from models.enterprise_arena.macro import Macro, builtin
from models.enterprise_arena.options import SERIES

#: Enough calls a month to read every document.
OPEN = EnterpriseArena(tool_budget=1_000, cash_tool="snapshot", opening_cash=60e6)

# -- odd arguments ---------------------------------------------------------------------------------

WHOLE = st.one_of(st.integers(-5, 140), st.sampled_from([-(10**18), 10**18, 10**9, -1, 131, 132]))
FOLDERS = st.builds(
    "{}/{}_{:02}/{}".format,
    st.sampled_from(
        ["raw", "closings", "RAW", "../raw", "/closings", "raw/.", "", "t0_financials"]
    ),
    st.sampled_from(["2xx0", "2xx1", "2xx9", "2x10", "2015", "*", "..", "2XX0"]),
    st.integers(-1, 13),
    st.sampled_from(
        [
            *("balance_sheet", "trial_balance", "general_ledger", "loan_tape", "bank_statement"),
            *("income_statement_ytd", "cash_flow_ytd", "vendor_invoices", "../balance_sheet"),
            *("*", ""),
        ]
    ),
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
FILES = st.one_of(FOLDERS, TEXT, st.sampled_from(["t0_financials/t0_balance_sheet", "..", "/"]))
TYPES = st.one_of(st.sampled_from(SERIES), st.sampled_from(["vix", "month", "noise", "*"]), TEXT)
LOOK = st.sampled_from(["list", "retrieve", "retrieve", "LIST", "", "../list"])
# Numbers that the action class takes, most of them beyond what the world accepts.
GROWTH = st.one_of(st.none(), st.floats(-1e300, 1e300))
TOOLS = st.one_of(
    st.builds(AnalyzeMarketConditions, TYPES, WHOLE, st.one_of(st.none(), WHOLE)),
    st.builds(CheckMarketData, TYPES, WHOLE, st.one_of(st.none(), WHOLE)),
    st.builds(ReviewFinancialRecords, LOOK, FILES),
    st.builds(AccessFinancialDocs, LOOK, FILES),
    st.builds(ConductCashflowProjection, WHOLE, GROWTH),
    st.sampled_from([VerifyCashPosition(), CheckCashInBank(), SaveNote("x"), RecallNotes()]),
)
QUESTIONS = st.lists(TOOLS, max_size=12)


def everything(seat: Seat) -> Iterator[tuple[Any, Any]]:
    """Yield every document, series and projection, and the tables."""
    for name in names(seat):
        yield name, document(seat, name)
    for name in SERIES:
        yield name, seat.out(AnalyzeMarketConditions(name, 0, 10**6))
    for tool in (VerifyCashPosition(), ConductCashflowProjection(12), RecallNotes()):
        yield tool, seat.out(tool)
    yield "tables", seat.run.model.tables(seat.lender, "cfo")  # type: ignore[attr-defined]


def alike(one: Seat, other: Seat, questions: list[Any]) -> None:
    """Assert that two episodes have equal observations and replies."""
    assert one.month == other.month
    for question in questions:
        assert one.ask(question) == other.ask(question)
    assert list(everything(one)) == list(everything(other))


def together(one: Seat, other: Seat, month: int, actions: dict[int, Any]) -> None:
    """Play two episodes to a month by the same actions, with equal observations."""
    for now in range(month):
        assert one.month == other.month
        for seat in (one, other):
            seat.say(actions.get(now, Pass()))


def thrown(seed: int) -> Random:
    """Return a generator for the test's own choices."""
    return Random(seed)  # noqa: S311 (not a secret)


def actions(dice: Random, months: int, *, closing: bool = True) -> dict[int, Any]:
    """Draw an action for each month."""
    choices = [Pass(), FundRaisingRequest("equity", 1e6 * dice.randint(1, 40))]
    choices += [BookClosing()] if closing else []
    choices += [FundRaisingRequest("debt", 5e6), FundRaisingRequest("bond", -1)]
    return {month: dice.choice(choices) for month in range(months)}


# -- twins -----------------------------------------------------------------------------------------


def another_future(table: Macro, month: int) -> Macro:
    """Reverse all rows after a month, real and anonymised dates included."""
    columns = asdict(table, recurse=False)
    kept = {"month": columns.pop("month")}
    turned = {
        name: column[: month + 1] + tuple(reversed(column[month + 1 :]))
        for name, column in columns.items()
    }
    return Macro(**kept, **turned)


@examples(10)
@given(st.integers(0, 25), st.integers(0, 10**6), QUESTIONS)
def test_no_future_of_a_drawn_history_can_be_seen(
    month: int, seed: int, questions: list[Any]
) -> None:
    """The same for a macro history that is drawn from the seed."""
    model = evolve(OPEN, history="regimes")
    one, other = Seat(model, seed), Seat(model, seed)
    drawn = other.lender
    drawn.macro = another_future(drawn.macro, month)
    drawn.growth = drawn.macro.ind_user_growth_monthly
    together(one, other, month, actions(thrown(seed), month))
    alike(one, other, questions)


@examples(25)
@given(st.integers(0, 25), st.integers(0, 10**6), QUESTIONS)
def test_no_draw_of_months_to_come_can_be_seen(month: int, seed: int, questions: list[Any]) -> None:
    """Noise and the draws for requests are hidden from the present month on."""
    one, other = Seat(OPEN, seed), Seat(OPEN, seed)
    for hidden in (other.lender.noise, other.lender.draws):
        hidden[month:] = [[value / 2 for value in row] for row in reversed(hidden[month:])]
    together(one, other, month, actions(thrown(seed), month))
    alike(one, other, questions)


@examples(25)
@given(
    st.integers(0, 5),
    st.integers(0, 10**6),
    st.sampled_from(["equity", "debt"]),
    st.tuples(st.booleans(), st.floats(0.7, 1), st.integers(6, 20)),
    QUESTIONS,
)
def test_nothing_of_a_request_under_way_can_be_seen(
    month: int, seed: int, kind: str, outcome: tuple[Any, ...], questions: list[Any]
) -> None:
    """Whether money arrives, how much and when are hidden."""
    asked = {0: FundRaisingRequest(kind, 20e6)}
    sure = evolve(OPEN, forced_funding=((0, True, 1.0, 6),))
    one, other = Seat(sure, seed), Seat(evolve(OPEN, forced_funding=((0, *outcome),)), seed)
    together(one, other, month, asked)
    alike(one, other, questions)


def unlike(month: int, seed: int, played: dict[int, Any]) -> tuple[Seat, Seat]:
    """Play twins to a month; in the month before, the margins of the second differ.

    Both margins change equally, so that payroll is the same and only payables differ:
    cash shows it a month later.
    """
    one, other = Seat(OPEN, seed), Seat(OPEN, seed)
    noise = other.lender.noise[month - 1]
    noise[0], noise[1] = noise[0] + 4, noise[1] + 4
    together(one, other, month, played)
    owed = [seat.lender.books.book.balance("2000") for seat in (one, other)]
    assert owed[0] != owed[1]
    assert one.lender.cash == other.lender.cash
    return one, other


@examples(25)
@given(st.integers(1, 25), st.integers(0, 10**6), QUESTIONS)
def test_nothing_of_an_unclosed_month_can_be_seen(
    month: int, seed: int, questions: list[Any]
) -> None:
    """Twins with another margin in the last month give equal replies, with any earlier closings."""
    played = {**actions(thrown(seed), month), month - 1: Pass()}
    alike(*unlike(month, seed, played), questions)


def test_the_same_twins_differ_once_the_month_is_closed() -> None:
    """After a closing the replies differ, so the test above can fail."""
    one, other = unlike(9, 1, {8: BookClosing()})
    first, second = (dict(everything(seat)) for seat in (one, other))
    differ = {name for name in first if first[name] != second[name]}
    assert {name for name in differ if isinstance(name, str)} == {
        "closings/2xx0_09/income_statement_ytd",
        "closings/2xx0_09/balance_sheet",
        "closings/2xx0_09/trial_balance",
        "closings/2xx0_09/general_ledger",
        "tables",
    }
    assert ConductCashflowProjection(12) in differ


# -- the search ------------------------------------------------------------------------------------


def hidden_figures(lender: Lender) -> dict[str, float]:
    """Return the balances and flows of the months after the last closing, dollars by name.

    Payables and taxes become payments in the next month's bank statement, so that only those of the
    last month are hidden; zeros say nothing.
    """
    now, book = lender.month, lender.books.book
    closed = lender.closed
    found: dict[str, float] = {}
    for month in range(closed[-1] + 1 if closed else 0, now):
        at = book.balances(month)
        found |= {f"{code} at {month}": at[code] / 100 for code in ("1110", "1120", "1190")}
        if month == now - 1:
            found |= {f"{code} at {month}": at[code] / 100 for code in ("2000", "2100")}
        earned = lender.revenue_to_date[month]
        before = lender.revenue_to_date[month - 1] if month % 12 else 0
        found |= {
            f"revenue to {month}": earned / 100,
            f"revenue of {month}": (earned - before) / 100,
        }
        equity = sum(at[code] for code in book.accounts if code < "3") / 100
        found |= {f"equity at {month}": equity}
        found |= {f"leverage at {month}": -at["2200"] / 100 / equity}
        found |= {
            f"net income to {month}": sum(at[code] for code in book.accounts if code > "4") / 100
        }
        found |= {f"margin of {month}": lender.indicators[month].ebitda_margin}
        found |= {f"gross margin of {month}": lender.indicators[month].gross_margin}
        found |= {f"growth of {month}": lender.indicators[month].growth}
    for number, event in enumerate(lender.events):
        for name in ("p_macro", "m_company", "p_adj"):
            if name in event and 0 < event[name] < 1:
                found[f"{name} of {number}"] = event[name]
    if lender.request is not None:
        found["received"] = lender.request.received / 100
    return {name: figure for name, figure in found.items() if abs(figure) > 1e-9}


def reaches(hidden: dict[str, float], reply: Any) -> list[str]:
    """Return the names of hidden figures that are in a reply, with either sign, to the cent."""
    shown = {round(abs(number), 2) for number in numbers(reply)}
    exact = {abs(number) for number in numbers(reply)}
    return [
        name
        for name, figure in hidden.items()
        if (abs(figure) in exact if abs(figure) < 1e3 else round(abs(figure), 2) in shown)
    ]


@pytest.mark.parametrize("seed", thinned(range(12), 4))
def test_no_answer_holds_a_figure_of_an_unclosed_month(seed: int) -> None:
    """Every document, series, projection and sheet of random months is searched."""
    dice = thrown(seed)
    seat = Seat(OPEN, seed)
    played = actions(dice, 60)
    for month in sorted(dice.sample(range(1, 60), 4)):
        seat.to(month, played)
        hidden = hidden_figures(seat.lender)
        for asked, reply in [("header", plain(seat.month)), *everything(seat)]:
            assert reaches(hidden, reply) == [], asked


def plain(month: Month | None) -> Any:
    """Return a header as plain values."""
    assert month is not None
    return asdict(month)


def texts(value: Any) -> Iterator[str]:
    """Yield every text in plain values, keys included."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts(each)
    elif isinstance(value, str):
        yield value


def test_no_real_date_is_shown() -> None:
    """No text contains a real year."""
    seat = Seat(OPEN, 4).to(27, {5: BookClosing(), 25: BookClosing()})
    shown = [str(asked) for asked, _ in everything(seat)]
    shown += [text for _, answer in everything(seat) for text in texts(answer)]
    assert len(shown) > 1_000
    real = {date[:4] for date in builtin().date}
    assert [text for text in shown if any(year in text for year in real)] == []


def test_the_search_finds_what_is_shown() -> None:
    """After a closing the same figures are in the documents, so the search can fail."""
    seat = Seat(OPEN, 2).to(8)
    hidden = hidden_figures(seat.lender)
    closed = Seat(OPEN, 2).to(8, {7: BookClosing()})
    found = {name for _, reply in everything(closed) for name in reaches(hidden, reply)}
    assert {"1110 at 7", "1120 at 7", "1190 at 7", "2000 at 7", "revenue to 7"} <= found
    assert {"equity at 7", "net income to 7", "revenue of 3"} <= found
