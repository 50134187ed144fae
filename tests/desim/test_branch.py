"""Branching: the past of an episode with another future."""

import pytest

from desim import Episode, branch, play
from desim.errors import BadRecord, UsageError
from models.beer_game import BeerGame, Order

GAME = BeerGame.preset("poisson", horizon=6)


def played_on(run: object, quantity: int) -> list[int]:
    """Answer what is open, until the end, and return how many there were at each instant."""
    counts = []
    while opened := run.open:  # type: ignore[attr-defined]
        counts.append(len(opened))
        for decision in opened:
            run.answer(decision, Order(quantity))  # type: ignore[attr-defined]
        run.advance()  # type: ignore[attr-defined]
    return counts


@pytest.fixture
def episode() -> Episode:
    """Two stages are played, so each instant has two decisions."""
    return play(GAME, {"retailer": "typical", "factory": "greedy"}, 4)


def test_a_branch_at_the_end_is_the_episode(episode: Episode) -> None:
    """Nothing is open and the result is the same."""
    run = branch(episode)
    assert run.open == []
    assert run.result() == episode.result


def test_a_branch_in_the_middle_of_an_instant_leaves_the_rest_of_it_open(episode: Episode) -> None:
    """Three answers given: the fourth is open, then two a week."""
    run = branch(episode, 3)
    assert [d.role for d in run.open] == ["factory"]
    assert run.world.now == 2
    assert played_on(run, 0) == [1, 2, 2, 2, 2]
    assert run.result() != episode.result


def test_another_future_changes_nothing_of_the_past(episode: Episode) -> None:
    """The same answers lead to the same end, others to another."""
    ends = {quantity: branch(episode, 4) for quantity in (0, 9)}
    for quantity, run in ends.items():
        played_on(run, quantity)
    assert ends[0].result().ledger_digest != ends[9].result().ledger_digest
    assert branch(episode).result() == episode.result


def test_the_whole_future_can_be_another(episode: Episode) -> None:
    """No answer is given again: only model and seed are."""
    run = branch(episode, 0)
    assert run.world.now == 1
    assert len(run.open) == 2


@pytest.mark.parametrize("decisions", [-1, 13])
def test_more_or_less_than_there_is_is_refused(episode: Episode, decisions: int) -> None:
    """The sentence names both numbers."""
    with pytest.raises(UsageError, match=f"{decisions} decisions were asked for; there are 12"):
        branch(episode, decisions)


def test_a_past_that_differs_is_named(episode: Episode) -> None:
    """A branch stands on verified ground."""
    from attrs import evolve

    other = evolve(episode, steps=(episode.steps[0], *episode.steps[2:]))
    with pytest.raises(BadRecord, match="decision 2 differs: recorded 'retailer' at t=2"):
        branch(other)
