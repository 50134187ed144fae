"""An episode on record is played again with one decision changed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from attrs import define, evolve, frozen
from support.small_worlds import Go, Spot, Stride, Walk

from desim import Episode, Policy, play
from desim.episodes.counterfactual import (
    Past,
    decided_at,
    fresh_roles,
    outcome,
    players,
    players_of_all,
)
from desim.errors import BadRecord, PolicyFailed, UsageError

TWO = {"walker": Stride(1), "helper": Stride(2)}


@frozen
class Together(Walk):
    """A walk whose two walkers are asked at once, and then walk one after the other."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"short": {}}

    def _walk(self, world: Any, path: Any) -> Any:
        for step in range(self.steps):
            spot = Spot(path.places[-1], step)
            asked = [world.ask(role, lambda spot=spot: spot) for role in sorted(world.seats)]
            given = yield world.all_of(asked)
            for go in given.values():
                path.places.append(path.places[-1] + go.places)
            path.gusts.append(0)
            yield world.timeout(1)
        world.end("walked")


@define
class Remembers(Policy):
    """Steps as far as it has seen observations."""

    seen: int = 0

    def decide(self, _spot: Spot) -> Go:
        """Count."""
        self.seen += 1
        return Go(self.seen)


@define
class Asks(Policy):
    """Expects after its first step to be where that step led."""

    place: int | None = None

    def decide(self, spot: Spot) -> Go:
        """Step by ten."""
        if self.place is not None and spot.place != self.place:
            raise RuntimeError("somebody else has walked")
        self.place = spot.place + 10
        return Go(10)


def fails(spot: Spot) -> Go:
    """Fail at the end."""
    raise RuntimeError("out of order")


async def waits(spot: Spot) -> Go:
    """Decide in a coroutine."""
    return Go(1)


@pytest.fixture
def walked(tmp_path: Path) -> Path:
    """Write the record of a walk without wind: six decisions, two at each tick."""
    file = tmp_path / "walk.jsonl"
    play(Together(steps=3, wind=0.0), TWO, record=file)
    return file


def test_the_past_is_the_record(walked: Path) -> None:
    """Its decisions are instances; those open together end at the same number."""
    past = Past.read(walked)
    assert past.until == (2, 2, 4, 4, 6, 6)
    assert [moment.action for moment in past.moments] == [Go(2), Go(1)] * 3


def test_one_decision_is_changed_and_others_play_on(walked: Path) -> None:
    """The decision beside it keeps its answer: 0 to 2 as recorded, then two steps of 5 twice."""
    past = Past.read(walked)
    base = players_of_all(past, {role: Stride(5) for role in TWO}, redrawn=True)
    assert outcome(past, 2, Go(2), base) == 3 + (2 + 1) + 10
    assert outcome(past, 2, Go(50), base) == 3 + (50 + 1) + 10
    assert outcome(past, 3, Go(50), base) == 3 + (2 + 50) + 10


def test_policies_remember_what_they_saw(walked: Path) -> None:
    """The walker has seen two spots and the changed one; a fresh one has seen none."""
    past = Past.read(walked)
    base = players_of_all(past, {"walker": Remembers, "helper": Stride(0)}, redrawn=True)
    assert outcome(past, 3, Go(0), base) == 3 + (2 + 0) + 3
    assert outcome(past, 3, Go(0), base, None, frozenset({"walker"})) == 3 + (2 + 0) + 1
    assert fresh_roles(past, base) == frozenset()


def test_a_policy_that_cannot_follow_begins_later(walked: Path) -> None:
    """Asks expects its own steps; it stands for rules that read the replies to their questions."""
    past = Past.read(walked)
    base = players_of_all(past, {"walker": Asks, "helper": Stride(0)}, redrawn=True)
    assert fresh_roles(past, base) == {"walker"}
    with pytest.raises(PolicyFailed, match=r"'walker' failed at t=1 of a branch, .*: RuntimeError"):
        outcome(past, 3, Go(0), base)
    assert outcome(past, 3, Go(0), base, None, frozenset({"walker"})) == 3 + (2 + 0) + 10
    answers = list(decided_at(past, {"walker": Asks}, base))
    assert answers == [None, Go(10)] * 3


