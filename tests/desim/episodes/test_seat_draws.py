"""The draws of policies differ between futures, from the first decision after the redraw on."""

from pathlib import Path
from typing import Any, Self

import pytest
from attrs import frozen
from support.companies import Firm
from support.futures import Guess, Rolls, Seen

from desim import Episode, Policy, Seat, play, resume
from desim.composition import Composite, PartSpec
from desim.episodes.resume import play_branch


@frozen
class Chancy(Policy):
    """Guesses at random."""

    generator: Any

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Take the generator of the seat."""
        return cls(seat.generator())

    def decide(self, _: Seen) -> Guess:
        """Return a number of ten."""
        return Guess(int(self.generator.integers(10)))


CHANCY = {"left": Chancy, "right": Chancy}


def guesses(episode: Episode) -> list[int]:
    """Return the guesses of an episode, played or read."""
    actions = [step.action for step in episode.steps]
    return [one["number"] if isinstance(one, dict) else one.number for one in actions]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record of two roles that decide together, both at random."""
    file = tmp_path / "run.jsonl"
    play(Rolls(), CHANCY, 1, record=file)
    return file


@pytest.mark.parametrize("at", [0, 4, 5])
@pytest.mark.parametrize("given", [CHANCY, None])
def test_draws_differ_between_futures(record: Path, at: int, given: Any) -> None:
    """Of policies that begin there, and of recorded ones; decisions before it stay the same."""
    true = guesses(Episode.read(record))
    futures = [guesses(play_branch(record, at, given, future=f, trust=True)) for f in (1, 2, 1)]
    assert all(found[:at] == true[:at] for found in futures)
    assert futures[0] == futures[2]
    for role in (0, 1):  # each of both roles draws other numbers
        first = at + (at + role) % 2
        mine, other, now = (each[first::2] for each in (*futures[:2], true))
        assert mine != other
        assert now not in (mine, other)


def test_a_branch_in_the_true_future_draws_as_the_episode(record: Path) -> None:
    """The recorded policies decide as on record to the end."""
    assert guesses(play_branch(record, 5, trust=True)) == guesses(Episode.read(record))


def test_a_cut_branch_is_resumed_with_its_draws(record: Path, tmp_path: Path) -> None:
    """Also where it is cut behind the redraw."""
    branched = tmp_path / "branch.jsonl"
    whole = play_branch(record, 5, future=3, record=branched, trust=True)
    lines = branched.read_text().splitlines(keepends=True)
    for kept in (5, 8, 9):
        branched.write_text("".join(lines[:kept]))
        assert guesses(resume(branched, trust=True)) == guesses(whole)


def test_a_part_that_is_repeated_has_other_draws(tmp_path: Path) -> None:
    """One policy plays all repetitions, and its draws go on."""
    once = PartSpec.of(Firm(), times=3)
    episode = play(Composite({"firm": once}), "random", seed=1)
    actions = [step.action for step in episode.steps]
    size = len(actions) // 3
    assert actions[:size] != actions[size : 2 * size] != actions[2 * size :]
