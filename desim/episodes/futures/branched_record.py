"""Play another end of an episode on record."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from attrs import field, frozen

from desim.catalog.policy_spec import label
from desim.core.model import Model
from desim.core.points import Points
from desim.core.streams import kept_globals, seed_globals
from desim.episodes.driver import play_session
from desim.episodes.episode_options import EpisodeOptions, TrustOptions
from desim.episodes.lineup import Policies, knows_by_role, resolve
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
from desim.records.lines import Header
from desim.records.record_lock import RecordLock
from desim.records.writer import Recorder, line_kind, lines_up_to
from desim.schema.signatures import takes


@frozen(kw_only=True, slots=False)
class BranchOptions(EpisodeOptions, TrustOptions):
    """The arguments of `play_branch`.

    Attributes:
        path: A record: whole, cut, or of a run that failed. It is not changed.
        decisions: Play on from decision N, counted from 1. In Python how many decisions are
            repeated, which is one less.
        policies: NAME or module:Name, then ,KEY=VALUE for each argument; they begin after the
            repeated decisions. Several that name different roles play together. In Python as for
            `play`, for all roles of the record or some.
        future: Draw with this seed what no role can have observed by then (see `branch`); otherwise
            the branch plays on in the world of the record.
        record: Write the episode to a new file, the repeated decisions included. With a key the old
            record must have been written with it, too, as it proves all decisions.
    """

    path: str | Path = field(kw_only=False)
    decisions: int = field(kw_only=False)
    policies: Policies = field(default=None, kw_only=False)
    future: int | None = None
    record: str | Path | None = None


@takes(BranchOptions)
@kept_globals()
def play_branch(options: BranchOptions) -> Episode:
    """Repeat the first decisions of a record and play on from there; the record is not changed.

    A policy that is given begins after the repeated decisions. The others are built from their
    labels on record and decide again, with their transcript entries, as `resume` does it.

    Raises:
        BadRecord: The record cannot be read or was altered, also behind the repeated decisions, or
            a decision differs from the one on record.
        UsageError: The record has fewer decisions, names something outside and is not trusted, a
            new file exists, or the future is not a seed.
    """
    path, decisions = options.path, options.decisions
    past = Episode.read(path, whole=False, decisions=decisions, keep_steps=False)
    if not 0 <= decisions <= len(past.steps):
        raise UsageError(
            f"{path} has {len(past.steps)} decisions; {decisions} were given to be repeated: a "
            f"branch begins at decision 1 to {len(past.steps) + 1}"
        )
    # Before a new record is made: the file of the trace may exist.
    tracing = options.tracing(decisions)
    roles = recorded_roles(past.header, options.policies)
    world = trusted_model(path, past.header, options, roles)
    given = given_policies(past.header, world, options.policies)
    recorded = with_futures(past.header, decisions, options.future)
    header = _header(recorded, world, given, decisions)
    mine = trusted_policies(path, past.header, world, options.policies)
    seed_globals(header.seed)
    lineup = resolve(world, mine, header.seed, header.policies)
    lineup = with_starts(lineup, header.starts, past.steps)
    said = zip(past.transcript, past.transcript_after, strict=True)
    kept = [(entry, after) for entry, after in said if entry.role not in given]
    begun = Episode(
        header,
        past.steps,
        None,
        tuple(entry for entry, _ in kept),
        transcript_after=tuple(after for _, after in kept),
    )
    points = Points() if options.series else None
    seed, record = header.seed, options.record
    try:
        with (
            _record(options, header, given),
            Session(
                world, lineup, seed, record, begun, options, points=points, tracing=tracing
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
    knows = {role: level for role, level in recorded.knows.items() if role not in given}
    knows |= knows_by_role(model, given)
    code = {role: digest for role, digest in recorded.code.items() if role not in given}
    return Header.of(model, recorded.seed, labels, begun, recorded.futures, knows, code)


@contextlib.contextmanager
def _record(options: BranchOptions, header: Header, given: Mapping[str, Any]) -> Iterator[None]:
    """Hold a new record that begins as another one; it is removed if that does not replay."""
    if options.record is None:
        yield
        return
    new = Path(options.record)
    with RecordLock(new):
        lines = lines_up_to(Path(options.path), options.decisions)
        _copy(lines, new, header, given)
        try:
            yield
        except BadRecord:
            new.unlink(missing_ok=True)
            raise


def _copy(lines: Iterable[bytes], new: Path, header: Header, given: Mapping[str, Any]) -> None:
    """Write the first decisions of a record to a new one, without what given policies replace."""
    decode = msgspec.json.Decoder(_Role).decode
    with Recorder(new) as recorder:
        recorder.head(header)
        for line in lines:
            kind = line_kind(line)
            if kind == "decision" or (kind == "transcript" and decode(line).role not in given):
                recorder.line(line[:-1])


class _Role(msgspec.Struct):
    """The role of a line."""

    role: str
