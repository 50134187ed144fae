"""Play another end of an episode on record."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from desim.catalog.policy_spec import label
from desim.core.limits import Limits
from desim.core.model_protocols import Model
from desim.episodes.driver import play_session
from desim.episodes.lineup import Policies, resolve
from desim.episodes.prefix import with_futures
from desim.episodes.resume import with_starts
from desim.episodes.session import Session
from desim.episodes.trust import (
    given_policies,
    recorded_roles,
    trusted_model,
    trusted_policies,
)
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.line_tags import untagged
from desim.records.lines import Header
from desim.records.record_lock import RecordLock
from desim.records.recorder import Recorder, line_kind, lines_up_to
from desim.tracing.kept_trace import Tracing


def play_branch(
    path: str | Path,
    decisions: int,
    policies: Policies = None,
    *,
    future: int | None = None,
    record: str | Path | None = None,
    trust: bool = False,
    model: str = "",
    params: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    keep_steps: bool = True,
    key: bytes | None = None,
    trace: str | Path | None = None,
) -> Episode:
    """Repeat the first decisions of a record and play on from there; the record is not changed.

    A policy that is given begins after the repeated decisions. The others are built from their
    labels on record and decide again, with their transcript entries, as `resume` does it.

    Args:
        path: A record: whole, cut, or of a run that failed.
        decisions: The number of decisions to repeat.
        policies: See `play`; for all roles of the record or some.
        future: The seed with which everything is drawn that no role can have observed when the next
            decision is open (see `branch`); None plays on in the world of the record.
        record: A new file for the whole episode, the repeated decisions included.
        trust: See `resume`.
        model: A model instead of the recorded one.
        params: Parameters as text instead of the recorded ones.
        limits: Limits of wall time, events and decisions, the repeated ones included.
        keep_steps: See `play`.
        key: The key of the new record, with which the old one must have been written, too: a record
            with a key proves all its decisions.
        trace: A new file for a trace of the whole episode, the repeated decisions included.

    Raises:
        BadRecord: The record cannot be read or was altered, also behind the repeated decisions, or
            a decision differs from the one on record.
        UsageError: The record has fewer decisions, names something outside and is not trusted, a
            new file exists, or the future is not a seed.
    """
    past = Episode.read(path, whole=False, decisions=decisions, keep_steps=False, key=key)
    if not 0 <= decisions <= len(past.steps):
        raise UsageError(f"{path} has {len(past.steps)} decisions; {decisions} were given")
    # Before a new record is made: the file of the trace may exist.
    tracing = Tracing(trace, repeated=decisions) if trace is not None else None
    roles = recorded_roles(past.header, policies)
    world = trusted_model(path, past.header, trust=trust, name=model, params=params, roles=roles)
    given = given_policies(past.header, world, policies)
    recorded = with_futures(past.header, decisions, future)
    header = _header(recorded, world, given, decisions)
    mine = trusted_policies(path, past.header, world, policies)
    lineup = resolve(world, mine, header.seed, header.policies)
    lineup = with_starts(lineup, header.starts, past.steps)
    transcript = tuple(entry for entry in past.transcript if entry.role not in given)
    begun = Episode(header, past.steps, None, transcript)
    try:
        with (
            _record(Path(path), record, header, decisions, given, key),
            Session(
                world,
                lineup,
                header.seed,
                record,
                begun,
                limits=limits,
                keep_steps=keep_steps,
                key=key,
                tracing=tracing,
            ) as session,
        ):
            return play_session(session)
    except BadRecord as fault:
        raise BadRecord(f"{path}: {fault}") from None


def _header(
    recorded: Header, model: Model[Any], given: Mapping[str, Any], decisions: int
) -> Header:
    """Return the header of a branch: its policies, and after how many decisions each begins."""
    labels = {**recorded.policies, **{role: label(one) for role, one in given.items()}}
    starts = {role: min(start, decisions) for role, start in recorded.starts.items()}
    starts |= dict.fromkeys(given, decisions)
    begun = {role: start for role, start in starts.items() if start}
    return Header.of(model, recorded.seed, labels, begun, recorded.futures)


@contextlib.contextmanager
def _record(
    path: Path,
    record: str | Path | None,
    header: Header,
    decisions: int,
    given: Mapping[str, Any],
    key: bytes | None,
) -> Iterator[None]:
    """Hold a new record that begins as another one; it is removed if that does not replay."""
    if record is None:
        yield
        return
    with RecordLock(record):
        _copy(untagged(lines_up_to(path, decisions), key), Path(record), header, given, key)
        try:
            yield
        except BadRecord:
            Path(record).unlink(missing_ok=True)
            raise


def _copy(
    lines: Iterable[bytes],
    new: Path,
    header: Header,
    given: Mapping[str, Any],
    key: bytes | None,
) -> None:
    """Write the first decisions of a record to a new one, without what given policies replace."""
    decode = msgspec.json.Decoder(_Role).decode
    with Recorder(new, key=key) as recorder:
        recorder.head(header)
        for line in lines:
            kind = line_kind(line)
            if kind == "decision" or (kind == "transcript" and decode(line).role not in given):
                recorder.line(line[:-1])


class _Role(msgspec.Struct):
    """The role of a line."""

    role: str
