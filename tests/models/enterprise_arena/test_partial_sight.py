"""Nothing that must not be seen can be reached: neither by a look nor by odd arguments.

Twins are episodes that differ only in what is hidden; whatever is asked, they answer alike. And
answers of ordinary episodes are searched for the figures of months that are not closed.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from attrs import asdict, evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from seat import Seat, document, names, numbers

from models.enterprise_arena import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    BookClosing,
    CheckCashInBank,
    CheckMarketData,
    ConductCashflowProjection,
    EnterpriseArena,
    FundRaisingRequest,
    Macro,
    Month,
    Pass,
    RecallNotes,
    ReviewFinancialRecords,
    SaveNote,
    VerifyCashPosition,
)
from models.enterprise_arena.company import Company
from models.enterprise_arena.documents import closed_months
from models.enterprise_arena.macro import builtin
from models.enterprise_arena.market import SERIES

#: Enough calls a month to read everything.
OPEN = EnterpriseArena(tool_budget=1_000, cash_tool="snapshot", opening_cash=60e6)

# -- odd questions ---------------------------------------------------------------------------------

WHOLE = st.one_of(st.integers(-5, 140), st.sampled_from([-(2**63), 2**63 - 1, 10**9, -1, 131, 132]))
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
GROWTH = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
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
    """Ask all there is to be asked: every document, series, projection and sheet."""
    for name in names(seat):
        yield name, document(seat, name)
    for name in SERIES:
        yield name, seat.out(AnalyzeMarketConditions(name, 0, 10**6))
    for tool in (VerifyCashPosition(), ConductCashflowProjection(12), RecallNotes()):
        yield tool, seat.out(tool)
    yield "sheets", seat.run.model.sheets(seat.company, "cfo")  # type: ignore[attr-defined]


def alike(one: Seat, other: Seat, questions: list[Any]) -> None:
    """Claim that two seats see the same month and are answered the same."""
    assert one.month == other.month
    for question in questions:
        assert one.ask(question) == other.ask(question)
    assert list(everything(one)) == list(everything(other))


def together(one: Seat, other: Seat, month: int, actions: dict[int, Any]) -> None:
    """Take two seats to a month by the same actions, alike all the way."""
    for now in range(month):
        assert one.month == other.month
        for seat in (one, other):
            seat.say(actions.get(now, Pass()))


def thrown(seed: int) -> Random:
    """Return the test's own dice."""
    return Random(seed)  # noqa: S311 (not a secret)


def actions(dice: Random, months: int, *, closing: bool = True) -> dict[int, Any]:
    """Draw an action for each month."""
    choices = [Pass(), FundRaisingRequest("equity", 1e6 * dice.randint(1, 40))]
    choices += [BookClosing()] if closing else []
    choices += [FundRaisingRequest("debt", 5e6), FundRaisingRequest("bond", -1)]
    return {month: dice.choice(choices) for month in range(months)}


# -- twins -----------------------------------------------------------------------------------------


def another_future(table: Macro, month: int) -> Macro:
    """Turn all that comes after a month around, real and anonymised dates included."""
    columns = asdict(table, recurse=False)
    kept = {"month": columns.pop("month")}
    turned = {
        name: column[: month + 1] + tuple(reversed(column[month + 1 :]))
        for name, column in columns.items()
    }
    return Macro(**kept, **turned)


@settings(max_examples=25)
@given(st.integers(0, 25), st.integers(0, 10**6), st.sampled_from(["", "snapshot"]), QUESTIONS)
@example(0, 0, "", [AnalyzeMarketConditions("VIX", 0, 131), AnalyzeMarketConditions("VIX", 1)])
def test_no_future_of_the_outside_world_can_be_seen(
    month: int, seed: int, profile: str, questions: list[Any]
) -> None:
    """Two tables that part after the present month make no difference until they do."""
    game = evolve(OPEN, growth_column=EnterpriseArena.preset(profile).growth_column)
    twin = evolve(game, macro=another_future(builtin(), month))
    assert twin.table != game.table
    one, other = Seat(game, seed), Seat(twin, seed)
    together(one, other, month, actions(thrown(seed), month))
    alike(one, other, questions)