def test_futures_differ_and_repeat(tmp_path: Path) -> None:
    """The past keeps its gusts; what comes after the decision is drawn with the future's seed."""
    past = Past.read(play(Walk(steps=9), Stride(1), seed=4))
    base = players_of_all(past, "random", redrawn=True)
    scores, again = (
        [[outcome(past, 4, Go(n), base, future) for future in range(8)] for n in (1, 3)]
        for _ in range(2)
    )
    assert scores == again
    assert len(set(scores[0])) > 3
    # The same futures for both actions, the draws of the policy's seat included.
    assert [b - a for a, b in zip(*scores, strict=True)] == [2] * 8


def test_a_cut_record_is_enough(walked: Path) -> None:
    """Also one that was cut between two decisions of a tick, of which one is changed."""
    lines = walked.read_bytes().splitlines(keepends=True)
    walked.write_bytes(b"".join(lines[:6]))  # the header and five decisions
    past = Past.read(walked)
    assert len(past.moments) == 5
    base = players_of_all(past, {role: Stride(5) for role in TWO}, redrawn=True)
    assert outcome(past, 4, Go(2), base) == 6 + 2 + 5


def test_an_altered_decision_is_found(walked: Path) -> None:
    """A cut record has no digest; its decisions are repeated and compared."""
    lines = walked.read_bytes().splitlines(keepends=True)
    walked.write_bytes(b"".join(lines[:6]).replace(b'"place":3', b'"place":4'))
    with pytest.raises(BadRecord, match=r"walk.jsonl: decision 3 .*place was 4, now 3"):
        Past.read(walked)


def test_the_players_of_a_record_are_never_built(walked: Path) -> None:
    """A header may name a model of a paid host, a person, or nothing that exists."""
    episode = Episode.read(walked)
    labels = {"walker": "llm,model=paid,base_url=http://127.0.0.1:9/v1", "helper": "person"}
    header = msgspec.structs.replace(episode.header, policies=labels)
    past = Past.read(evolve(episode, header=header))
    base = players_of_all(past, {role: Stride(5) for role in TWO}, redrawn=True)
    assert outcome(past, 2, Go(2), base, 0) == 3 + 3 + 10
    with pytest.raises(UsageError, match=r"recorded players cannot be asked .* --then SPEC"):
        players_of_all(past, None, redrawn=True)
    with pytest.raises(UsageError, match="no policy plays on as 'helper'"):
        players_of_all(past, {"walker": Stride(5)}, redrawn=True)


def test_a_strangers_model_is_not_imported(walked: Path) -> None:
    """As by replay and branch."""
    episode = Episode.read(walked)
    header = msgspec.structs.replace(episode.header, model="strangers_module:World")
    with pytest.raises(UsageError, match="the record would import module 'strangers_module'"):
        Past.read(evolve(episode, header=header))


@pytest.mark.parametrize(
    ("one", "redrawn", "says"),
    [
        ("script,file=none", True, "cannot play in branches: it opens files or contacts a host"),
        (
            "support.small_worlds:Seer",
            True,
            "in branches: it knows hidden state",
        ),
        ("rollout,base=typical", False, "cannot play in branches: it looks ahead itself"),
        ("support.small_worlds:Seer", False, ""),
        ("nobody", True, "there is no policy 'nobody'"),
    ],
)
def test_who_may_play_branches(walked: Path, one: str, redrawn: bool, says: str) -> None:  # noqa: FBT001
    """Nothing that opens a file in each branch; who knows the true future, in no other."""
    past = Past.read(walked)
    given: Any = dict.fromkeys(TWO, one)
    if not says:
        assert players(past, given, redrawn=redrawn) == given
        return
    with pytest.raises(UsageError, match=says):
        players(past, given, redrawn=redrawn)


def test_policies_that_fail_or_wait(walked: Path) -> None:
    """The error says who, and when."""
    past = Past.read(walked)
    base = players_of_all(past, {"walker": fails, "helper": Stride(0)}, redrawn=True)
    with pytest.raises(
        PolicyFailed, match=r"'walker' failed at t=2 of a branch, .*: RuntimeError: out"
    ):
        outcome(past, 2, Go(1), base, None, fresh_roles(past, base))
    with pytest.raises(UsageError, match="cannot play in branches: it is a coroutine"):
        players_of_all(past, {"walker": waits, "helper": Stride(0)}, redrawn=True)
