"""Play on from a record: `resume` continues a cut one, `play_branch` plays another end."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from desim.catalog.policy_spec import label
from desim.core.model import Model
from desim.core.streams import kept_globals, seed_globals
from desim.episodes.driver import play_session
from desim.episodes.lineup import Policies, knows_by_role, resolve
from desim.episodes.replay import TrustOptions, naming, trusted_players, with_futures
from desim.episodes.session import EpisodeOptions, Session
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.lines import PERSON, Header, Step, TranscriptEntry
from desim.records.reader import lines_up_to
from desim.records.record_lock import RecordLock
from desim.records.writer import Recorder
from desim.schema.signatures import takes


@frozen(kw_only=True, slots=False)
class ResumeOptions(EpisodeOptions, TrustOptions):
    """The arguments of `resume`.

    Attributes:
        path: The record of a killed run. A whole record is not changed.
        policies: NAME or module:Name, then ,KEY=VALUE for each argument; needed where those on
            record have no spec. Several that name different roles play together. In Python as
            for `play`, for all roles or some.
    """

    path: str | Path = field(kw_only=False)
    policies: Policies = field(default=None, kw_only=False)


@takes(ResumeOptions)
def resume(options: ResumeOptions) -> Episode:
    """Play a cut record to its end, in the same file, and return the whole episode.

    The policies are built anew and decide again; their decisions must equal those on record. A
    policy receives its transcript entries, so that no paid call is made twice. The record is locked
    meanwhile.

    Raises:
        BadRecord: The record cannot be read, or a decision differs from the one on record.
        UsageError: A policy cannot be built from its label on record, the record names something
            outside and is not trusted, or another process writes it; or the file of the trace
            exists, or a trace or the series of a whole record are requested.
    """
    path, policies = options.path, options.policies
    episode = Episode.read(path, whole=False, keep_steps=options.keep_steps)
    if episode.result is not None:
        if options.trace is not None or options.series:
            raise UsageError(
                f"{path} has ended, so that nothing is played; desim export {path} --format trace "
                f"writes its trace, and desim.replay({str(path)!r}, series=True) has its series"
            )
        return episode
    with kept_globals(), RecordLock(path):
        past = Episode.read(path, whole=False, keep_steps=False)  # as another process has left it
        model, given = trusted_players(path, past.header, policies, trust=options.trust)
        with naming(path), _session(options, past, model, given, path) as session:
            return play_session(session)


def _session(
    options: "ResumeOptions | BranchOptions",
    past: Episode,
    model: Model[Any],
    given: Mapping[str, Any],
    record: str | Path | None,
) -> Session:
    """Return the session that repeats the past, with the policies that are given or on record."""
    path, header = options.path, past.header
    every = {**header.policies, **given}
    if PERSON in every.values():
        raise UsageError(f"{path}: a person plays there; desim play with --record {path} goes on")
    seed_globals(header.seed)
    try:
        lineup = resolve(model, every, header.seed, header.policies)
    except UsageError as fault:
        if given:
            raise
        raise UsageError(
            f"{path}: {fault}; a policy that its name does not build is given (--policy ROLE=SPEC)"
        ) from None
    return Session(model, lineup, header.seed, record, past, options)


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
        record: Write the episode to a new file, the repeated decisions included.
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
    model, given = trusted_players(path, past.header, options.policies, trust=options.trust)
    header = _header(with_futures(past.header, decisions, options.future), model, given, decisions)
    kept = tuple(one for one in past.transcript if one.role not in given)
    begun = evolve(past, header=header, transcript=kept)
    session = _session(options, begun, model, given, options.record)
    with naming(path), _new_record(options, header, given), session:
        return play_session(session)


def _header(
    recorded: Header, model: Model[Any], given: Mapping[str, Any], decisions: int
) -> Header:
    labels = {**recorded.policies, **{role: label(one) for role, one in given.items()}}
    starts = {role: min(start, decisions) for role, start in recorded.starts.items()}
    starts |= dict.fromkeys(given, decisions)
    begun = {role: start for role, start in starts.items() if start}
    knows = {role: level for role, level in recorded.knows.items() if role not in given}
    knows |= knows_by_role(model, given)
    return Header.of(model, recorded.seed, labels, begun, recorded.futures, knows)


@contextlib.contextmanager
def _new_record(options: BranchOptions, header: Header, given: Mapping[str, Any]) -> Iterator[None]:
    """Hold the record of a branch that has its beginning; it is removed if that does not replay."""
    if options.record is None:
        yield
        return
    new = Path(options.record)
    with RecordLock(new):
        with Recorder(new) as recorder:
            recorder.write(header)
            for line in lines_up_to(Path(options.path), options.decisions):
                is_kept = isinstance(line, TranscriptEntry) and line.role not in given
                if is_kept or isinstance(line, Step):
                    recorder.write(line)
        try:
            yield
        except BadRecord:
            new.unlink(missing_ok=True)
            raise