@settings(max_examples=10)
@given(st.integers(0, 25), st.integers(0, 10**6), QUESTIONS)
def test_no_future_of_a_drawn_history_can_be_seen(
    month: int, seed: int, questions: list[Any]
) -> None:
    """The same where the path of the outside world comes from the seed."""
    game = evolve(OPEN, history="regimes")
    one, other = Seat(game, seed), Seat(game, seed)
    drawn = other.company
    drawn.macro = another_future(drawn.macro, month)
    drawn.growth = drawn.macro.ind_user_growth_monthly
    together(one, other, month, actions(thrown(seed), month))
    alike(one, other, questions)


@settings(max_examples=25)
@given(st.integers(0, 25), st.integers(0, 10**6), QUESTIONS)
def test_no_draw_of_months_to_come_can_be_seen(month: int, seed: int, questions: list[Any]) -> None:
    """Noise from the present month on, and the luck of requests from it on, are hidden."""
    one, other = Seat(OPEN, seed), Seat(OPEN, seed)
    for hidden in (other.company.noise, other.company.draws):
        hidden[month:] = [[value / 2 for value in row] for row in reversed(hidden[month:])]
    together(one, other, month, actions(thrown(seed), month))
    alike(one, other, questions)


@settings(max_examples=25)
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
    """Neither whether money comes, nor how much, nor when."""
    asked = {0: FundRaisingRequest(kind, 20e6)}
    sure = evolve(OPEN, forced_funding=((0, True, 1.0, 6),))
    one, other = Seat(sure, seed), Seat(evolve(OPEN, forced_funding=((0, *outcome),)), seed)
    together(one, other, month, asked)
    alike(one, other, questions)


def unlike(month: int, seed: int, played: dict[int, Any]) -> tuple[Seat, Seat]:
    """Take twins to a month before which the margins of the second were other ones.

    Both margins move by as much, so that pay is the same and only what vendors are owed differs:
    cash knows of it a month later.
    """
    one, other = Seat(OPEN, seed), Seat(OPEN, seed)
    noise = other.company.noise[month - 1]
    noise[0], noise[1] = noise[0] + 4, noise[1] + 4
    together(one, other, month, played)
    owed = [seat.company.books.book.balance("2000") for seat in (one, other)]
    assert owed[0] != owed[1]
    assert one.company.cash == other.company.cash
    return one, other


@settings(max_examples=25)
@given(st.integers(1, 25), st.integers(0, 10**6), QUESTIONS)
def test_nothing_of_an_unclosed_month_can_be_seen(
    month: int, seed: int, questions: list[Any]
) -> None:
    """Twins whose last month earned another margin answer alike, whatever was closed before."""
    played = {**actions(thrown(seed), month), month - 1: Pass()}
    alike(*unlike(month, seed, played), questions)


def test_the_same_twins_differ_once_the_month_is_closed() -> None:
    """A closing is what makes the difference: the test above could fail."""
    one, other = unlike(9, 1, {8: BookClosing()})
    told = [dict(everything(seat)) for seat in (one, other)]
    differ = {name for name in told[0] if told[0][name] != told[1][name]}
    assert {name for name in differ if isinstance(name, str)} == {
        "closings/2xx0_09/income_statement_ytd",
        "closings/2xx0_09/balance_sheet",
        "closings/2xx0_09/trial_balance",
        "closings/2xx0_09/general_ledger",
        "sheets",
    }
    assert ConductCashflowProjection(12) in differ


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.lists(QUESTIONS, min_size=4, max_size=4))
def test_an_episode_without_closings_never_tells_the_accruals(
    seed: int, questions: list[list[Any]]
) -> None:
    """Twins with another allowance, hence other losses and equity, look alike for 40 months."""
    game = evolve(OPEN, tax_rate=0.0)
    twin = evolve(game, allowance_on_loans=0.3, allowance_on_receivables=0.6)
    one, other = Seat(game, seed), Seat(twin, seed)
    played = {month: Pass() for month in range(40)}
    played |= dict.fromkeys((2, 14, 26), FundRaisingRequest("equity", 10e6))
    for part in questions:
        now = one.month
        assert now is not None
        until = now.current_month + 10
        together_from(one, other, until, played)
        alike(one, other, part)
    assert one.company.books.equity != other.company.books.equity


