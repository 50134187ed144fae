"""Continue an episode whose record was cut."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from desim.core.limits import Limits
from desim.episodes.episode import Episode
from desim.episodes.late import with_starts
from desim.episodes.lineup import Policies, resolve
from desim.episodes.record_lock import RecordLock
from desim.episodes.session import Session
from desim.episodes.trust import recorded_roles, trusted_model, trusted_policies
from desim.errors import BadRecord, UsageError
from desim.tracing.kept_trace import Tracing

__all__ = ["resume", "resume_async"]


def resume(
    path: str | Path,
    policies: Policies = None,
    *,
    trust: bool = False,
    model: str = "",
    params: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    keep_steps: bool = True,
    key: bytes | None = None,
    trace: str | Path | None = None,
) -> Episode:
    """Play a cut record to its end, in the same file.

    The policies are built anew and decide again; their decisions must equal those on record. A
    policy receives its transcript entries, so that no paid call is made twice. The record is locked
    meanwhile.

    Args:
        path: The record of a killed run. A whole record is not changed.
        policies: As in `play`, for all roles or some; needed where the labels on record are no
            specs.
        trust: Whether whatever the record names is used: modules, files, hosts, the environment.
        model: A model instead of the recorded one, which may be `module:Class`.
        params: Parameters as text instead of the recorded ones, which may name files.
        limits: Of wall time, events and decisions, the repeated ones included.
        keep_steps: As in `play`.
        key: The key of the record, as given to `play`. What is on record is proved by it before
            anything is added.
        trace: As in `play`: a new file for a trace of the whole episode, the repeated decisions
            included.

    Returns:
        The whole episode.

    Raises:
        BadRecord: The record cannot be read, or a decision differs from the one on record.
        UsageError: A policy cannot be built from its label on record, the record names something
            outside and is not trusted, or another process writes it; or the file of the trace
            exists, or a trace of a whole record is asked for.
    """
    if (ended := _ended(path, key, keep_steps=keep_steps, trace=trace)) is not None:
        return ended
    session = _session(path, policies, trust, model, params or {}, limits, keep_steps, key, trace)
    with session as at_play:
        return at_play.play()


async def resume_async(
    path: str | Path,
    policies: Policies = None,
    *,
    trust: bool = False,
    model: str = "",
    params: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    keep_steps: bool = True,
    key: bytes | None = None,
    trace: str | Path | None = None,
) -> Episode:
    """Play a cut record to its end in the event loop that runs; otherwise as `resume`."""
    if (ended := _ended(path, key, keep_steps=keep_steps, trace=trace)) is not None:
        return ended
    session = _session(path, policies, trust, model, params or {}, limits, keep_steps, key, trace)
    with session as at_play:
        return await at_play.play_async()


def _ended(
    path: str | Path, key: bytes | None, *, keep_steps: bool, trace: str | Path | None
) -> Episode | None:
    """Return the episode of a whole record, which needs no lock."""
    episode = Episode.read(path, whole=False, keep_steps=keep_steps, key=key)
    if episode.result is None:
        return None
    if trace is not None:
        raise UsageError(
            f"{path} has ended, so that nothing is played; desim export {path} --format trace "
            "writes its trace"
        )
    return episode


@contextlib.contextmanager
def _session(
    path: str | Path,
    policies: Policies,
    trust: bool,  # noqa: FBT001 (passed on)
    model: str,
    params: Mapping[str, str],
    limits: Limits | None,
    keep_steps: bool,  # noqa: FBT001 (as above)
    key: bytes | None,
    trace: str | Path | None,
) -> Iterator[Session]:
    """Open a session that continues a record, under its lock."""
    with RecordLock(path):
        past = Episode.read(path, whole=False, keep_steps=False, key=key)
        if past.result is not None:
            raise UsageError(f"{path} has been ended by another process; nothing was changed")
        tracing = Tracing(trace, repeated=len(past.steps)) if trace is not None else None
        header = past.header
        roles = recorded_roles(header, policies)
        world = trusted_model(path, header, trust=trust, name=model, params=params, roles=roles)
        try:
            given = trusted_policies(path, header, world, policies)
            lineup = resolve(world, given, header.seed, header.policies)
            lineup = with_starts(lineup, header.starts, past.steps)
            session = Session(
                world,
                lineup,
                header.seed,
                path,
                past,
                limits=limits,
                keep_steps=keep_steps,
                key=key,
                keep_state=True,
                tracing=tracing,
            )
        except BadRecord as fault:
            raise BadRecord(f"{path}: {fault}") from None
        except UsageError as fault:
            if policies is not None:
                raise
            raise UsageError(
                f"{path}: {fault}; a policy that its name does not build is given by "
                "desim.resume(path, policies) or --policy ROLE=SPEC"
            ) from None
        try:
            with session:
                yield session
        except BadRecord as fault:
            raise BadRecord(f"{path}: {fault}") from None
