"""Verified replay: a record's answers again, all of them or up to a point from which to branch."""

from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve

from desim.episode import Episode, Step
from desim.errors import BadRecord, DesimError, UsageError, WrongAction
from desim.kernel import Run
from desim.schema import tagged, to_plain
from desim.world import Decision

__all__ = ["branch", "replay", "same_step"]


def replay(path: str | Path) -> Episode:
    """Play a record's answers again on the model and seed it names, and compare everything.

    Args:
        path: A whole record.

    Returns:
        The episode, which is the same as the recorded one.

    Raises:
        BadRecord: The record cannot be read, or the first decision or result that differs.
    """
    episode = Episode.read(path)
    try:
        run = branch(episode)
        if run.open:
            raise BadRecord(
                f"the record ends after {len(episode.steps)} decisions, but "
                f"{run.open[0].role!r} is asked at t={run.world.now}"
            )
        _same_result(episode, run)
    except DesimError as fault:
        raise BadRecord(f"{path}: {fault}") from None
    return episode


def branch(episode: Episode, decisions: int | None = None) -> Run:
    """Replay the first decisions of an episode and hand over the run, to be played on otherwise.

    Args:
        episode: As it was played, or as read from a record, which may be cut.
        decisions: How many answers to give again; None gives all.

    Returns:
        A run whose `open` decisions wait for an answer; it has ended where there are none.

    Raises:
        BadRecord: The first decision that differs from the recorded one.
        UsageError: The episode has fewer decisions.
    """
    steps = episode.steps if decisions is None else episode.steps[:decisions]
    if decisions is not None and not 0 <= decisions <= len(episode.steps):
        raise UsageError(f"{decisions} decisions were asked for; there are {len(episode.steps)}")
    run = Run(episode.header.build(), episode.header.seed, [*episode.header.policies])
    run.advance()
    for number, step in enumerate(steps, 1):
        if not run.open:
            raise BadRecord(f"decision {number}: the record goes on, but the episode has ended")
        decision = run.open[0]
        _same_question(number, step, Step(run.world.now, decision.role, decision.observation, None))
        _answer(number, run, decision, step.action)
        if not run.open:
            run.advance()
    return run


def same_step(number: int, recorded: Step, now: Step) -> None:
    """Compare a decision with the recorded one.

    Raises:
        BadRecord: Who was asked, what they saw, or what they answered differs.
    """
    _same_question(number, recorded, now)
    told, given = (msgspec.json.decode(tagged(step.action)) for step in (recorded, now))
    _same(number, recorded, told, given, "$.action")


def _same_question(number: int, recorded: Step, now: Step) -> None:
    if (recorded.t, recorded.role) != (now.t, now.role):
        raise BadRecord(
            f"decision {number} differs: recorded {recorded.role!r} at t={recorded.t}, "
            f"now {now.role!r} at t={now.t}"
        )
    _same(number, recorded, to_plain(recorded.observation), to_plain(now.observation))


def _same(number: int, step: Step, told: Any, seen: Any, path: str = "$") -> None:
    if seen != told:
        where = f"decision {number} (t={step.t}, {step.role!r})"
        raise BadRecord(f"{where} differs: {_first(told, seen, path)}")


def _answer(number: int, run: Run, decision: Decision, action: Any) -> None:
    try:
        run.answer(decision, action)
    except WrongAction as wrong:
        raise BadRecord(f"decision {number}: {wrong}") from None


def _same_result(episode: Episode, run: Run) -> None:
    assert episode.result is not None
    # What policies used is theirs to note, not the world's to repeat.
    again = evolve(run.result(), usage=episode.result.usage)
    recorded, now = to_plain(episode.result), to_plain(again)
    if recorded != now:
        raise BadRecord(f"the result differs: {_first(recorded, now)}")


def _first(recorded: Any, now: Any, path: str = "$") -> str:
    """Name the first place where two plain values differ."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in [*recorded, *now]:
            if recorded.get(key) != now.get(key):
                return _first(recorded.get(key), now.get(key), f"{path}.{key}")
    return f"{path} was {recorded!r}, now {now!r}"