def together_from(one: Seat, other: Seat, month: int, played: dict[int, Any]) -> None:
    """Go on with two seats up to a month, alike all the way."""
    while one.month is not None and one.month.current_month < month:
        action = played[one.month.current_month]
        assert one.say(action) == other.say(action)


# -- the search ------------------------------------------------------------------------------------


def hidden_figures(company: Company) -> dict[str, float]:
    """Name what the books hold of the months after the last closing, dollars.

    Payables and taxes become payments in the next month's bank statement, so that only those of the
    last month are hidden; zeros say nothing.
    """
    now, book = company.month, company.books.book
    closed = closed_months(company)
    found: dict[str, float] = {}
    for month in range(closed[-1] + 1 if closed else 0, now):
        at = book.balances(month)
        found |= {f"{code} at {month}": at[code] / 100 for code in ("1110", "1120", "1190")}
        if month == now - 1:
            found |= {f"{code} at {month}": at[code] / 100 for code in ("2000", "2100")}
        earned = company.revenue_to_date[month]
        before = company.revenue_to_date[month - 1] if month % 12 else 0
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
        found |= {f"margin of {month}": company.indicators[month].ebitda_margin}
        found |= {f"gross margin of {month}": company.indicators[month].gross_margin}
        found |= {f"growth of {month}": company.indicators[month].growth}
    for number, event in enumerate(company.events):
        for name in ("p_macro", "m_company", "p_adj"):
            if name in event and 0 < event[name] < 1:
                found[f"{name} of {number}"] = event[name]
    if company.request is not None:
        found["received"] = company.request.received / 100
    return {name: figure for name, figure in found.items() if abs(figure) > 1e-9}


def reaches(hidden: dict[str, float], told: Any) -> list[str]:
    """Name the hidden figures that stand in an answer, with either sign, to the cent."""
    shown = {round(abs(number), 2) for number in numbers(told)}
    exact = {abs(number) for number in numbers(told)}
    return [
        name
        for name, figure in hidden.items()
        if (abs(figure) in exact if abs(figure) < 1e3 else round(abs(figure), 2) in shown)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_no_answer_holds_a_figure_of_an_unclosed_month(seed: int) -> None:
    """Every document, series, projection and sheet of random months is searched."""
    dice = thrown(seed)
    seat = Seat(OPEN, seed)
    played = actions(dice, 60)
    for month in sorted(dice.sample(range(1, 60), 4)):
        seat.to(month, played)
        hidden = hidden_figures(seat.company)
        for asked, told in [("header", plain(seat.month)), *everything(seat)]:
            assert reaches(hidden, told) == [], asked


def plain(month: Month | None) -> Any:
    """Return a header as plain values."""
    assert month is not None
    return asdict(month)


def texts(value: Any) -> Iterator[str]:
    """Go through every text in plain values, names included."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts(each)
    elif isinstance(value, str):
        yield value


def test_no_real_date_is_told() -> None:
    """Neither a year nor a month of the real world stands in any text."""
    seat = Seat(OPEN, 4).to(27, {5: BookClosing(), 25: BookClosing()})
    told = [str(asked) for asked, _ in everything(seat)]
    told += [text for _, answer in everything(seat) for text in texts(answer)]
    assert len(told) > 1_000
    real = {date[:4] for date in builtin().date}
    assert [text for text in told if any(year in text for year in real)] == []


def test_the_search_finds_what_is_shown() -> None:
    """After a closing the very same figures stand in the documents: the search could fail."""
    seat = Seat(OPEN, 2).to(8)
    hidden = hidden_figures(seat.company)
    closed = Seat(OPEN, 2).to(8, {7: BookClosing()})
    found = {name for _, told in everything(closed) for name in reaches(hidden, told)}
    assert {"1110 at 7", "1120 at 7", "1190 at 7", "2000 at 7", "revenue to 7"} <= found
    assert {"equity at 7", "net income to 7", "revenue of 3"} <= found


def test_a_month_is_not_readable_before_it_is_over() -> None:
    """Closed and asked about at once, as a page may do while the world stands still."""
    seat = Seat(OPEN)
    seat.run.answer(seat._decision, BookClosing())
    seat.company.closings.append(0)
    assert closed_months(seat.company) == []
