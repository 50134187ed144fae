"""What a policy is given with its seat: a seed of its own, and the world's only where declared."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from attrs import define, evolve, field

from desim import Episode, Policy, Seat, catalog, play, play_branch
from desim.composition import Composite
from desim.core.policy import OutsidePolicy, knows
from desim.core.streams import derived_seed
from desim.episodes.lineup import lineup_knows, policy_at, resolve, seat_of
from desim.errors import UsageError
from models.beer_game import BeerGame, Order, Stage
from policies.heuristics.beer_game import OrderUpTo
from policies.heuristics.beer_game.foresight import best_list

GAME = BeerGame.preset("poisson", horizon=20)
SEED = 11


@define
class Keeps(Policy):
    """Keeps its seat."""

    seat: Seat = field(init=False)

    def seated(self, seat: Seat) -> None:
        """Keep the seat."""
        self.seat = seat

    def decide(self, _: Stage) -> Order:
        """Order nothing."""
        return Order(0)


class Reads(Keeps):
    """Reads the parameters and declares nothing."""

    def seated(self, seat: Seat) -> None:
        """Read them."""
        self.seat = evolve(seat, name=str(seat.model))


def _best(seat: Seat, seed: int) -> tuple[int, ...]:
    params: Any = seat.model
    return best_list(params, seat.role, seed)


@define
class Rebuilds(Policy):
    """Builds the world of its seat's seed again, and plays the best orders of that world."""

    knows = "rules"

    orders: tuple[int, ...] = field(init=False)

    def seated(self, seat: Seat) -> None:
        """Search for the orders."""
        self.orders = _best(seat, seat.seed)

    def decide(self, stage: Stage) -> Order:
        """Return the order of the week."""
        return Order(self.orders[stage.week - 1])


class RebuildsWithTheSeed(Rebuilds):
    """Does the same with the world's seed, which it declares."""

    knows = "future"
    needs_world_seed = True

    def seated(self, seat: Seat) -> None:
        """Search for the orders."""
        self.orders = _best(seat, seat.world_seed)


class SaysOtherwise(RebuildsWithTheSeed):
    """Declares the seed, and that it uses it for nothing but its draws."""

    knows = "observation"


class SaysRules(RebuildsWithTheSeed):
    """Declares the seed, and rules alone."""

    knows = "rules"


@define
class Builds(Policy):
    """Builds a policy that knows the rules, at its own seat."""

    inner: Any = field(init=False)

    def seated(self, seat: Seat) -> None:
        """Build it."""
        self.inner = policy_at("order_up_to", seat)

    def decide(self, stage: Stage) -> Any:
        """Return its order."""
        return self.inner.decide(stage)


class Names(Builds):
    """Names the policy that it builds."""

    @staticmethod
    def inner_policies(_: Mapping[str, str]) -> Iterator[str]:
        """Yield its spec."""
        yield "order_up_to"


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


def test_a_policy_with_the_worlds_seed_knows_the_future() -> None:
    """Unless its class says otherwise, as a published bot does that is seeded with it."""
    assert knows(RebuildsWithTheSeed) == "future"
    assert knows(Rebuilds) == "rules"


@pytest.mark.parametrize("policy", [Reads, SaysOtherwise])
def test_a_policy_of_observations_reads_no_parameters(policy: Any) -> None:
    """The text says what to declare; with the world's seed it cannot play ahead either."""
    with pytest.raises(UsageError, match="'observation' reads the world's parameters; declare"):
        play(GAME, policy, SEED)


def test_options_that_use_more_are_withheld() -> None:
    """From a policy that does not declare that it takes them; its default action stays."""
    policy: Any = resolve(GAME, Keeps, SEED).policies["retailer"]
    stage = play(GAME, "last_demand", SEED).steps[0].observation
    with pytest.raises(UsageError, match="options use more than observations; declare takes_opt"):
        policy.seat.spec.options(stage)
    assert policy.seat.spec.default_for(stage) == Order(stage.incoming_order)


def test_a_policy_with_rules_and_the_worlds_seed_is_refused() -> None:
    """Together they are the future."""
    with pytest.raises(UsageError, match="could play the world in advance; declare"):
        play(GAME, SaysRules, SEED)


def test_a_policy_of_observations_builds_none_that_knows_more() -> None:
    """Unless its arguments name the inner one, whose level then is its own as well."""
    with pytest.raises(UsageError, match="knows 'rules', and cannot be built inside a policy"):
        resolve(GAME, Builds, SEED)
    assert type(resolve(GAME, Names, SEED).policies["retailer"].inner) is OrderUpTo  # type: ignore[attr-defined]
    assert lineup_knows(GAME, Names) == "rules"


def test_a_record_holds_what_policies_know(tmp_path: Path) -> None:
    """By role, where it is more than observations; a branch has it of the policies that decide."""
    file, branched = tmp_path / "game.jsonl", tmp_path / "branch.jsonl"
    seats = {"retailer": "order_up_to", "factory": "last_demand"}
    play(GAME, seats, SEED, record=file)
    assert Episode.read(file).header.knows == {"retailer": "rules"}
    play_branch(file, 3, {"retailer": "typical"}, record=branched)
    assert Episode.read(branched).header.knows == {}
    assert b"knows" not in branched.read_bytes().splitlines()[0]


#: The shipped policies that know observations and see the model: its texts make their prompts.
PROMPTED = {"llm"}


def test_shipped_policies_of_observations_see_no_parameters() -> None:
    """Every other one declares more."""
    shipped = dict(catalog.policies())
    for model in catalog.models().values():
        shipped |= catalog.policies(model)
    observing = {name for name, one in shipped.items() if knows(one) == "observation"}
    assert {name for name in observing if issubclass(shipped[name], OutsidePolicy)} == PROMPTED
    assert {"last_demand", "greedy", "learning_focus", "replay"} <= observing


def test_a_policy_that_returns_another_one_from_seated_is_refused() -> None:
    """The other one would not play, and nobody would notice."""

    class Made(Policy):
        @classmethod
        def seated(cls, _: Seat) -> "Made":
            return cls()

        def decide(self, _: Stage) -> Order:
            return Order(0)

    with pytest.raises(UsageError, match=r"Made' returns something from seated; write seated\("):
        play(GAME, Made)


def test_a_policy_inside_a_policy_gets_no_more_than_the_outer_one() -> None:
    """What builds a policy from its own seat cannot give it the world's seed."""
    with pytest.raises(UsageError, match="'perfect' needs the world's seed"):
        policy_at("perfect", evolve(seat_of(GAME, "retailer", SEED), world_seed=None))
