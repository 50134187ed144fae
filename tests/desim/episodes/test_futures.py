"""Branches with a redrawn future, and their records."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from support.futures import DECLARED, Guess, Rolls, Seen, zeros
from support.recorded import played_lines

from desim import Episode, Policy, Run, Seat, branch, play, replay, resume
from desim.core.streams import redrawn_seed
from desim.episodes.resume import play_branch
from desim.errors import BadRecord, UsageError

TABLE = Rolls(ahead=True)
ZEROS = {"left": zeros, "right": zeros}


@define
class Last(Policy):
    """Guesses the last roll."""

    def decide(self, seen: Seen) -> Guess:
        """Return it."""
        return Guess(seen.rolls[-1])


LAST = f"{__name__}:Last"


def observed(run: Run[Any]) -> list[tuple[int, ...]]:
    """Play on with zeros and return the observations, those of the open decisions first."""
    found = []
    while run.open:
        for decision in run.open:
            found.append(decision.observation.rolls)
            run.answer(decision, Guess(0))
        run.advance()
    return found


def seen(episode: Episode) -> list[Any]:
    """Return the rolls of every observation of an episode, played or read."""
    steps = [step.observation for step in episode.steps]
    return [list(one["rolls"] if isinstance(one, dict) else one.rolls) for one in steps]


@pytest.mark.parametrize("at", [0, 4, 5])
def test_twins(at: int) -> None:
    """The decisions that are open at the branch are the same; what follows differs."""
    episode = play(TABLE, ZEROS, 1)
    runs = [branch(episode, at, future=future) for future in (1, 2, 1)]
    opened = [[d.observation.rolls for d in run.open] for run in runs]
    first, other, again = [observed(run) for run in runs]
    assert opened[0] == opened[1]
    assert opened[0] == [step.observation.rolls for step in episode.steps[at:][: len(opened[0])]]
    assert first == again
    assert not {*first[-1][at // 2 + 1 :]} & {*other[-1][at // 2 + 1 :]}


def test_without_a_future_a_branch_is_the_episode() -> None:
    """Equal answers give the same result, also in a branch of a branch."""
    episode = play(TABLE, ZEROS, 1)
    run = branch(episode, 4)
    observed(run)
    assert run.result() == episode.result
    assert branch(episode, future=3).result() == episode.result


@pytest.mark.parametrize("future", [-1, True, 0.5, "1"])
def test_a_future_is_checked_before_anything_is_played(future: Any) -> None:
    """The error says what it is."""
    with pytest.raises(UsageError, match="a seed is a whole number of at least 0"):
        branch(play(TABLE, ZEROS, 1), 4, future=future)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Write a record whose policies are specs."""
    play(TABLE, {"left": LAST, "right": LAST}, 1, record=tmp_path / "whole.jsonl")
    return tmp_path / "whole.jsonl"


def test_a_record_of_a_branch_replays(whole: Path, tmp_path: Path) -> None:
    """The header names the future, and another future is another episode."""
    one, other = tmp_path / "one.jsonl.gz", tmp_path / "other.jsonl"
    first = play_branch(whole, 5, future=1, record=one, trust=True)
    second = play_branch(whole, 5, future=2, record=other, trust=True)
    assert first.header.futures == ((5, 1),)
    assert replay(one, trust=True) == Episode.read(one)
    assert first.result == Episode.read(one).result != second.result
    recorded = seen(Episode.read(whole))
    assert seen(first)[:6] == seen(second)[:6] == recorded[:6]
    assert seen(first)[6:] != seen(second)[6:]
    run = branch(Episode.read(one), trust=True)
    assert run.result() == first.result
    assert play_branch(whole, 5, future=1, trust=True).result == first.result


def test_a_branch_of_a_branch(whole: Path, tmp_path: Path) -> None:
    """Without a future it plays on in the branch's world; with one, later redraws are dropped."""
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    first = play_branch(whole, 6, future=1, record=one, trust=True)
    assert play_branch(one, 4, trust=True).result == first.result
    second = play_branch(one, 8, future=1, record=two, trust=True)
    assert second.header.futures == ((6, 1), (8, 1))
    assert replay(two, trust=True).result == second.result != first.result
    third = play_branch(two, 6, future=2, trust=True)
    assert third.header.futures == ((6, 1), (6, 2))
    fourth = play_branch(two, 4, future=2, trust=True)
    assert fourth.header.futures == ((4, 2),)
    assert fourth.result == play_branch(whole, 4, future=2, trust=True).result


