"""Drivers: coroutines of one tick, series of a policy that learns, calls that are refused."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from attrs import define, field, frozen
from support.recorded import GAME, lines_of
from support.small_worlds import STRIDE, Diary

from desim import Episode, Model, Policy, Role, play, play_async, play_series
from desim.errors import PolicyFailed, UsageError
from models.beer_game import BeerGame, Order, Stage
from policies.heuristics.beer_game import OrderUpTo

# -- coroutines ------------------------------------------------------------------------------------


def test_coroutines_of_one_instant_overlap() -> None:
    """Each waits until every role of the tick was asked; one after the other they would block."""
    names = GAME.stages
    asked: list[str] = []
    everybody = asyncio.Event()

    class Meets(Policy):
        async def decide(self, stage: Stage) -> Order:
            asked.append(stage.role)
            if len(asked) % len(names) == 0:
                everybody.set()
            await everybody.wait()
            return Order(stage.week)

    async def meet() -> Episode:
        return await asyncio.wait_for(play_async(GAME, {n: Meets() for n in names}), timeout=60)

    episode = asyncio.run(meet())
    assert asked == list(names) * 6
    assert [s.role for s in episode.steps] == asked


def test_both_drivers_play_the_same_episode(tmp_path: Path) -> None:
    """Answers that arrive in another order are recorded in the order of the questions."""
    finished: list[str] = []

    class Slow(Policy):
        def __init__(self, turns: int) -> None:
            self.turns = turns

        async def decide(self, stage: Stage) -> Order:
            for _ in range(self.turns):
                await asyncio.sleep(0)
            finished.append(stage.role)
            return Order(stage.incoming_order)

    seats = {"retailer": Slow(3), "wholesaler": Slow(1), "brewery": "last_demand"}
    plain = dict.fromkeys(seats, "last_demand")
    slow = asyncio.run(play_async(GAME, seats, 1, record=tmp_path / "slow"))
    fast = play(GAME, plain, 1, record=tmp_path / "fast")
    assert finished[:2] == ["wholesaler", "retailer"]
    assert (slow.steps, slow.result) == (fast.steps, fast.result)
    assert lines_of(tmp_path / "slow")[1:-1] == lines_of(tmp_path / "fast")[1:-1]


def test_when_one_coroutine_fails_the_others_are_cancelled() -> None:
    """They would go on with paid calls; the error names role, tick and what was raised."""
    reached: list[str] = []

    class Breaks(Policy):
        async def decide(self, stage: Stage) -> Order:
            raise OSError("no answer")

    class Thinks(Policy):
        async def decide(self, stage: Stage) -> Order:
            reached.append("asked")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            reached.append("decided")
            return Order(0)

    async def run() -> None:
        text = "failed as 'retailer' at t=0: OSError: no answer"
        with pytest.raises(PolicyFailed, match=text) as failed:
            await play_async(GAME, {"retailer": Breaks(), "wholesaler": Thinks()})
        assert isinstance(failed.value.__cause__, OSError)
        for _ in range(9):
            await asyncio.sleep(0)

    asyncio.run(run())
    assert reached == ["asked"]


@pytest.mark.parametrize("wrong", ["no_such_policy", "base_stock,target=x", {"x": "typical"}, {}])
def test_a_wrong_call_leaves_no_file(tmp_path: Path, wrong: Any) -> None:
    """An error before the first decision creates no record."""
    model = BeerGame(horizon=6) if wrong else Demanding()
    with pytest.raises(UsageError):
        play(model, wrong, record=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("model", "preset"),
    [
        ("beer_game/poisson", ""),
        ("beer_game", "poisson"),
        (BeerGame, "poisson"),
        (BeerGame.preset("poisson"), ""),
    ],
)
def test_a_model_has_four_forms(model: Any, preset: str) -> None:
    """A name, a name with a preset, a class and an instance with the same changes are one world."""
    episode = play(model, "typical", 1, preset=preset, set={"horizon": 6, "holding_cost": "0.25"})
    same = play(BeerGame.preset("poisson", horizon=6, holding_cost=0.25), "typical", 1)
    assert (episode.score, episode.ledger_digest) == (same.score, same.ledger_digest)


@pytest.mark.parametrize(
    ("model", "preset", "text"),
    [
        (GAME, "poisson", "preset 'poisson' belongs to a model's name; a built model was given"),
        (3, "", "3 is no model: it needs roles, begin, score and metrics"),
        (Stage, "", "Stage: "),
        (BeerGame, "poison", "BeerGame has no preset 'poison'; did you mean 'poisson'?"),
    ],
)
def test_what_is_no_model_is_refused(model: Any, preset: str, text: str) -> None:
    """The sentence names what was given."""
    with pytest.raises(UsageError, match=f"^{re.escape(text)}"):
        play(model, "typical", preset=preset)


@frozen
class Demanding(Model[None]):
    """A model whose only role is not optional."""

    horizon: int = 1

    @property
    def roles(self) -> Any:
        """Return the one role."""
        return {"retailer": Role(Stage, Order)}

    def begin(self, world: Any) -> None:
        """Never reached."""

    score = metrics = begin


# -- series ----------------------------------------------------------------------------------------


@define
class Learns(Policy):
    """A policy that orders one unit more in every episode."""

    quantity: int = 0
    shown: list[Episode] = field(factory=list)

    def decide(self, stage: Stage) -> Order:
        """Return the quantity learned so far."""
        return Order(self.quantity)

    def after(self, episode: Episode) -> None:
        """Order one unit more from now on, and keep the episode."""
        self.quantity += 1
        self.shown.append(episode)


def test_a_series_lets_a_policy_learn(tmp_path: Path) -> None:
    """`after` receives every episode, and the same instance plays the next."""
    policy = Learns()
    episodes = play_series(GAME, policy, [5, 5, 6], record=tmp_path)
    assert policy.shown == episodes
    assert [e.header.seed for e in episodes] == [5, 5, 6]
    assert [[s.action.quantity for s in e.steps] for e in episodes] == [[n] * 6 for n in range(3)]
    assert sorted(f.name for f in tmp_path.iterdir()) == [
        "episode-001.jsonl",
        "episode-002.jsonl",
        "episode-003.jsonl",
    ]
    assert Episode.read(tmp_path / "episode-002.jsonl").summary() == episodes[1].summary()
    assert {e.header.policies["retailer"] for e in episodes} == {"Learns(quantity=0, shown=[])"}


def test_a_class_in_a_series_is_built_once() -> None:
    """Each role has an instance of its own for all episodes."""
    episodes = play_series(GAME, {"retailer": Learns, "brewery": Learns}, range(3))
    orders = [{s.role: s.action.quantity for s in e.steps} for e in episodes]
    assert orders == [{"retailer": n, "brewery": n} for n in range(3)]
    assert play_series(GAME, Learns, []) == []


def test_a_policy_that_does_not_learn_plays_a_series_as_single_episodes() -> None:
    """With a spec, a model by name, and any iterable of seeds."""
    seeds = iter([1, 2])
    series = play_series("beer_game/poisson", "benchmark", seeds)
    assert series == [play("beer_game/poisson", "benchmark", s) for s in (1, 2)]


def test_a_summary_is_plain() -> None:
    """It is the object that `--json` prints, with its keys in this order."""
    summary = play(GAME, "typical", 2).summary()
    assert [*summary] == [
        "model",
        "preset",
        "params",
        "seed",
        "policies",
        "score",
        "ended",
        "metrics",
        "decisions",
        "ledger_digest",
        "version",
        "revision",
    ]
    assert json.loads(msgspec.json.encode(summary)) == summary


def test_an_episode_holds_the_series_of_its_model(tmp_path: Path) -> None:
    """Where they are wanted; record and comparison are the same without them."""
    plain = play(Diary(), STRIDE, 3, record=tmp_path / "plain.jsonl")
    full = play(Diary(), STRIDE, 3, record=tmp_path / "full.jsonl", series=True)
    assert plain.series()["place"] == full.series()["place"]
    assert full.series()["place"] == (1.0, 2.0, 3.0)
    assert len(full.series()["gust"]) == 3
    assert full == plain
    assert (tmp_path / "full.jsonl").read_bytes() == (tmp_path / "plain.jsonl").read_bytes()
    assert asyncio.run(play_async(Diary(), STRIDE, 3, series=True)).series() == full.series()


def test_one_instance_plays_one_role() -> None:
    """It takes one seat, whose stage sets its level; a class is made anew for each."""
    rule, stages = OrderUpTo(18), ("retailer", "brewery")
    with pytest.raises(UsageError, match="cannot play retailer and brewery; give each an instance"):
        play(GAME, dict.fromkeys(stages, rule))
    assert play(GAME, dict.fromkeys(stages, OrderUpTo)).result is not None
