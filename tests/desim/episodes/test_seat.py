"""What a policy is given with its seat: a seed of its own, and the world's only where declared."""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import attrs
import pytest
from attrs import frozen

from desim import Seat, play
from desim.composition import Composite
from desim.core.policy_protocols import is_informed
from desim.core.streams import derived_seed
from desim.episodes.lineup import WorldSeat, policy_at, resolve, seat_of
from desim.errors import UsageError
from models.beer_game import BeerGame, Order, Stage
from policies.informed.beer_game.perfect import best_plan

GAME = BeerGame.preset("poisson", horizon=20)
SEED = 11


@frozen
class Keeps:
    """Keeps its seat."""

    seat: Seat

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Keep the seat."""
        return cls(seat)

    def decide(self, _: Stage) -> Order:
        """Order nothing."""
        return Order(0)


def _best(seat: Seat, seed: int) -> tuple[int, ...]:
    params: Any = seat.model
    return best_plan(params, seat.role, seed, 1).orders


@frozen
class Rebuilds:
    """Builds the world of its seat's seed again, and plays the best orders of that world."""

    orders: tuple[int, ...]

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Search for the orders."""
        return cls(_best(seat, seat.seed))

    def decide(self, stage: Stage) -> Order:
        """Return the order of the week."""
        return Order(self.orders[stage.week - 1])


class RebuildsWithTheSeed(Rebuilds):
    """Does the same with the world's seed, which it declares."""

    needs_world_seed: ClassVar[bool] = True

    @classmethod
    def seated(cls, seat: WorldSeat) -> Self:  # type: ignore[override]
        """Search for the orders."""
        return cls(_best(seat, seat.world_seed))


class SaysOtherwise(RebuildsWithTheSeed):
    """Declares the seed, and that it uses it for nothing but its draws."""

    informed: ClassVar[bool] = False


def test_a_rule_that_builds_the_world_again_gains_nothing() -> None:
    """The seed of its seat is another world's; with the declared seed it plays the best orders."""
    perfect = play(GAME, "perfect", SEED).score
    assert play(GAME, RebuildsWithTheSeed, SEED).score == pytest.approx(perfect, abs=1.0)
    assert play(GAME, Rebuilds, SEED).score < 2 * perfect


def test_no_attribute_of_a_seat_holds_the_worlds_seed() -> None:
    """Nor of the seat of a part, whose seed is derived from the whole's."""
    group = Composite({"plant": GAME})
    for model, role in ((GAME, "retailer"), (group, "plant.retailer")):
        policy = resolve(model, {role: Keeps}, SEED).policies[role]
        seat = policy.seat  # type: ignore[attr-defined]
        assert type(seat) is Seat
        known = seat_of(model, role, SEED)
        assert not {SEED, known.world_seed} & set(_numbers(seat))
        assert seat.seed == derived_seed(known.world_seed, "policy", "retailer")


def _numbers(seat: Seat) -> Iterator[Any]:
    yield from (one for one in attrs.astuple(seat, recurse=False) if type(one) is int)


def test_a_policy_with_the_worlds_seed_counts_as_informed() -> None:
    """Unless its class says that it is not, as a published bot does that is seeded with it."""
    assert is_informed(RebuildsWithTheSeed)
    assert not is_informed(Rebuilds)
    assert not is_informed(SaysOtherwise)


def test_a_policy_inside_a_policy_gets_no_more_than_the_outer_one() -> None:
    """What builds a policy from its own seat cannot give it the world's seed."""
    with pytest.raises(UsageError, match="'perfect' needs the world's seed"):
        policy_at("perfect", seat_of(GAME, "retailer", SEED).without_world_seed())