def test_a_cut_record_of_a_branch_is_resumed(whole: Path, tmp_path: Path) -> None:
    """Before the branch, in the middle of its instant, and behind it."""
    one = tmp_path / "one.jsonl"
    first = play_branch(whole, 5, future=1, record=one, trust=True)
    text, lines = one.read_bytes(), played_lines(one)
    for decisions in (0, 4, 5, 6, 11):
        one.write_bytes(b"".join(text.splitlines(keepends=True)[: decisions + 1]))
        assert resume(one, trust=True).result == first.result
        assert played_lines(one) == lines
        # The decisions up to the branch are those of another record.
        assert Episode.read(one).resumed == ((decisions,) if decisions > 5 else ())


def test_a_record_without_futures_has_no_such_field(whole: Path) -> None:
    """Records of older versions are read, and new ones do not change."""
    assert b'"futures"' not in whole.read_bytes()
    assert Episode.read(whole).header.futures == ()


def _with(file: Path, futures: Any) -> Path:
    head, *rest = file.read_text(encoding="utf-8").splitlines()[:-1]
    fields = json.loads(head)
    fields["futures"] = futures
    lines = [json.dumps(fields, separators=(",", ":")), *rest]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("futures", "text"),
    [
        ([[4, -1]], "future -1 was given; a seed is a whole number of at least 0"),
        ([[4, 1], [2, 1]], "a future after 2 decisions was given; .* of at least 4"),
        ([[4, 1.5]], "Expected `int`, got `float`"),
    ],
)
def test_a_strangers_futures_are_checked(whole: Path, futures: Any, text: str) -> None:
    """One sentence, whatever is done with the record."""
    file = _with(whole, futures)
    acts: list[Callable[[], object]] = [
        lambda: Episode.read(file, whole=False),
        lambda: resume(file, trust=True),
        lambda: play_branch(file, 2, trust=True),
    ]
    for act in acts:
        with pytest.raises(BadRecord, match=text):
            act()


def test_the_model_is_named_in_the_record(whole: Path) -> None:
    """The tests above build it by that name."""
    assert Episode.read(whole).header.model == DECLARED


# -- seeds of 128 bits -----------------------------------------------------------------------------

WIDE = 2**128 - 1


def test_seeds_and_futures_have_128_bits(tmp_path: Path) -> None:
    """A record of such a seed replays, and so does that of a branch with such a future."""
    file, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    play(TABLE, LAST, WIDE, record=file)
    assert Episode.read(file).header.seed == replay(file, trust=True).header.seed == WIDE
    branched = play_branch(file, 2, future=WIDE - 1, record=other, trust=True)
    assert replay(other, trust=True).result == branched.result
    assert Episode.read(other).header.futures == ((2, WIDE - 1),)


def test_a_future_of_128_bits_gives_streams_of_as_many() -> None:
    """Those of smaller futures stay as they were, so that older branches replay."""
    assert redrawn_seed(WIDE, 2**64 - 1) < 2**64
    digest = hashlib.sha256(b"7:future:18446744073709551616").digest()
    assert redrawn_seed(7, 2**64) == int.from_bytes(digest[:16], "big")


# -- draws of policies -----------------------------------------------------------------------------


@define
class Chancy(Policy):
    """Guesses at random."""

    generator: Any = field(init=False)

    def seated(self, seat: Seat) -> None:
        """Take the generator of the seat."""
        self.generator = seat.generator()

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


def test_a_cut_branch_is_resumed_with_its_draws(record: Path, tmp_path: Path) -> None:
    """Also where it is cut behind the redraw."""
    branched = tmp_path / "branch.jsonl"
    whole = play_branch(record, 5, future=3, record=branched, trust=True)
    lines = branched.read_text().splitlines(keepends=True)
    for kept in (5, 8, 9):
        branched.write_text("".join(lines[:kept]))
        assert guesses(resume(branched, trust=True)) == guesses(whole)
