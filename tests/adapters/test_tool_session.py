"""An episode whose seat acts by tool calls; nothing here needs another package."""

import json
from typing import Any

import pytest

from desim import catalog
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tool_session import (
    LOOK_UP,
    MOST_LOOK_UPS,
    ToolSession,
    share_of_defaults,
    was_played,
)
from desim.errors import WrongAction

BEER = Setup.of("beer_game", "poisson", seats="retailer")


def begun(setup: Setup = BEER, seed: int = 1) -> ToolSession:
    """Return an episode that waits for its first call."""
    return ToolSession(setup, setup.begin(seed))


def called(play: ToolSession, name: str, **arguments: Any) -> str:
    """Return the result of a call."""
    return play.call(name, arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("oder", {"quantity": 4}, "there is no tool 'oder'; did you mean 'order'"),
        ("order", {"quantity": "many"}, "quantity"),
        ("order", {}, "quantity"),
        ("order", {"quantity": 4, "now": True}, "now"),
        ("order", None, "no object"),
        ("order", {"quantity": float("nan")}, "quantity"),
        (LOOK_UP, {"table": "secrets"}, "table 'secrets' was given; Possible: weeks"),
        (LOOK_UP, {"table": ["weeks"]}, "was given"),
    ],
)
def test_a_wrong_call_says_what_is_wrong_and_changes_nothing(
    name: str, arguments: Any, expected: str
) -> None:
    """The sentence is in the words of tools, the observation stays, and the call is counted."""
    play = begun()
    before = (play.observation(), play.session.tick, play.session.run.score())
    with pytest.raises(WrongAction, match=expected) as wrong:
        play.call(name, arguments)
    assert not any(word in str(wrong.value) for word in ("'do'", "Order", "answered at"))
    assert (play.observation(), play.session.tick, play.session.run.score()) == before
    assert (play.wrong, play.answers) == (1, [])


def test_a_call_shows_the_next_observation() -> None:
    """An answer moves the clock on, and is kept as a tagged object."""
    play = begun()
    seen = json.loads(called(play, "order", quantity=4))
    assert seen["week"] == json.loads(begun().observation())["week"] + 1
    assert play.answers == [{"do": "order", "quantity": 4}]


def test_calls_after_the_end_are_not_executed() -> None:
    """A reply may hold more calls than there are decisions."""
    play = begun(Setup.of("beer_game", "poisson", seats="retailer", max_decisions=1))
    assert called(play, "order", quantity=4).startswith("The episode is over.")
    assert called(play, "order", quantity=4) == "Not executed: the episode is over."
    assert play.facts()["ended"] == "truncated"
    assert "ledger_digest" not in play.facts()


def test_playing_out_takes_the_default_action_to_the_end() -> None:
    """A model that stops early pays for the time that is left."""
    stopped, defaults = begun(), begun()
    called(stopped, "order", quantity=4)
    called(defaults, "order", quantity=4)
    stopped.play_out()
    while not defaults.done:
        defaults.default()
    assert stopped.facts() == defaults.facts()
    assert stopped.facts()["ended"] == "horizon"
    assert stopped.defaults == len(stopped.answers) - 1


def test_tables_are_those_of_the_seat_and_so_many_before_a_decision() -> None:
    """A model that only reads is refused; after a decision it may read again."""
    play = begun()
    called(play, "order", quantity=4)
    shown = json.loads(called(play, LOOK_UP, table="weeks"))
    assert shown["rows"] == len(shown["last"])
    for _ in range(MOST_LOOK_UPS - 1):
        called(play, LOOK_UP, table="weeks")
    with pytest.raises(WrongAction, match="20 tables were shown"):
        called(play, LOOK_UP, table="weeks")
    called(play, "order", quantity=4)
    called(play, LOOK_UP, table="weeks")


def test_a_model_that_only_asks_never_exceeds_the_question_limit() -> None:
    """Before a question that would end the episode with an error, the default action is taken."""
    setup = Setup.of(
        "enterprise_arena", "capped", params={"max_questions_per_tick": 5}, seats="cfo"
    )
    play = begun(setup)
    for _ in range(40):
        called(play, "recall_notes")
    assert play.session.tick > 0
    assert play.defaults > 0


@pytest.mark.parametrize(
    ("facts", "share"),
    [
        ({"ended": "horizon", "answers": 4, "defaults": 2}, 0.5),
        ({"ended": "horizon", "answers": 4, "defaults": 3}, 0.75),
        ({"ended": "horizon"}, 0),
        ({"ended": "truncated"}, 1),
        ({}, 1),
    ],
)
def test_an_episode_counts_as_played_by_its_share_of_defaults(
    facts: dict[str, Any], share: float
) -> None:
    """A world that ended before its first question was played; a cut one was not."""
    assert share_of_defaults(facts) == share
    assert was_played(facts) is (share <= 0.5)


@pytest.mark.parametrize("world", catalog.models())
def test_a_silent_model_has_played_no_world(world: str) -> None:
    """All its decisions are default actions, those of an episode that is cut as well."""
    seat = catalog.model(world).default_roles[0]
    setup = Setup.of(world, seats=seat, max_decisions=20)
    play = begun(setup)
    play.play_out()
    assert share_of_defaults(play.facts()) == 1
    assert not was_played(play.facts())
