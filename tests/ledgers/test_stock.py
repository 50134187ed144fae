"""Units of a good by place: what a stock accepts and refuses, and what it holds afterwards."""

import datetime as dt
import pickle
from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from math import inf, nan
from typing import Any, TypeAlias

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from support.cases import stable

from ledgers.chart import exact
from ledgers.errors import LedgerError, WrongChart, WrongExport, WrongTime
from ledgers.stock import Move, Overdrawn, Stock, Units, UnknownPlace, WrongMove, WrongUnits

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


def test_moves_are_records_in_a_view_that_grows(beer: Stock) -> None:
    """The journal holds every move in order, the opening first."""
    moves = beer.moves
    beer.move(4, "brewing", "in_transit", 2)
    assert isinstance(moves, Sequence)
    assert moves[0] == Move(0, "brewing", "on_hand", 12)
    assert moves[1:] == (Move(3, "on_hand", "customers", 5), Move(4, "brewing", "in_transit", 2))
    assert list(moves) == [*moves[:1], *moves[1:]]


def test_a_place_can_be_emptied_but_not_overdrawn(beer: Stock) -> None:
    """The last unit can be moved; one more is refused."""
    beer.move(4, "on_hand", "customers", 7)
    assert beer["on_hand"] == 0
    with pytest.raises(Overdrawn, match=r"^'on_hand' holds 0 and cannot give 1 at t=5$"):
        beer.move(5, "on_hand", "customers", 1)


def test_a_move_of_zero_units_changes_nothing(beer: Stock) -> None:
    """It is not in the journal, does not move the time, and may come from an empty place."""
    before = state(beer)
    beer.move(9, "in_transit", "on_hand", 0)
    beer.move(9, "in_transit", "on_hand", Fraction(0))
    assert state(beer) == before
    beer.move(4, "on_hand", "in_transit", 1)
    assert beer.moves[-1].time == 4


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


@pytest.mark.parametrize("units", NO_UNITS, ids=stable)
def test_units_are_ints_or_fractions_of_ints(beer: Stock, units: Anything) -> None:
    """Inexact numbers, and numbers that can overflow, are refused."""
    before = state(beer)
    with pytest.raises(WrongUnits, match=r"^units must be an int or a Fraction of ints, not "):
        beer.move(4, "brewing", "on_hand", units)
    assert state(beer) == before


@given(st.lists(st.one_of(st.integers(0, 9), st.fractions(0, 9), st.floats(0, 9).map(Fraction))))
def test_sums_are_those_of_fractions(units: list[Units]) -> None:
    """Of any denominators; what is whole is held as an int."""
    stock = Stock(["shelf"], outside=["mill"])
    for each in units:
        stock.move(1, "mill", "shelf", each)
    expected = sum(map(Fraction, units))
    assert (stock["shelf"], stock["mill"]) == (expected, -expected)
    assert isinstance(stock["shelf"], int) is (expected.denominator == 1)
    for each in units:
        stock.move(2, "shelf", "mill", each)
    assert held(stock) == {"shelf": 0, "mill": 0}


@pytest.mark.parametrize("units", [-1, -HALF], ids=stable)
def test_units_do_not_move_backwards(beer: Stock, units: Units) -> None:
    """A negative move is refused, with the advice to swap the places."""
    with pytest.raises(WrongUnits, match=f"^units must be 0 or more, not {units}; to go back"):
        beer.move(4, "brewing", "on_hand", units)


def test_whole_fractions_are_ints_everywhere(beer: Stock) -> None:
    """A whole number is an int in the journal, the balance and the digest."""
    other = pickle.loads(pickle.dumps(beer))  # noqa: S301 (our own bytes)
    beer.move(4, "brewing", "on_hand", Fraction(4, 2))
    other.move(4, "brewing", "on_hand", 2)
    assert type(beer.moves[-1].units) is type(beer["on_hand"]) is int
    assert state(beer) == state(other)


def test_fractions_are_conserved_exactly(beer: Stock) -> None:
    """Three thirds are exactly one, and whole balances are ints again."""
    for time in (4, 5, 6):
        beer.move(time, "brewing", "on_hand", Fraction(1, 3))
        assert (beer.total, type(beer.total)) == (0, int)
    assert held(beer) == {"on_hand": 8, "in_transit": 0, "brewing": -13, "customers": 5}
    assert {type(units) for units in held(beer).values()} == {int}
    assert beer.moves[-1].units == Fraction(1, 3)


def test_a_fraction_can_overdraw(beer: Stock) -> None:
    """Half a unit more than a place holds is refused."""
    with pytest.raises(Overdrawn, match=r"^'on_hand' holds 7 and cannot give 15/2 at t=4$"):
        beer.move(4, "on_hand", "customers", Fraction(15, 2))


@pytest.mark.parametrize("place", ["On_hand", 3, ["on_hand"]], ids=stable)
def test_unknown_places_are_refused(beer: Stock, place: Anything) -> None:
    """A misspelt place is an error where it is read."""
    with pytest.raises(UnknownPlace):
        beer[place]


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


def test_places_can_be_read(beer: Stock) -> None:
    """They are as declared, and `repr` shows the size."""
    assert (beer.places, beer.outside) == (("on_hand", "in_transit"), ("brewing", "customers"))
    assert repr(beer) == "<Stock of 4 places and 2 moves>"


def test_a_pickled_stock_is_an_independent_copy(beer: Stock) -> None:
    """A copy holds the same, and later moves of one are not in the other."""
    copy = pickle.loads(pickle.dumps(beer))  # noqa: S301 (our own bytes)
    assert state(copy) == state(beer)
    copy.move(9, "on_hand", "customers", 1)
    assert (copy["on_hand"], beer["on_hand"]) == (6, 7)
    with pytest.raises(WrongTime):
        copy.move(8, "on_hand", "customers", 1)


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


@given(st.integers() | st.fractions())
def test_exported_units_read_back_exactly(units: Units) -> None:
    """`Fraction` reads the text of any number of units."""
    assert Fraction(exact(units)) == units


def test_an_outside_place_can_be_added_once() -> None:
    """A place that the stock has is refused, inside or outside."""
    stock = Stock(["shelf"], outside=["factory"])
    stock.add_outside("partner")
    stock.move(0, "partner", "shelf", 5)
    assert (stock.outside, stock["partner"], stock.total) == (("factory", "partner"), -5, 0)
    for place in ("shelf", "factory", "partner", 7):
        with pytest.raises(WrongChart):
            stock.add_outside(place)  # type: ignore[arg-type] # on purpose
    assert stock.outside == ("factory", "partner")
