"""Verified replay: play a record's answers again and name the first step that differs."""

from pathlib import Path
from typing import Any

from desim.episode import Episode, Step
from desim.errors import BadRecord, DesimError, WrongAction
from desim.kernel import Decision, Run
from desim.schema import to_plain

__all__ = ["replay"]


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
        _compare(
            episode, Run(episode.header.build(), episode.header.seed, [*episode.header.policies])
        )
    except DesimError as fault:
        raise BadRecord(f"{path}: {fault}") from None
    return episode


def _compare(episode: Episode, run: Run) -> None:
    steps = iter(enumerate(episode.steps, 1))
    while decisions := run.advance():
        for decision in decisions:
            number, step = next(steps, (0, None))
            if step is None:
                raise BadRecord(
                    f"the record ends after {run.decisions} decisions, but {decision.role!r} is "
                    f"asked at t={run.world.now}"
                )
            _same_question(number, step, decision, run.world.now)
            _answer(number, run, decision, step.action)
    if left := next(steps, None):
        raise BadRecord(f"decision {left[0]}: the record goes on, but the episode has ended")
    _same_result(episode, run)


def _same_question(number: int, step: Step, decision: Decision, now: int) -> None:
    if (step.t, step.role) != (now, decision.role):
        raise BadRecord(
            f"decision {number} differs: recorded {step.role!r} at t={step.t}, "
            f"now {decision.role!r} at t={now}"
        )
    seen = to_plain(decision.observation)
    if seen != step.observation:
        raise BadRecord(
            f"decision {number} (t={now}, {step.role!r}) differs: {_first(step.observation, seen)}"
        )


def _answer(number: int, run: Run, decision: Decision, action: Any) -> None:
    try:
        run.answer(decision, action)
    except WrongAction as wrong:
        raise BadRecord(f"decision {number}: {wrong}") from None


def _same_result(episode: Episode, run: Run) -> None:
    recorded, now = to_plain(episode.result), to_plain(run.result())
    if recorded != now:
        raise BadRecord(f"the result differs: {_first(recorded, now)}")


def _first(recorded: Any, now: Any, path: str = "$") -> str:
    """Name the first place where two plain values differ."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in [*recorded, *now]:
            if recorded.get(key) != now.get(key):
                return _first(recorded.get(key), now.get(key), f"{path}.{key}")
    return f"{path} was {recorded!r}, now {now!r}"
