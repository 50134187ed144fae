"""Looks ahead on lanes: the same scores as by repetition, and what is left to the other ways."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar

import pytest
from attrs import define, field, frozen
from support.bakery import Bake, Bakery, Failing, Level, Morning, Ovens, Smoothing
from support.ways_ahead import always_repeats, on_lanes

from desim import play
from desim.episodes import simulator
from desim.episodes.ahead.lane_mirror import LaneMirror
from desim.episodes.simulator import Simulator
from desim.errors import PolicyFailed
from desim.lanes.lane_protocols import NoLanes
from models.beer_game import BeerGame, Order

BAKERY = Bakery(days=8, cash=900)


@define
class Looks:
    """Plays some actions ahead at each of its decisions, and takes one of them.

    Attributes:
        actions: The candidates.
        policies: The policies that play on.
        ticks: The length of a rollout.
        samples: The number of futures.
        scores: What the simulator returned.
    """

    actions: Sequence[Any]
    policies: Any
    ticks: int | None = None
    samples: int = 3
    scores: list[Any] = field(factory=list)
    _simulator: Any = None

    def take_simulator(self, simulator: Simulator) -> None:
        """Keep the simulator."""
        self._simulator = simulator

    def decide(self, observation: Any) -> Any:
        """Play ahead, and take the actions in turn."""
        futures = self._simulator.futures(self.samples)
        found = self._simulator.scores(
            observation, self.actions, self.policies, futures=futures, ticks=self.ticks
        )
        self.scores.append(found.tolist())
        return self.actions[len(self.scores) % len(self.actions)]


def looks(model: Any, role: str, seed: int, others: Mapping[str, Any], **options: Any) -> list[Any]:
    """Return the scores of all looks of an episode."""
    one = Looks(**options)
    play(model, {role: one, **others}, seed)
    return one.scores


# -- equal scores ----------------------------------------------------------------------------------


RULES = ("typical", "order_up_to", "moving_average", "greedy", "sterman,rounding=half_up")


def random_case(number: int) -> tuple[Any, ...]:
    """Return a game, a stage, the rules of the others, and the arguments of its looks."""
    draws = Random(number)  # noqa: S311 (a case of a test)
    game = BeerGame.preset(
        draws.choice(["poisson", "classic"]),
        horizon=draws.randint(2, 9),
        whole_units=True,
    )
    stages = [*game.stages]
    role = draws.choice(stages)
    played = {one: draws.choice(RULES) for one in stages if one != role and draws.random() < 0.3}
    looks = {
        "actions": [Order(draws.randint(0, 30)) for _ in range(draws.randint(1, 3))],
        "policies": {one: draws.choice(RULES) for one in (role, *played)},
        "ticks": draws.choice([None, 1, 3, 20]),
        "samples": draws.randint(1, 3),
    }
    return game, role, number, played, looks


@pytest.mark.parametrize("number", range(12))
def test_random_games_have_the_scores_of_repetitions(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each decision, for each action and future; some hundred forks of lanes."""
    *case, options = random_case(number)
    lanes = on_lanes(monkeypatch)
    with_lanes = looks(*case, **options)
    assert with_lanes == lanes
    always_repeats(monkeypatch, simulator)
    assert looks(*case, **options) == with_lanes


