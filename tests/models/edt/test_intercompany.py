"""The firm in a group: months, opening cash, cash of partners, costs that wait for cash."""

from collections import Counter

import pytest
from attrs import evolve
from support.edt_firms import (
    BEHIND,
    answered,
    changed_firm,
    linked,
    played_linked,
    project,
    small_firm,
)
from support.edt_histories import series
from support.edt_stepping import dice, random_scenario
from support.holdings import cash_of, intercompany, pay_cash, receive_cash
from support.series import series_of

from desim import Run, play
from ledgers.book import Book, WrongAmount
from ledgers.consolidation import NotEnoughCash
from models.edt import EnterpriseDigitalTwin, Scenario

#: One consultant, work for three steps: 1,000 are billed in the steps 2, 3 and 4, and paid in 4, 5
#: and 6; every step costs 150.
FIRM = small_firm(project("P", 3.0))


def book_of(run: Run) -> Book:
    """The firm's book."""
    book: Book = run.state.controlling.book
    return book


def entries(book: Book) -> list[tuple[int, str, dict[str, int]]]:
    """The journal as plain values."""
    return [(entry.time, entry.text, entry.amounts) for entry in book.journal]


# -- months ----------------------------------------------------------------------------------------


# -- cash when it is read --------------------------------------------------------------------------


