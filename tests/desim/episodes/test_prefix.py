"""Branching: the first decisions of an episode again, and then others."""

import pytest

from desim import Episode, branch, play
from desim.errors import BadRecord, UsageError
from models.beer_game import BeerGame, Order

GAME = BeerGame.preset("poisson", horizon=6)


def played_on(run: object, quantity: int) -> list[int]:
    """Answer all open decisions until the end and return how many each tick had."""
    counts = []
    while opened := run.open:  # type: ignore[attr-defined]
        counts.append(len(opened))
        for decision in opened:
            run.answer(decision, Order(quantity))  # type: ignore[attr-defined]
        run.advance()  # type: ignore[attr-defined]
    return counts


@pytest.fixture
def episode() -> Episode:
    """Play two stages, so that each tick has two decisions."""
    return play(GAME, {"retailer": "typical", "factory": "greedy"}, 4)


def test_a_branch_at_the_end_is_the_episode(episode: Episode) -> None:
    """Nothing is open and the result is the same."""
    run = branch(episode)
    assert run.open == []
    assert run.result() == episode.result


def test_a_branch_in_the_middle_of_a_tick_leaves_the_rest_of_it_open(episode: Episode) -> None:
    """Three answers given: the fourth is open, then two a week."""
    run = branch(episode, 3)
    assert [d.role for d in run.open] == ["factory"]
    assert run.world.now == 2
    assert played_on(run, 0) == [1, 2, 2, 2, 2]
    assert run.result() != episode.result


def test_other_decisions_change_no_earlier_ones(episode: Episode) -> None:
    """Equal answers give equal ledgers, other answers give others."""
    ends = {quantity: branch(episode, 4) for quantity in (0, 9)}
    for quantity, run in ends.items():
        played_on(run, quantity)
    assert ends[0].result().ledger_digest != ends[9].result().ledger_digest
    assert branch(episode).result() == episode.result


def test_a_branch_at_the_start_repeats_no_answer(episode: Episode) -> None:
    """Only model and seed are those of the episode."""
    run = branch(episode, 0)
    assert run.world.now == 1
    assert len(run.open) == 2


@pytest.mark.parametrize("decisions", [-1, 13])
def test_a_number_of_decisions_out_of_range_is_refused(episode: Episode, decisions: int) -> None:
    """The error names both numbers."""
    with pytest.raises(UsageError, match=f"{decisions} decisions were given; the episode has 12"):
        branch(episode, decisions)


def test_the_first_difference_is_named(episode: Episode) -> None:
    """The decisions given again are compared with the record."""
    from attrs import evolve

    other = evolve(episode, steps=(episode.steps[0], *episode.steps[2:]))
    with pytest.raises(BadRecord, match="decision 2 differs: recorded 'retailer' at t=2"):
        branch(other)
