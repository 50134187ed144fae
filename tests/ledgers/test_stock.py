"""Units of a good by place: what a stock accepts and refuses, and what it holds afterwards."""

import datetime as dt
from fractions import Fraction
from hashlib import sha256
from math import inf, nan
from typing import Any, TypeAlias

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from ledgers.errors import LedgerError, WrongChart, WrongExport, WrongTime
from ledgers.stock import Move, Stock, Units, UnknownPlace, WrongMove

Anything: TypeAlias = Any  # also what a stock must refuse
HALF = Fraction(1, 2)
NUMPY: Anything = np.int64(3)
NO_UNITS = (True, 1.0, nan, inf, NUMPY, Fraction(NUMPY, NUMPY - 1), "1", None)


@pytest.fixture
def beer() -> Stock:
    """Return a retailer with 12 cases, of which 5 have been sold at t=3."""
    beer = Stock(["on_hand", "in_transit"], outside=["brewing", "customers"])
    beer.open("on_hand", 12, "brewing")
    beer.move(3, "on_hand", "customers", 5)
    return beer


def held(stock: Stock) -> dict[str, Units]:
    """Return the units by place, inside and outside."""
    return {place: stock[place] for place in (*stock.places, *stock.outside)}


def state(stock: Stock) -> tuple[object, ...]:
    """Return everything that a reader of *stock* can see."""
    return stock.digest(), held(stock), list(stock.moves)


def test_a_move_takes_from_one_place_what_it_adds_to_another(beer: Stock) -> None:
    """Units taken from an outside place count as negative, units moved to one as positive."""
    assert held(beer) == {"on_hand": 7, "in_transit": 0, "brewing": -12, "customers": 5}
    assert beer.total == 0


@pytest.mark.parametrize("units", [0, 1, Fraction(1, 3)])
@pytest.mark.parametrize(
    ("time", "source", "target", "error", "sentence"),
    [
        (
            4,
            "on_hnd",
            "customers",
            UnknownPlace,
            "no place is named 'on_hnd'; did you mean 'on_hand'?",
        ),
        (
            4,
            "on_hand",
            "Q",
            UnknownPlace,
            "no place is named 'Q'; there is on_hand, in_transit, brewing, customers",
        ),
        (
            4,
            ["on_hand"],
            "customers",
            UnknownPlace,
            "no place is named ['on_hand']; there is on_hand, in_transit, brewing, customers",
        ),
        (4, "on_hand", "on_hand", WrongMove, "a move needs two places, not 'on_hand' twice"),
        (
            2,
            "on_hand",
            "customers",
            WrongTime,
            "time must not run backwards: t=2 comes after t=3",
        ),
        (4.0, "on_hand", "customers", WrongTime, "time must be an int, not 4.0 (float)"),
        (True, "on_hand", "customers", WrongTime, "time must be an int, not True (bool)"),
    ],
)
def test_refusals_say_what_was_given_and_what_is_possible(
    beer: Stock,
    time: Anything,
    source: Anything,
    target: Anything,
    error: type[LedgerError],
    sentence: str,
    units: Units,
) -> None:
    """A refused move changes nothing, also one of zero units; SimPy keeps the sentence."""
    before = state(beer)
    with pytest.raises(error) as refused:
        beer.move(time, source, target, units)
    assert str(refused.value) == str(type(refused.value)(*refused.value.args)) == sentence
    assert state(beer) == before


def test_fractions_are_conserved_exactly(beer: Stock) -> None:
    """Three thirds are exactly one, and whole balances are ints again."""
    for time in (4, 5, 6):
        beer.move(time, "brewing", "on_hand", Fraction(1, 3))
        assert (beer.total, type(beer.total)) == (0, int)
    assert held(beer) == {"on_hand": 8, "in_transit": 0, "brewing": -13, "customers": 5}
    assert {type(units) for units in held(beer).values()} == {int}
    assert beer.moves[-1].units == Fraction(1, 3)


def test_opening_needs_no_source_where_there_is_only_one() -> None:
    """With a single outside place, goods come from there."""
    stock = Stock(["desk"], outside=["shop"])
    stock.open("desk", 4)
    assert list(stock.moves) == [Move(0, "shop", "desk", 4)]


@pytest.mark.parametrize(
    ("place", "source", "error", "sentence"),
    [
        (
            "in_transit",
            None,
            WrongMove,
            "say where 'in_transit' gets its units: brewing, customers",
        ),
        (
            "in_transit",
            "on_hand",
            WrongMove,
            "an opening comes from outside in, not from 'on_hand' to 'in_transit'",
        ),
        (
            "customers",
            "brewing",
            WrongMove,
            "an opening comes from outside in, not from 'brewing' to 'customers'",
        ),
        (
            "in_transit",
            "brewng",
            UnknownPlace,
            "no place is named 'brewng'; did you mean 'brewing'?",
        ),
        ("in_transit", "brewing", WrongTime, "time must not run backwards: t=0 comes after t=3"),
    ],
)
def test_an_opening_comes_first_and_from_outside(
    beer: Stock, place: str, source: str | None, error: type[LedgerError], sentence: str
) -> None:
    """An opening balance is a move at t=0 from an outside place to an inside place."""
    with pytest.raises(error) as refused:
        beer.open(place, 4, source)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("places", "outside", "sentence"),
    [
        ((), ("out",), "declare at least one inside place, in a list of names, not ()"),
        ("here", ("out",), "declare at least one inside place, in a list of names, not 'here'"),
        (("here",), (), "declare at least one outside place, in a list of names, not ()"),
        (("a", "b"), ("b",), "each inside or outside place is declared once, but b came twice"),
        (
            ("a", None),
            ("b",),
            "the name of an inside place is a text that can be written, not None",
        ),
    ],
)
def test_places_must_be_usable(places: Anything, outside: Anything, sentence: str) -> None:
    """Missing, unwritable and repeated names are refused, on both sides."""
    with pytest.raises(WrongChart) as refused:
        Stock(places, outside)
    assert str(refused.value) == sentence