def test_cash_is_that_of_the_steps_that_are_over_whenever_it_is_read() -> None:
    """Random firms, agents in any order, read behind and ahead of the turns of every step.

    The book is read early, so that entries are posted in other portions; neither they nor the
    result change.
    """
    draw = dice(11)
    for number in range(150):
        game = EnterpriseDigitalTwin(scenario=random_scenario(draw))
        alone = answered(Run(game, seats=[]))
        for rank, over in ((BEHIND, 0), (-1, 1)):
            run = Run(game, seats=[])
            read: dict[int, int] = {}
            linked(
                run,
                lambda tick, run=run, read=read: read.update({tick: cash_of(run.model, run.state)}),
                rank,
            )
            answered(run)
            assert run.result() == alone.result(), number
            assert entries(book_of(run)) == entries(book_of(alone)), number
            book = book_of(alone)
            assert read == {t: book.balance("cash", t - over) // 10**10 for t in read}, number
            assert len(read) == game.loaded_scenario.steps + over


# -- opening cash, cash in and out -----------------------------------------------------------------


def test_opening_cash_is_capital() -> None:
    """It is there before the first step, and earnings do not know it."""
    game = EnterpriseDigitalTwin(scenario=FIRM, opening_cash=400)
    run = Run(game, seats=[])
    assert cash_of(game, run.state) == 40_000
    answered(run)
    assert entries(book_of(run))[0] == (
        0,
        "capital paid in",
        {"cash": 400 * 10**12, "capital": -400 * 10**12},
    )
    assert series_of(game, run.state)["cash"][:4] == [250.0, 100.0, -50.0, 800.0]
    assert series(run.state)["cash"][:4] == [400.0, 250.0, 100.0, -50.0]
    assert run.result().metrics["cash"] == 400 + 3_000 - 9 * 150
    alone = play(evolve(game, opening_cash=0.0), {}).result
    assert run.result().score == alone.score
    assert (
        "capital"
        not in book_of(answered(Run(EnterpriseDigitalTwin(scenario=FIRM), seats=[]))).accounts
    )


def test_cash_of_partners_enters_the_book_at_the_step_that_is_over() -> None:
    """Behind the entries of that step, ahead of those of the next."""
    game = EnterpriseDigitalTwin(scenario=FIRM)
    run = played_linked(
        game,
        {
            0: lambda run: receive_cash(game, run.state, 50_000, "bank"),
            4: lambda run: pay_cash(game, run.state, 60_000, "plant"),
            5: lambda run: pay_cash(game, run.state, 10_000, "bank"),
        },
    )
    cash = [(time, text) for time, text, amounts in entries(book_of(run)) if "cash" in amounts]
    assert cash[:9] == [
        (0, "cash from bank"),
        (1, "costs of the step"),
        (2, "costs of the step"),
        (3, "costs of the step"),
        (4, "costs of the step"),
        (4, "bills paid"),
        (4, "cash to plant"),
        (5, "costs of the step"),
        (5, "bills paid"),
    ]
    assert intercompany(game, run.state) == {"bank": -40_000, "plant": 60_000}
    assert series_of(game, run.state)["cash"][:5] == [350.0, 200.0, 50.0, 300.0, 1_050.0]
    assert run.result().score == play(game, {}).result.score


def test_a_refused_payment_changes_nothing() -> None:
    """More than is on hand, or no whole cents: the book is what it was."""
    game = EnterpriseDigitalTwin(scenario=FIRM, opening_cash=150.005)
    run = Run(game, seats=[])
    before = entries(book_of(run))
    with pytest.raises(
        NotEnoughCash, match="15001 cents were to be paid to bank; the cash is 15000 cents"
    ):
        pay_cash(game, run.state, 15_001, "bank")
    for cents in (0, -5, 1.0, True):
        with pytest.raises(WrongAmount):
            pay_cash(game, run.state, cents, "bank")  # type: ignore[arg-type]
        with pytest.raises(WrongAmount):
            receive_cash(game, run.state, cents, "bank")  # type: ignore[arg-type]
    assert entries(book_of(run)) == before
    assert book_of(run).accounts[-1] == "capital"
    assert intercompany(game, run.state) == {}


# -- costs that wait for cash ----------------------------------------------------------------------


def test_costs_beyond_the_cash_are_paid_when_bills_are() -> None:
    """Of 400, 100 are left for the costs of step 3; the bill of step 4 pays the rest."""
    game = EnterpriseDigitalTwin(scenario=FIRM, opening_cash=400, pays_from_cash=True)
    run = answered(Run(game, seats=[]))
    unit = 10**12
    book = book_of(run)
    assert [book.balance("cash", t) // unit for t in range(6)] == [400, 250, 100, 0, 800, 1_650]
    assert [book.balance("payables", t) // unit for t in range(6)] == [0, 0, 0, -50, 0, 0]
    assert [(t, text) for t, text, lines in entries(book) if "payables" in lines] == [
        (3, "costs of the step"),
        (4, "costs of the step"),
        (4, "payables paid"),
    ]


def poor(scenario: Scenario, *, pays: bool) -> EnterpriseDigitalTwin:
    """A firm with little cash."""
    return EnterpriseDigitalTwin(scenario=scenario, opening_cash=1_000, pays_from_cash=pays)


@pytest.mark.parametrize("seed", range(40))
def test_cash_is_never_below_zero_and_no_cost_is_lost(seed: int) -> None:
    """Random firms with random payments of and to two partners behind every step.

    After every entry: costs so far are what was paid and what is owed. Earnings and score are those
    of a firm that pays everything at once.
    """
    draw = dice(seed)
    scenario = changed_firm(seed)
    game = poor(scenario, pays=True)

    def trade(run: Run) -> None:
        partner = draw.choice(["bank", "plant"])
        if (cash := cash_of(game, run.state)) and draw.random() < 0.3:
            pay_cash(game, run.state, draw.randint(1, cash), partner)
        elif draw.random() < 0.3:
            receive_cash(game, run.state, draw.randint(1, 10_000_000), partner)

    run = played_linked(game, dict.fromkeys(range(0, 96, 1 + seed % 5), trade))
    sums: Counter[str] = Counter()
    paid = 0
    for _, text, lines in entries(book_of(run)):
        sums.update(lines)
        if text in ("costs of the step", "payables paid"):
            paid -= lines["cash"]
        assert sums["cash"] >= 0
        assert sums["payables"] <= 0
        assert paid - sums["payables"] == sum(
            sums[a] for a in ("salaries", "workplaces", "fixed_cost")
        )
    assert sum(intercompany(game, run.state).values()) * 10**10 == sums["intercompany"]
    plain = play(poor(scenario, pays=False), {})
    assert run.result().score == plain.result.score


# -- an episode that ends before the firm's last step ----------------------------------------------


def test_a_firm_that_is_closed_early_has_the_figures_of_its_steps() -> None:
    """Closed behind step 5: four steps count, as without the last one."""
    game = EnterpriseDigitalTwin(scenario=FIRM)
    run = Run(game, seats=[])
    linked(run, lambda tick: tick < 5 or run.world.end("closed"))
    result = answered(run).result()
    assert (result.ended, result.score) == ("closed", 3_000 - 4 * 150)
    assert result.metrics["cash"] == 1_000 - 4 * 150
    assert result.metrics["expenses"] == 150
    assert result.metrics["mean_step_utilization"] == 3 / 5
    assert len(series_of(game, run.state)["cash"]) == 5
