"""A chain that keeps cash: sales bring it in, costs are paid from it, a group moves it."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.holdings import cash_of, intercompany, pay_cash, receive_cash
from support.series import series_of

from desim import Run
from ledgers.entry import Entry
from models.beer_game import BeerGame, Order, chain

GROUP = "head_office"


def shop(**changes: Any) -> BeerGame:
    """One stage with 10 units that sells 4 a week and orders 4: 6 on hand cost 3.00 a week."""
    settings: dict[str, Any] = {
        "stages": ("shop",),
        "controlled": "shop",
        "horizon": 4,
        "demand": "constant:4",
        "ship_delay": 1,
        "target_inventory": 10,
        "initial_flow": 0,
        "minimum_holding_cost": 0,
        "opponents": "pass_through",
        "brewery_echo": False,
        "blind": False,
    }
    return BeerGame(**settings | changes)


def test_half_a_unit_of_the_book_goes_to_the_even_one() -> None:
    """0.5, 1.5 and 2.5 units are 0, 2 and 2."""
    price = chain.book_units(0.5 / 10**chain.DIGITS)
    assert [chain._cost(price, units) for units in (1, 3, 5)] == [0, 2, 2]


def week_ends(run: Run, units: int = 4) -> bool:
    """Order and play to the end of the next week, after its payments; False after the last one."""
    for decision in run.open:
        run.answer(decision, Order(units))
    return bool(run.advance())


def finish(run: Run) -> None:
    """Play to the end of the game."""
    while week_ends(run):
        pass


def begun(game: BeerGame) -> Run:
    """Return a game whose first week has ended."""
    run = Run(game, seats=game.stages[:1])
    run.advance()
    return run


def entries(run: Run) -> list[Entry]:
    """Return the journal of the chain's book."""
    return list(run.state.book.journal)


def whole_money(cents: int) -> int:
    """Return cents in units of the book."""
    return cents * 10**10


# -- by hand ---------------------------------------------------------------------------------------


def test_sales_come_in_and_costs_go_out_in_one_entry_a_week() -> None:
    """Four units with a margin of 1.25 bring 5.00, six on hand cost 3.00."""
    run = begun(shop(opening_cash=1, unit_margin=1.25))
    finish(run)
    opening, *weeks = entries(run)
    assert opening.amounts == {"cash": whole_money(100), "capital": whole_money(-100)}
    assert [entry.time for entry in weeks] == [1, 2, 3, 4]
    for entry in weeks:
        assert entry.amounts == {
            "holding.shop": whole_money(300),
            "backlog.shop": 0,
            "payable": 0,
            "cash": whole_money(200),
            "sales": whole_money(-500),
        }
    metrics = run.result().metrics
    assert {name: metrics[name] for name in ("end_cash", "sales", "unpaid", "profit")} == {
        "end_cash": 9.0,
        "sales": 20.0,
        "unpaid": 0.0,
        "profit": 8.0,
    }
    assert run.result().score == -12.0


def test_a_plant_pays_what_it_can_and_the_rest_once_there_is_cash() -> None:
    """5.00 pay a week and two thirds; 9.00 from the group arrive after week 3."""
    game = shop(opening_cash=5)
    run = begun(game)
    week_ends(run)
    week_ends(run)
    receive_cash(game, run.state, 900, GROUP)
    # Paid when the next week ends, as all costs are.
    assert (cash_of(game, run.state), run.state.book.balance("payable")) == (900, whole_money(-400))
    finish(run)
    series = series_of(game, run.state)
    # The 9.00 count in week 3, at whose end they came; 4.00 and 3.00 are paid from them.
    assert series["cash"] == [2, 0, 9, 2]
    assert series["unpaid"] == [0, 1, 4, 0]
    assert series["cost_shop"] == [3, 3, 3, 3]
    assert intercompany(game, run.state) == {GROUP: -900}


def test_the_part_of_a_cent_is_paid_once_it_makes_a_cent() -> None:
    """Six units at 0.001 cost 0.6 cents a week; cash stays a whole number of cents."""
    game = shop(opening_cash=1, holding_cost=0.001)
    run = begun(game)
    cents = [cash_of(game, run.state)]
    while week_ends(run):
        cents.append(cash_of(game, run.state))
    assert cents == [100, 99, 99, 98]
    assert series_of(game, run.state)["unpaid"] == [0.006, 0.002, 0.008, 0.004]


# -- the group -------------------------------------------------------------------------------------


def test_a_group_takes_what_is_on_hand_and_no_more() -> None:
    """A refused payment changes nothing."""
    game = shop(opening_cash=5)
    run = begun(game)
    assert cash_of(game, run.state) == 200
    pay_cash(game, run.state, 150, GROUP)
    before = run.state.book.digest()
    for cents, why in (
        (51, "the cash is 50 cents"),
        (0, "above 0"),
        (-1, "above 0"),
        (True, "above 0"),
    ):
        with pytest.raises(ValueError, match=why):
            pay_cash(game, run.state, cents, GROUP)
    with pytest.raises(ValueError, match="above 0"):
        receive_cash(game, run.state, 0, GROUP)
    assert run.state.book.digest() == before
    assert (cash_of(game, run.state), intercompany(game, run.state)) == (50, {GROUP: 150})
    assert entries(run)[-1].time == run.world.now == 1