def test_the_digest_never_changes(beer: Stock) -> None:
    """Records contain digests, so another version of the ledgers must compute the same."""
    beer.move(4, "brewing", "on_hand", Fraction(1, 3))
    written = (
        b'[[0,"brewing","on_hand",12],[3,"on_hand","customers",5],[4,"brewing","on_hand","1/3"]]'
    )
    assert beer.digest() == sha256(written).hexdigest()


@frozen
class Attempt:
    """A move that may be refused; *delta* ticks after the last accepted one."""

    delta: Anything
    source: str
    target: str
    units: Anything


INSIDE, OUTSIDE = ("shelf", "truck", "desk"), ("mill", "town")
KNOWN = st.sampled_from(INSIDE + OUTSIDE)
UNITS = st.integers(0, 9) | st.fractions(0, 9, max_denominator=6) | st.integers(0)
RIGHT = st.builds(Attempt, st.integers(0, 2), KNOWN, KNOWN, UNITS)
WRONG = st.builds(
    Attempt,
    st.sampled_from((-1, 0, 1, 0.5, nan)),
    KNOWN | st.just("shelve"),
    KNOWN | st.just("shelve"),
    UNITS | st.integers(-9, 9) | st.sampled_from(NO_UNITS),
)


def right(attempt: Attempt, last: float, time: Anything, sums: dict[str, Units]) -> bool:
    """Return by the rules alone whether a move must be accepted."""
    source, target, units = attempt.source, attempt.target, attempt.units
    if type(time) is not int or time < last or source == target or "shelve" in (source, target):
        return False
    if not any(units is wrong for wrong in NO_UNITS) and units >= 0:
        return source in OUTSIDE or sums[source] >= units
    return False


@given(st.lists(RIGHT | WRONG, max_size=15))
def test_no_sequence_of_moves_loses_a_unit(attempts: list[Attempt]) -> None:
    """For any moves: the rules decide, units sum to zero, and no inside place is negative."""
    stock, clean, last = Stock(INSIDE, OUTSIDE), Stock(INSIDE, OUTSIDE), -inf
    sums: dict[str, Units] = dict.fromkeys(INSIDE + OUTSIDE, 0)
    for attempt in attempts:
        time = max(last, 0) + attempt.delta
        move = (time, attempt.source, attempt.target, attempt.units)
        before = state(stock)
        if right(attempt, last, time, sums):
            stock.move(*move)
            clean.move(*move)
            sums[attempt.source] -= attempt.units
            sums[attempt.target] += attempt.units
            last = time if attempt.units else last
        else:
            with pytest.raises(LedgerError):
                stock.move(*move)
            assert state(stock) == before
        assert held(stock) == sums
        assert stock.total == sum(sums.values()) == 0
        assert min(stock[place] for place in INSIDE) >= 0
    assert state(stock) == state(clean)
    assert all(type(u) is int or u.denominator > 1 for u in held(stock).values())


@given(
    st.lists(
        st.tuples(st.just("mill"), st.sampled_from(INSIDE), st.integers(1, 3)), max_size=6
    ).flatmap(lambda moves: st.tuples(st.just(moves), st.permutations(moves)))
)
def test_the_digest_covers_the_order_of_moves(
    orders: tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]],
) -> None:
    """Two journals have equal digests exactly when they hold equal moves in equal order."""
    digests = []
    for moves in orders:
        stock = Stock(INSIDE, OUTSIDE)
        for source, target, units in moves:
            stock.move(1, source, target, units)
        digests.append(stock.digest())
    assert (digests[0] == digests[1]) == (orders[0] == orders[1])


@pytest.mark.parametrize(
    "move",
    [
        (2, "mill", "desk", 1),
        (1, "town", "desk", 1),
        (1, "mill", "shelf", 1),
        (1, "mill", "desk", 2),
        (1, "mill", "desk", HALF),
    ],
)
def test_the_digest_covers_every_part_of_a_move(move: tuple[int, str, str, Units]) -> None:
    """Another time, source, target or number of units gives another digest."""
    one, other = Stock(INSIDE, OUTSIDE), Stock(INSIDE, OUTSIDE)
    one.move(1, "mill", "desk", 1)
    other.move(*move)
    assert one.digest() != other.digest()


def test_a_stock_exports_moves_and_holdings(beer: Stock) -> None:
    """Units are decimals where these are finite, and fractions otherwise; both are exact."""
    beer.move(4, "brewing", "in_transit", Fraction(1, 3))
    beer.move(4, "on_hand", "customers", Fraction(9, 8))
    texts = beer.export("csv", lambda tick: dt.date(2020, 1, 1 + tick))
    assert texts["moves.csv"].split("\r\n") == [
        "time,date,move,source,target,units",
        "0,2020-01-01,1,brewing,on_hand,12",
        "3,2020-01-04,2,on_hand,customers,5",
        "4,2020-01-05,3,brewing,in_transit,1/3",
        "4,2020-01-05,4,on_hand,customers,1.125",
        "",
    ]
    assert texts["holdings.csv"].split("\r\n") == [
        "place,side,units",
        "on_hand,inside,5.875",
        "in_transit,inside,1/3",
        "brewing,outside,-37/3",
        "customers,outside,6.125",
        "",
    ]
    assert beer.export("csv")["moves.csv"].split("\r\n")[1] == "0,,1,brewing,on_hand,12"
    with pytest.raises(WrongExport, match=r"^no form is named 'beancount'; there is csv$"):
        beer.export("beancount")
