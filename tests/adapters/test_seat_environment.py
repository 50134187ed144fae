"""The base of the environments: it needs no other package."""

from pathlib import Path
from typing import Any

import pytest

from desim.adapters.seat.seat_environment import SeatEnvironment
from desim.adapters.seat.setup import Setup
from desim.errors import ModelFailed, UsageError, WrongAction
from desim.records.episode import Episode

BEER = Setup.of("beer_game", "poisson", seats="retailer", params={"horizon": 4})
ORDER = {"do": "order", "quantity": 4}


def step(world: SeatEnvironment, action: Any = ORDER) -> dict[str, float]:
    """Answer the open decision."""
    session = world.running()
    session.answer(session.open[0], action)
    return world.move(session)


def test_a_refused_begin_leaves_the_present_episode_at_play() -> None:
    """Neither a wrong seed nor a file that exists ends it."""
    world = SeatEnvironment(BEER, "test")
    with pytest.raises(UsageError, match="no episode has begun; call reset first"):
        world.running()
    session = world.begin(3)
    with pytest.raises(UsageError, match="a seed is a whole number"):
        world.begin(-1)
    assert world.running() is session


def test_a_wrong_action_changes_nothing_and_the_end_refuses_any(tmp_path: Path) -> None:
    """The record of an ended episode is whole, and rewards add up to its score."""
    world = SeatEnvironment(BEER, "test")
    session = world.begin(3, tmp_path / "episode.jsonl")
    with pytest.raises(WrongAction):
        step(world, {"do": "order", "quantity": "many"})
    total = sum(step(world)["retailer"] for _ in range(4))
    assert session.result is not None
    assert total == session.result.score
    with pytest.raises(UsageError, match="the episode is over; call reset first"):
        step(world)
    assert Episode.read(tmp_path / "episode.jsonl").result == session.result


def test_a_failed_episode_is_kept_as_its_error_until_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes no answer."""
    world = SeatEnvironment(BEER, "test")
    session = world.begin(3)
    with monkeypatch.context() as failing:
        failing.setattr(session, "advance", raising)
        with pytest.raises(ModelFailed, match="broken"):
            step(world)
    assert isinstance(world.fault, ModelFailed)
    with pytest.raises(UsageError, match="the episode has failed; call reset first"):
        world.running()
    world.begin(3)
    assert world.fault is None
    step(world)


def raising() -> None:
    """Fail as a model does."""
    raise ModelFailed("broken")