# -- parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"unit_margin": 2}, "give an opening_cash, which may be 0"),
        ({"unit_margin": -1, "opening_cash": 0}, "unit_margin"),
        ({"opening_cash": 0.001}, "whole cents"),
        ({"opening_cash": -1}, "opening_cash"),
        ({"opening_cash": float("nan")}, "finite"),
        ({"opening_cash": True}, "finite"),
    ],
)
def test_wrong_amounts_are_refused(changes: dict[str, Any], why: str) -> None:
    """With a sentence that names the parameter."""
    with pytest.raises(ValueError, match=why):
        BeerGame(**changes)


@pytest.mark.parametrize("preset", BeerGame.presets)
def test_cash_changes_nothing_else(preset: str) -> None:
    """Same orders, goods, costs, score and tables; without it no account, metric or series more."""
    plain, rich = (
        BeerGame.preset(preset, **changes)
        for changes in ({}, {"opening_cash": 1_000.5, "unit_margin": 3})
    )
    runs = [Run(game, 7, []) for game in (plain, rich)]
    for run in runs:
        run.advance()
    one, other = (run.state for run in runs)
    assert one.goods.digest() == other.goods.digest()
    assert one.orders.digest() == other.orders.digest()
    seat = plain.controlled
    assert plain.tables(one, seat) == rich.tables(other, seat)
    costs = [f"{kind}.{stage}" for stage in plain.stages for kind in ("holding", "backlog")]
    assert one.book.accounts == (*costs, "payable")
    assert dict(one.book.declared) == {}
    assert other.book.accounts == (*costs, "payable", "cash", "capital", "sales")
    assert set(other.book.declared) == set(other.book.accounts)
    then, now = (run.result().metrics for run in runs)
    assert {name: now[name] for name in then} == then
    assert now.keys() - then.keys() == {"end_cash", "sales", "unpaid", "profit"}
    more = series_of(rich, other).keys() - series_of(plain, one).keys()
    assert more == {"cash", "unpaid"}


# -- at random -------------------------------------------------------------------------------------


def cents_of(amount: Fraction) -> int:
    """Return the whole cents of an amount of money."""
    return int(100 * amount // 1)


@examples(60)
@given(st.data())
def test_every_cent_is_accounted_for(data: st.DataObject) -> None:
    """Cash is what came in less what was paid, and a week ends without cash or without debts."""
    draw = data.draw
    margin = draw(st.sampled_from([0, 0.1, 0.125, 1, 2.5]))
    game = BeerGame.preset(
        "poisson",
        horizon=8,
        demand="poisson:20",
        holding_cost=draw(st.sampled_from([0, 0.1, 0.003, 0.5])),
        backlog_cost=draw(st.sampled_from([0, 0.333, 1])),
        opening_cash=draw(st.integers(0, 5_000)) / 100,
        unit_margin=margin,
        strike=draw(st.none() | st.just("2:4")),
    )
    run = Run(game, draw(st.integers(0, 9)), ["wholesaler"])
    assert game.opening_cash is not None
    cash, owed = Fraction(str(game.opening_cash)), Fraction(0)
    received = 0
    for _ in range(game.horizon):
        run.advance()
        shipped = run.state.echelons[0].shipped
        cost = Fraction(sum(e.cost for e in run.state.echelons), 10**12)
        cash += Fraction(cents_of(Fraction(str(margin)) * shipped + Fraction(1, 200)), 100)
        owed += cost
        paid = min(cash, Fraction(cents_of(owed), 100))
        cash, owed = cash - paid, owed - paid
        assert cash_of(game, run.state) == 100 * cash
        assert -run.state.book.balance("payable") == owed * 10**12
        assert cash == 0 or owed < Fraction(1, 100)
        # The group sends and takes before the next week.
        for cents in draw(st.lists(st.integers(-3_000, 3_000).filter(bool), max_size=2)):
            if cents > 0:
                receive_cash(game, run.state, cents, GROUP)
            elif -cents <= cash_of(game, run.state):
                pay_cash(game, run.state, -cents, GROUP)
            else:
                continue
            received += cents
            cash += Fraction(cents, 100)
        for decision in run.open:
            run.answer(decision, Order(draw(st.integers(0, 60) | st.floats(0, 60))))
    run.advance()
    metrics = run.result().metrics
    assert intercompany(game, run.state).get(GROUP, 0) == -received
    assert sum(run.state.book.balances().values()) == 0
    assert metrics["end_cash"] == float(cash)
    # Net worth: what the owners paid in, what was earned, and what the group is owed.
    assert metrics["end_cash"] - metrics["unpaid"] - received / 100 == pytest.approx(
        game.opening_cash + metrics["profit"]
    )
