"""The time that decisions took is on record, and every way to repeat them keeps it."""

import asyncio
import json
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from attrs import define, evolve, field, frozen
from support.slow_guards import Guards, Post, Step, Tokens, days_of

from desim import Episode, Policy, play, play_async, replay
from desim.core.roles import Thinking
from desim.episodes.counterfactual import Past, outcome
from desim.episodes.driver import CallerSession
from desim.episodes.replay import branch
from desim.episodes.resume import play_branch, resume
from desim.errors import BadRecord
from desim.lanes import NoLanes, lanes_of
from desim.records.writer import cut
from models.beer_game import BeerGame

MODEL = Guards(Thinking(per_1000_tokens=1), days=12)
TRUST = {"trust": True}


@define
class Clock(Policy):
    """A policy whose seconds are others in every process, as those of a wall clock."""

    seconds: Any = field(factory=lambda: count(1))
    notes: dict[str, Any] = field(factory=dict)

    def decide(self, post: Post) -> Step:
        """Walk as many steps as days have passed."""
        self.notes = {"usage": {"seconds": float(next(self.seconds))}}
        return Step(post.day)


def delays(episode: Episode) -> list[int]:
    """Return the delays of the left guard."""
    return [step.delay for step in episode.steps if step.role == "left"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the record of guards of whom the left one thinks for two days."""
    path = tmp_path / "a.jsonl"
    play(MODEL, {"left": Tokens(2000), "right": Tokens(9000)}, record=path)
    return path


def test_a_line_has_the_ticks_where_a_decision_took_some(file: Path) -> None:
    """And nothing where it took none, so that other records stay as they are."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    made = [line for line in lines if line["line"] == "decision"]
    assert {line["delay"] for line in made if line["role"] == "left"} == {2}
    assert not any("delay" in line for line in made if line["role"] == "right")


def test_a_replay_needs_no_policy_and_no_clock(file: Path) -> None:
    """It has the same diary, from the delays on record alone."""
    played = replay(file, **TRUST)
    assert played.metrics == play(MODEL, {"left": Tokens(2000), "right": Tokens(0)}).metrics
    assert delays(played) == [2, 2, 2, 2]


@pytest.mark.parametrize("delay", ["-1", "1.5", "null", "1e99", "99999999999999999999", '"2"'])
def test_an_impossible_time_on_record_is_refused(file: Path, delay: str) -> None:
    """The clock of a replay never runs backwards, whatever a stranger has written."""
    text = file.read_text().replace('"delay":2', f'"delay":{delay}', 1)
    file.write_text(text)
    with pytest.raises(BadRecord, match="not readable"):
        replay(file, **TRUST)


def test_another_time_is_another_episode(file: Path) -> None:
    """A later decision is then not where the record has it."""
    episode = Episode.read(file)
    steps = [msgspec.structs.replace(step, delay=min(step.delay, 1)) for step in episode.steps]
    with pytest.raises(BadRecord, match=r"decision 3 .*steps was 1, now 2"):
        branch(evolve(episode, steps=tuple(steps)), **TRUST)


@pytest.mark.parametrize("kept", [1, 2, 5, 9])
def test_a_resumed_record_keeps_the_times_on_record(tmp_path: Path, kept: int) -> None:
    """Although the policy takes others now; the decisions after them take what it takes."""
    path = tmp_path / "c.jsonl"
    model = Guards(Thinking(per_second=1), days=12)
    whole = play(model, {"left": Clock(), "right": Tokens(0)}, record=path)
    before = delays(Episode.read(path))
    cut(path, kept)
    resumed = resume(path, {"left": Clock(count(1)), "right": Tokens(0)}, **TRUST)
    assert resumed == whole
    cut(path, kept)
    other = resume(path, {"left": Clock(count(3)), "right": Tokens(0)}, **TRUST)
    decided = sum(step.role == "left" for step in other.steps[:kept])
    assert delays(other)[:decided] == before[:decided]
    assert replay(path, **TRUST).result == other.result


def test_a_branch_keeps_the_times_before_it(tmp_path: Path, file: Path) -> None:
    """With the recorded policies to the same end, and with others in their own time."""
    run = branch(Episode.read(file), 6, **TRUST)
    assert days_of(run.state, "left") == [3]
    new = tmp_path / "d.jsonl"
    made = play_branch(file, 6, {"left": Tokens(0), "right": Tokens(0)}, record=new, **TRUST)
    assert delays(made)[:2] == [2, 2]
    assert {*delays(made)[2:]} == {0}
    assert replay(new, **TRUST).result == made.result


def test_a_caller_takes_the_latency(tmp_path: Path) -> None:
    """A person or an agent has no notes; the policies beside it take their own time."""
    path = tmp_path / "e.jsonl"
    model = Guards(Thinking(latency=2))
    with CallerSession(model, seats=["left"], others={"right": Tokens(0)}, record=path) as session:
        while opened := session.advance():
            session.answer(opened[0], Step())
    assert session.episode is not None
    assert days_of(session.run.state, "left") == [3, 6]
    assert replay(path, **TRUST).result == session.episode.result


def test_answers_that_are_awaited_take_their_time(file: Path) -> None:
    """As those of plain policies."""

    @frozen
    class Awaited(Tokens):
        async def decide(self, post: Post) -> Step:  # type: ignore[override]
            """Decide as the others, after another task."""
            await asyncio.sleep(0)
            return Step(post.day)

    made = asyncio.run(play_async(MODEL, {"left": Awaited(2000), "right": Awaited(0)}))
    assert made.metrics == Episode.read(file).metrics


def test_rollouts_take_the_latency() -> None:
    """Their answers before the present decision take the time of the episode."""
    model = Guards(Thinking(latency=2))
    looked = play(model, {"left": "rollout,samples=2", "right": "greedy"})
    assert looked.metrics == play(model, "greedy").metrics
    assert delays(looked) == [2, 2]


def test_other_courses_of_a_record_keep_its_times(file: Path) -> None:
    """Answers on record take the time on record, also one that is replaced."""
    past = Past.read(file, trust=True)
    score, first = Episode.read(file).score, past.moments[0].action
    # Policies that play on take the latency, here 0: the left guard walks every day from then on.
    others = {"left": Tokens(0), "right": Tokens(0)}
    quick = play(evolve(MODEL, thinking=Thinking()), others).score
    assert score < outcome(past, 0, first, others) < quick


def test_lanes_are_refused() -> None:
    """A world whose decisions take time is played event by event."""
    lanes_of(BeerGame(), ["retailer"], [0])
    with pytest.raises(NoLanes, match="BeerGame has no lanes where decisions take time"):
        lanes_of(BeerGame(thinking=Thinking(latency=1)), ["retailer"], [0])