@pytest.mark.parametrize("rule", [Level, Smoothing])
def test_episodes_that_end_at_different_times(rule: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane that has ended keeps its score."""
    options: dict[str, Any] = {"actions": [Bake(0), Bake(14), Bake(40)], "policies": rule}
    lanes = on_lanes(monkeypatch)
    with_lanes = looks(BAKERY, "baker", 1, {}, **options)
    assert with_lanes == lanes
    always_repeats(monkeypatch, simulator)
    assert looks(BAKERY, "baker", 1, {}, **options) == with_lanes


def test_the_past_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One lane takes a step with each decision, and each look some more on lanes of its own."""
    steps: list[int] = []
    step = Ovens.step

    def counted(self: Ovens, actions: Mapping[str, Any]) -> Any:
        steps.append(len(self))
        return step(self, actions)

    monkeypatch.setattr(Ovens, "step", counted)
    options: dict[str, Any] = {"actions": [Bake(4), Bake(5)], "policies": {"baker": Level}}
    looks(BAKERY, "baker", 1, {}, **options)
    assert steps.count(1) == BAKERY.days - 1
    assert steps.count(6) == sum(range(1, BAKERY.days + 1))


def test_many_futures_are_played_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that memory is bounded; the scores are the same."""
    options: dict[str, Any] = {"actions": [Bake(4), Bake(9)], "policies": Level, "samples": 5}
    whole = looks(BAKERY, "baker", 1, {}, **options)
    monkeypatch.setattr("desim.episodes.ahead.lane_mirror.MOST_LANES", 3)
    lanes = on_lanes(monkeypatch)
    assert looks(BAKERY, "baker", 1, {}, **options) == whole == lanes


# -- what lanes leave to the other ways ------------------------------------------------------------


@frozen
class Unsteady(Level):
    """Decides by chance."""

    draws: ClassVar[bool] = True


@pytest.mark.parametrize(
    "options",
    [
        {"policies": Unsteady},
        {"policies": Level()},
        {"policies": Level, "ticks": 2},
        {"policies": Level, "actions": [Bake(99_999)]},
    ],
    ids=["chance", "instance", "no period", "range"],
)
def test_other_ways_play_what_lanes_cannot(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An instance may change between two looks; steps of the bakery's lanes state no period."""
    lanes = on_lanes(monkeypatch)
    given = {"actions": [Bake(4), Bake(9)], **options}
    found = looks(BAKERY, "baker", 1, {}, **given)
    assert not lanes
    always_repeats(monkeypatch, simulator)
    assert looks(BAKERY, "baker", 1, {}, **given) == found


def test_a_candidate_without_lanes_leaves_the_others_on_lanes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It alone is played in another way, at each decision anew."""
    options: dict[str, Any] = {"actions": [Bake(4), Bake(99_999), Bake(9)], "policies": Level}
    lanes = on_lanes(monkeypatch)
    with_lanes = looks(BAKERY, "baker", 1, {}, **options)
    assert [[row[0], row[2]] for row in lanes] == [[row[0], row[2]] for row in with_lanes]
    assert {row[1] for row in map(tuple, lanes)} == {None}
    always_repeats(monkeypatch, simulator)
    assert looks(BAKERY, "baker", 1, {}, **options) == with_lanes


def test_a_loan_has_no_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model says so; its rollouts repeat the past."""
    lanes = on_lanes(monkeypatch)
    options: dict[str, Any] = {"actions": [Bake(4)], "policies": Level}
    assert looks(Bakery(days=3, loan=True), "baker", 1, {}, **options)
    assert not lanes


@frozen
class Faulty(Failing):
    """Raises an exception where no loaf is left."""

    faulty: int = 0


def test_a_policy_that_fails_raises_the_error_of_a_repetition() -> None:
    """It names the action and the future."""
    with pytest.raises(PolicyFailed, match=r"rollout of 'baker' at t=0 .*Bake.*ValueError: no fl"):
        looks(BAKERY, "baker", 1, {}, actions=[Bake(0)], policies=Faulty)


def test_a_lane_that_asks_something_else_is_not_used() -> None:
    """Neither another role nor another observation than the episode."""
    one = LaneMirror(BAKERY, 1, {"baker": Level()})
    with pytest.raises(NoLanes, match="another question than the episode"):
        one.check("baker", Morning(0, 901, 0, 0))
    one.check("baker", Morning(0, 900, 0, 0))
    with pytest.raises(NoLanes, match="the lane asks baker, and the episode \\['miller'\\]"):
        one.follow(1, lambda _: ("miller", Bake(1)))
