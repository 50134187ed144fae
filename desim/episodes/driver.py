"""Drivers: one episode with policies, and the same with coroutines."""

import contextlib
from pathlib import Path
from typing import Any

from desim.core.limits import Limits
from desim.core.model_protocols import Model
from desim.core.points import Points
from desim.episodes.lineup import Policies, resolve
from desim.episodes.session import Session, built
from desim.records.episode import Episode
from desim.records.record_lock import RecordLock
from desim.tracing.kept_trace import Tracing

__all__ = ["play", "play_async"]


def play(
    model: Model[Any] | str,
    policies: Policies = None,
    seed: int = 0,
    *,
    record: str | Path | None = None,
    limits: Limits | None = None,
    keep_steps: bool = True,
    key: bytes | None = None,
    series: bool = False,
    keep_state: bool = True,
    trace: str | Path | None = None,
    last_events: int = 0,
) -> Episode:
    """Play one episode, with an event loop of its own if a policy is a coroutine.

    Args:
        model: A model, or its name in the catalog with or without `/preset`.
        policies: A policy for the default roles, or a mapping of roles to policies. A policy is an
            instance, a class, a function, or a spec such as "base_stock,target=1200".
        seed: A whole number of at least 0.
        record: A new file that receives the episode line by line. It is locked until the episode
            has ended.
        limits: Of wall time, events and decisions.
        keep_steps: Keep the decisions in memory. Without, the episode reads its steps from the
            record whenever they are used, and has none if there is no record.
        key: 16 to 4,096 bytes, from which each line of the record has a tag, so that `replay` and
            `resume` with the same key prove that it was not altered; None writes a checksum alone.
        series: Whether to record the points of `world.series` and of monitors, and to read what the
            model reports period by period; see `Episode.series` and `Episode.to_pandas`.
        keep_state: Whether `episode.state` holds the state at the end, and with it all ledgers; say
            no where many episodes are held at once.
        trace: A new file that receives a trace of the episode, also of one that fails: processes,
            resources, decisions and ledger entries, for https://ui.perfetto.dev. Compressed if the
            name ends in .gz.
        last_events: How many of the last events are added as a note to an error, at most 100,000.

    Raises:
        UsageError: A model, policy, argument or role does not exist, or the file of the record or
            of the trace does.
        WrongAction: A policy returned an action that is not in its role's schema.
        PolicyFailed: A policy raised an exception.
        ModelFailed: The model raised one; the record says where.
        LimitReached: The episode has used up its time, events or decisions.
        WriteFailed: The record cannot be written; it holds the decisions before that.
    """
    model = built(model)
    lineup = resolve(model, policies, seed)
    with (
        _locked(record),
        Session(
            model,
            lineup,
            seed,
            record,
            limits=limits,
            keep_steps=keep_steps,
            key=key,
            series=series,
            points=Points() if series else None,
            keep_state=keep_state,
            tracing=_tracing(trace, last_events),
        ) as session,
    ):
        return session.play()


async def play_async(
    model: Model[Any] | str,
    policies: Policies = None,
    seed: int = 0,
    *,
    record: str | Path | None = None,
    limits: Limits | None = None,
    keep_steps: bool = True,
    key: bytes | None = None,
    series: bool = False,
    keep_state: bool = True,
    trace: str | Path | None = None,
    last_events: int = 0,
) -> Episode:
    """Play one episode in the event loop that runs.

    Awaitables of one tick are awaited concurrently. Otherwise as `play`.
    """
    model = built(model)
    lineup = resolve(model, policies, seed)
    with (
        _locked(record),
        Session(
            model,
            lineup,
            seed,
            record,
            limits=limits,
            keep_steps=keep_steps,
            key=key,
            series=series,
            points=Points() if series else None,
            keep_state=keep_state,
            tracing=_tracing(trace, last_events),
        ) as session,
    ):
        return await session.play_async()


def _tracing(trace: str | Path | None, last_events: int) -> Tracing | None:
    return Tracing(trace, last_events) if trace is not None or last_events else None


def _locked(record: str | Path | None) -> contextlib.AbstractContextManager[object]:
    return RecordLock(record) if record else contextlib.nullcontext()
