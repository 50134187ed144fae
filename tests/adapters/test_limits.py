"""Limits of an episode that an adapter plays: decisions, and days of the world's calendar."""

import datetime as dt
from typing import Any

import pytest

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import SteppedSession
from desim.errors import UsageError

WORLDS = {"beer_game/poisson": 56, "yc_bench/direct": 30, "enterprise_arena/capped": 366}


def play(session: SteppedSession) -> None:
    """Take the first option until no decision is open, or the episode is truncated."""
    while not session.done:
        for decision in list(session.open):
            session.answer(decision, session.options(decision)[0].action)
        session.advance()


@pytest.mark.parametrize(("world", "days"), WORLDS.items())
def test_an_episode_is_truncated_at_the_first_decision_after_its_days(
    world: str, days: float
) -> None:
    """No decision is answered later, and the one that is left open is not earlier."""
    setup = Setup.of(world, max_days=days)
    calendar: Any = setup.model.time.calendar
    with setup.begin(1) as session:
        play(session)
        assert session.truncated
        assert calendar.moment(session.tick) >= calendar.moment(0) + dt.timedelta(days=days)
        with pytest.raises(UsageError, match="is truncated after"):
            session.answer(session.open[0], session.options(session.open[0])[0].action)


def test_a_world_that_ends_before_is_not_truncated() -> None:
    """52 weeks are over before 10,000 days are."""
    with Setup.of("beer_game/poisson", max_days=10_000).begin(1) as session:
        play(session)
        assert session.result is not None
        assert not session.truncated


@pytest.mark.parametrize("given", [0, -1, float("nan"), True, "30", 1e9])
def test_days_are_a_number_above_0(given: Any) -> None:
    """Anything else is refused before an episode begins."""
    with pytest.raises(UsageError, match="it is a number above 0 and at most 1,000,000"):
        Setup.of("beer_game", max_days=given)
