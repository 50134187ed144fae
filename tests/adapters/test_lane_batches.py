"""Observations and actions of many lanes, equal to those of single ones."""

from typing import Any, Literal

import numpy as np
import pytest
from attrs import field, frozen
from attrs.validators import ge, le

from desim.errors import WrongAction
from desim.lanes.lane_columns import Columns
from desim.lanes.lane_protocols import NoLanes
from desim.schema import codec

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

from desim.adapters.gymnasium.lane_batches import ActionBatch, ObservationBatch
from desim.adapters.gymnasium.spaces import ActionSpace, ObservationSpace, SpaceLimits

LIMITS = SpaceLimits(max_text=20, max_entries=3)


@frozen
class Side:
    """A part of a desk.

    Attributes:
        depth: A number.
    """

    depth: float


@frozen
class Desk:
    """A desk with every kind of field.

    Attributes:
        few: A small whole number.
        units: A whole number or a fraction.
        sure: A truth value.
        grade: One of two.
        name: A text.
        rows: A list.
        side: A class or none.
    """

    few: int = field(validator=[ge(2), le(9)])
    units: int | float
    sure: bool
    grade: Literal["a", "b"]
    name: str
    rows: tuple[Side, ...] = ()
    side: Side | None = None


DESKS = [
    Desk(3, 1.5, sure=True, grade="a", name="left"),
    Desk(2, -4, sure=False, grade="b", name="right", rows=(Side(1.0), Side(2.0))),
    Desk(9, 2**40, sure=True, grade="b", name="left", side=Side(-3.5)),
]
NAMES = ("left", "right")


def columns(desks: list[Desk]) -> Columns:
    """Return the fields of desks as lanes have them: arrays, numbers of texts, and lists."""
    return Columns(
        Desk,
        {
            "few": np.array([each.few for each in desks]),
            "units": np.array([float(each.units) for each in desks]),
            "sure": np.array([each.sure for each in desks]),
            "grade": [each.grade for each in desks],
            "name": np.array([NAMES.index(each.name) for each in desks]),
            "rows": [each.rows for each in desks],
            "side": [each.side for each in desks],
        },
    )


def expected(space: ObservationSpace, desks: list[Desk]) -> Any:
    """Return the batched member of desks that are encoded one by one."""
    single = space.space
    members = [space.encode(each) for each in desks]
    return concatenate(single, members, create_empty_array(single, len(members)))


@pytest.mark.parametrize("flat", [False, True])
def test_observations_are_those_of_single_lanes(flat: bool) -> None:  # noqa: FBT001
    """Rows that are not written keep their observation, and members that were returned stay."""
    space = ObservationSpace(Desk, LIMITS, flat=flat)
    batch = ObservationBatch(space, 3)
    texts, every = {"name": NAMES}, slice(None)
    batch.write(columns(DESKS), texts, every, every)
    first = batch.member()
    assert data_equivalence(first, expected(space, DESKS), exact=True)
    assert batch_space(space.space, 3).contains(first)
    for _ in range(5):
        batch.write(columns([*reversed(DESKS)]), texts, np.array([0, 1]), np.array([2, 0]))
    mixed = [DESKS[1], DESKS[1], DESKS[2]]
    assert data_equivalence(batch.member(), expected(space, mixed), exact=True)
    assert data_equivalence(batch.row(2), space.encode(DESKS[2]), exact=True)
    assert data_equivalence(first, expected(space, DESKS), exact=True)


@frozen
class Ask:
    """Ask for an amount.

    Attributes:
        kind: The kind of money.
        amount: The amount.
        share: A share, or none.
        units: Whole or not.
        again: Whether it is another one.
    """

    kind: str
    amount: int = field(validator=[ge(0), le(10**6)])
    share: float | None = None
    units: int | float = 0
    again: bool = False


@frozen
class Leave:
    """Do nothing."""


@frozen
class Tell:
    """Send a letter.

    Attributes:
        to: Several names.
    """

    to: tuple[str, ...] = ()


KINDS = ("debt", "equity")


def actions(kind: Any, count: int) -> tuple[ActionSpace, ActionBatch]:
    """Return the space of one action, and the reader of some."""
    space = ActionSpace(codec(kind), LIMITS)
    return space, ActionBatch(space, codec(kind), count, {"kind": KINDS})


def batched(space: ActionSpace, given: list[Any]) -> Any:
    """Return the member of the batched space for some actions."""
    single = space.space
    members = [space.encode(each) for each in given]
    return concatenate(single, members, create_empty_array(single, len(given)))


def test_actions_of_lanes_are_those_that_were_given() -> None:
    """Fields of classes that no lane chose are left out."""
    given = [
        Ask("equity", 7, None, 3, again=True),
        Leave(),
        Ask("debt", 10**6, 0.25, 4),
        Ask("debt", 0, -1.5, 5),
    ]
    space, batch = actions(Ask | Leave | Tell, 4)
    found = batch.columns(batched(space, given))
    read = Columns(Ask | Leave | Tell, found)
    assert [read.row(lane, {"kind": KINDS}) for lane in range(4)] == given
    assert set(batch.columns(batched(space, [Leave()] * 4))) == {"do"}


def test_whole_numbers_and_fractions_of_one_field() -> None:
    """Whole numbers alone stay whole."""
    space, batch = actions(Ask, 2)
    whole = batch.columns(batched(space, [Ask("debt", 1, units=2**60), Ask("debt", 1, units=3)]))
    assert whole["units"].tolist() == [2**60, 3]
    mixed = batch.columns(batched(space, [Ask("debt", 1, units=2), Ask("debt", 1, units=0.5)]))
    assert mixed["units"].tolist() == [2.0, 0.5]
    assert "do" not in mixed


def test_a_tagged_object_stands_for_all_lanes() -> None:
    """Texts become their numbers."""
    _, batch = actions(Ask | Leave, 2)
    found = batch.columns({"do": "ask", "kind": "equity", "amount": [1, 2]})
    assert {name: np.asarray(each).tolist() for name, each in found.items()} == {
        "do": [0, 0],
        "kind": [1, 1],
        "amount": [1, 2],
    }


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (Tell(("a",)), NoLanes, "a field of the kind entries has no column"),
        (Ask("gift", 1), NoLanes, "kind='gift' has no lanes; Possible: debt, equity"),
        ({"do": "sell"}, WrongAction, "action 'sell' was given; "),
    ],
)
def test_what_has_no_column_is_refused(given: Any, kind: type[Exception], message: str) -> None:
    """The text names what is possible."""
    space, batch = actions(Ask | Leave | Tell, 1)
    with pytest.raises(kind, match=message):
        batch.columns(given if isinstance(given, dict) else batched(space, [given]))
