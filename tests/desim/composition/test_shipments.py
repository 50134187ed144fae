"""Shipments: goods leave one stock, are under way, and arrive in another."""

from pathlib import Path
from typing import Any

import pytest
from support.companies import played
from support.conserved_groups import checked
from support.depots import DAY, Depot, ship_daily

from desim import play, play_branch, replay
from desim.composition import AFTER_PARTS, Composite, Group
from desim.composition.exchange import NotConserved
from desim.errors import UsageError
from ledgers.consolidation import GoodsExchange


def depots(*links: Any, **parts: Any) -> Composite:
    """Return two depots with links."""
    return Composite({"north": Depot(), "south": Depot(units=5)} | parts, links=links)


def units(group: Group) -> tuple[int, int, int]:
    """Return the units in the north, under way and in the south."""
    moving = sum(one.units for one in group.under_way)
    return int(group.goods("north.shelf")), moving, int(group.goods("south.shelf"))


def test_goods_are_under_way_between_two_stocks() -> None:
    """By hand: seven units leave on day 2 and arrive on day 5, before the link goes on."""
    seen: list[Any] = []

    def link(world: Any, group: Group) -> Any:
        yield world.timeout(2 * DAY, rank=AFTER_PARTS)
        seen.append(units(group))
        truck = world.timeout(3 * DAY, rank=AFTER_PARTS)
        group.ship("north.shelf", "south.shelf", 7, truck)
        seen.append(units(group))
        (one,) = group.under_way
        assert (one.sender, one.receiver, one.sent) == ("north.shelf", "south.shelf", 2 * DAY)
        yield truck
        seen.append(units(group))

    _, group = played(depots(link), "greedy", 1)
    assert seen == [(48, 0, 3), (41, 7, 3), (38, 0, 7)]
    north, south = (part.state.stock for part in group.parts.values())
    assert [tuple(move) for move in north.moves if "intercompany" in move] == [
        (2, "shelf", "intercompany", 7)
    ]
    assert [tuple(move) for move in south.moves if "intercompany" in move] == [
        (5, "intercompany", "shelf", 7)
    ]
    group.check_conserved()


def test_nothing_is_created_or_lost_at_any_event() -> None:
    """Also not while goods are under way, or where the episode ends before they arrive."""
    late = depots(ship_daily, south=Depot(units=5, days=8), north=Depot(days=8))
    with checked():
        played(depots(ship_daily), "greedy", 1)
        _, group = played(late, "greedy", 1)
    assert group.under_way
    assert sum(units(group)) == 50 + 5 - 8 - 8


def test_a_record_of_shipments_replays(tmp_path: Path) -> None:
    """With the same ledgers."""
    file = tmp_path / "run.jsonl"
    episode = play(depots(ship_daily), "greedy", seed=1, record=file)
    assert replay(file).ledger_digest == episode.ledger_digest


def test_another_future_has_other_arrivals(tmp_path: Path) -> None:
    """Of goods that are under way when it begins, where they travel for a `world.delay`."""
    file = tmp_path / "run.jsonl"
    play(depots(ship_daily), "greedy", seed=1, record=file)
    digests = [play_branch(file, 12, "greedy", future=n).ledger_digest for n in range(3)]
    assert len(set(digests)) == 3


@pytest.mark.parametrize(
    ("sender", "receiver", "amount", "says"),
    [
        ("north.shelf", "south.shelf", 99, "99 units were to be taken"),
        ("north.shelf", "south.shelf", 0, "whole units above 0"),
        ("north.shelf", "south.shefl", 5, "did you mean 'shelf'"),
    ],
)
def test_a_refused_shipment_moves_no_goods(
    sender: str, receiver: str, amount: int, says: str
) -> None:
    """Whatever the reason; nothing is under way."""

    def link(world: Any, group: Group) -> Any:
        yield world.timeout(DAY, rank=AFTER_PARTS)
        before = [ledger.digest() for ledger in group.ledgers]
        with pytest.raises((ValueError, UsageError), match=says):
            group.ship(sender, receiver, amount, world.timeout(DAY, rank=AFTER_PARTS))
        assert [ledger.digest() for ledger in group.ledgers] == before
        assert group.under_way == ()

    played(depots(link), "greedy", 1)


def test_an_arrival_is_a_pending_event() -> None:
    """One that has happened never brings the goods."""

    def link(world: Any, group: Group) -> Any:
        past = world.timeout(DAY, rank=AFTER_PARTS)
        yield past
        with pytest.raises(UsageError, match="the arrival has happened; goods arrive with"):
            group.ship("north.shelf", "south.shelf", 1, past)

    played(depots(link), "greedy", 1)


class Sieve(GoodsExchange):
    """A shelf that loses a unit of each delivery."""

    def receive(self, time: int, partner: str, units: int) -> None:
        """Add all but one."""
        super().receive(time, partner, units)
        self._goods.move(time, self._place, "customers", 1)


def depot_with(shelf: type[GoodsExchange]) -> Depot:
    """Return a depot with another kind of shelf."""

    class Other(Depot):
        def stock(self, store: Any) -> dict[str, GoodsExchange]:
            return {"shelf": shelf(store.stock, "shelf")}

    return Other(units=5)


def test_a_delivery_that_loses_goods_ends_the_episode() -> None:
    """The error names the part and the units."""
    with pytest.raises(NotConserved, match=r"south held 2 before 3 units .*, and 4 after"):
        played(depots(ship_daily, south=depot_with(Sieve)), "greedy", 1)
