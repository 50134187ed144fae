"""Several episodes in a row with the same policies, which may learn in between.

A series that is recorded can be continued: what its records hold is not played anew, but repeated
with the replies on record, so that every policy is in the state in which it was.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, field, frozen

from desim.core.limits import Limits
from desim.core.model import Model, model_of
from desim.core.result import Result
from desim.core.streams import kept_globals
from desim.episodes.driver import play_session, play_session_async
from desim.episodes.episode_options import EpisodeOptions, ModelOptions
from desim.episodes.lineup import Lineup, Policies, resolve
from desim.episodes.replay import first_difference, same_result
from desim.episodes.session import Session
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.record_file import lines_of
from desim.records.record_lock import RecordLock
from desim.schema.signatures import given, takes
from desim.show.progress import ProgressOption, shown_progress

#: The beginning of every record, as far as a killed process has written it.
_BEGINNING = b'{"line":"header"'

#: The fields of a header that every command of one series has in common, the seed apart.
_COMPARED = ("model", "params", "seed", "policies", "starts")


@frozen
class InSeries:
    """An episode of a series.

    Attributes:
        number: Its place, from 1.
        episode: The episode.
        file: Its record; None without one.
        was_recorded: Whether it was on record already and nothing was played.
    """

    number: int
    episode: Episode
    file: Path | None
    was_recorded: bool


@frozen(kw_only=True, slots=False)
class SeriesOptions(ModelOptions):
    """The arguments of a series.

    Attributes:
        policies: As for `play`; specs and classes are built once, for the first seed.
        seeds: One episode each, in this order; they may repeat.
        record: A folder that receives one file an episode, `episode-001.jsonl` and so on. It is
            made if it is missing.
        limits: The limits of each episode.
        resume: Whether the series goes on that the folder holds. Episodes on record are repeated
            with the recorded replies, so that policies learn from them and no paid call is made
            twice; one that was cut is played to its end, and the rest is played.
    """

    policies: Policies | Lineup = field(kw_only=False)
    seeds: Iterable[int] = field(kw_only=False)
    record: str | Path | None = None
    limits: Limits | None = None
    resume: bool = False


@frozen(kw_only=True, slots=False)
class PlaySeriesOptions(SeriesOptions):
    """The arguments of `play_series`.

    Attributes:
        progress: As for `sweep`.
    """

    progress: ProgressOption = None


@takes(PlaySeriesOptions)
def play_series(options: PlaySeriesOptions) -> list[Episode]:
    """Play several episodes with the same policy instances, which may learn in between.

    After every episode `after(episode)` of each policy that has this method is called.

    Raises:
        UsageError: See `play`; or the folder holds another series, or one with a gap, or another
            process writes it.
        BadRecord: A record cannot be read, or a policy decides otherwise than on record.
    """
    how = {**given(options), "seeds": list(options.seeds)}
    found: list[Episode] = []
    with shown_progress(how.pop("progress")) as progress:
        progress(0, len(how["seeds"]))
        for one in series(**how):
            found.append(one.episode)
            progress(len(found), len(how["seeds"]))
    return found


@frozen(kw_only=True, slots=False)
class SessionsOptions(SeriesOptions):
    """The arguments of `series`.

    Attributes:
        session: Makes the session of each episode that is played or repeated, with the arguments of
            `Session`.
        last_events: How many last events the error of a failed episode has as a note.
    """

    session: Callable[..., Session] = Session
    last_events: int = 0


@takes(SessionsOptions)
def series(options: SessionsOptions) -> Iterator[InSeries]:
    """Yield the episodes of a series, each as soon as policies have learned from it."""
    with _opened(options) as playing:
        for turn in playing.turns(playing.past() if options.resume else []):
            with kept_globals(turn.seed):
                with playing.session_of(turn) as at_play:
                    episode = play_session(at_play) if at_play else turn.known
                ended = playing.ended(turn, episode)
            yield ended


@takes(SessionsOptions)
async def series_async(options: SessionsOptions) -> AsyncIterator[InSeries]:
    """Yield the episodes of a series as `series` does, in the event loop that runs."""
    with _opened(options) as playing:
        for turn in playing.turns(playing.past() if options.resume else []):
            with playing.session_of(turn) as at_play:
                episode = await play_session_async(at_play) if at_play else turn.known
            yield playing.ended(turn, episode)


@contextlib.contextmanager
def _opened(options: SessionsOptions) -> Iterator["_Series"]:
    """Open a series under the lock of its folder."""
    seeds, policies = list(options.seeds), options.policies
    model = options.build()
    if not isinstance(policies, Lineup):
        with kept_globals(seeds[0] if seeds else None):
            policies = resolve(model, policies, seeds[0]) if seeds else Lineup({}, {})
    with contextlib.ExitStack() as stack:
        folder = None
        if options.record is not None:
            folder = _made(Path(options.record))
            stack.enter_context(RecordLock(folder / "series"))
        last = options.last_events
        how = EpisodeOptions(limits=options.limits, keep_state=False, last_events=last)
        yield _Series(model, policies, seeds, folder, how, options.session)


@frozen
class _Turn:
    """An episode of a series that is next.

    Attributes:
        number: Its place, from 1.
        seed: Its seed.
        file: Its record; None without one.
        known: The lines of the record; None if it was not begun.
        is_read: Whether it is only read: no episode is left to play, so no policy is called.
    """

    number: int
    seed: int
    file: Path | None
    known: Episode | None
    is_read: bool

    @property
    def was_recorded(self) -> bool:
        """Whether the episode is on record as a whole."""
        return self.known is not None and self.known.result is not None


@frozen
class _Series:
    """A series, and the folder of its records; None if nothing is recorded."""

    model: Model[Any]
    lineup: Lineup
    seeds: Sequence[int]
    folder: Path | None
    how: EpisodeOptions
    session: Callable[..., Session]

    def turns(self, past: Sequence[Episode]) -> Iterator[_Turn]:
        """Yield the episodes in order.

        Args:
            past: Those on record, of which the last one may be cut.
        """
        is_read = len(past) == len(self.seeds) and past[-1].result is not None if past else False
        for number, seed in enumerate(self.seeds, 1):
            known = past[number - 1] if number <= len(past) else None
            yield _Turn(number, seed, self._file(number), known, is_read)

    @contextlib.contextmanager
    def session_of(self, turn: _Turn) -> Iterator[Session | None]:
        """Open the session that plays or repeats an episode; None if it is only read."""
        if turn.is_read:
            yield None
            return
        past, file = turn.known, None if turn.was_recorded else turn.file
        with contextlib.ExitStack() as stack:
            if file is not None:
                stack.enter_context(RecordLock(file))
                past = _present(file, past)
            try:
                session = self.session(self.model, self.lineup, turn.seed, file, past, self.how)
                yield stack.enter_context(session)
            except BadRecord as fault:
                raise BadRecord(f"{turn.file}: {fault}" if past else str(fault)) from None

    def ended(self, turn: _Turn, episode: Episode | None) -> InSeries:
        """Return an episode that has ended, after the policies have learned from it.

        Raises:
            BadRecord: A repeated one has another result than on record.
        """
        assert episode is not None
        if not turn.is_read:
            if turn.known is not None and turn.known.result is not None:
                _check_repeated(turn.file, turn.known, episode)
            self._learn(episode)
        return InSeries(turn.number, episode, turn.file, turn.was_recorded)

    def past(self) -> list[Episode]:
        """Return the episodes on record, which are checked to be of this series.

        Raises:
            UsageError: One is of another series, or one behind a missing or cut one is there.
            BadRecord: A record cannot be read.
        """
        found: list[Episode] = []
        open_file: Path | None = None
        for number, seed in enumerate(self.seeds, 1):
            file = self._file(number)
            known = file and self._begun(file, seed)
            if known and open_file:
                raise UsageError(
                    f"{open_file} is missing or was cut, but {file} is there; a series goes on in "
                    "order, so remove the later records or choose another folder"
                )
            if known:
                found.append(known)
            if not (known and known.result):
                open_file = open_file or file
        return found

    def _begun(self, file: Path, seed: int) -> Episode | None:
        """Return the lines of a record; None if it was not begun."""
        if not file.exists() or _is_empty(file):
            return None
        episode = Episode.read(file, whole=False, keep_steps=False)
        self._check(file, episode.header, seed)
        return episode

    def _check(self, file: Path, recorded: Header, seed: int) -> None:
        wanted = Header.of(self.model, seed, self.lineup.labels)
        before, now = ({n: getattr(h, n) for n in _COMPARED} for h in (recorded, wanted))
        # As JSON, because what was recorded has lists where a header that starts now has tuples.
        now = msgspec.json.decode(msgspec.json.encode(now))
        if before != now:
            raise UsageError(
                f"{file} is of another series: {first_difference(before, now)}; give the same "
                "arguments again or choose another folder"
            )

    def _learn(self, episode: Episode) -> None:
        for role, policy in self.lineup.policies.items():
            policy.after(part_episode(episode, self.model, role))

    def _file(self, number: int) -> Path | None:
        return episode_file(self.folder, number) if self.folder else None


def episode_file(folder: Path, number: int) -> Path:
    """Return the path of the record of an episode, by its place from 1."""
    return folder / f"episode-{number:03d}.jsonl"


def _present(file: Path, past: Episode | None) -> Episode | None:
    """Return a cut record as it is now that no other process writes it; None if none is begun.

    Raises:
        UsageError: Another process has ended the record meanwhile.
    """
    if past is None:
        if file.exists() and _is_empty(file):
            file.unlink()
        return None
    past = Episode.read(file, whole=False, keep_steps=False)
    if past.result is not None:
        raise UsageError(f"{file} has been ended by another process; give it again")
    return past


def _check_repeated(file: Path | None, known: Episode, episode: Episode) -> None:
    assert known.result is not None
    assert episode.result is not None
    try:
        same_result(known.result, episode.result)
    except BadRecord as fault:
        raise BadRecord(f"{file}: {fault}") from None


def _made(folder: Path) -> Path:
    """Make a folder if it is missing.

    Raises:
        UsageError: A file has that name, or the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(
            f"{folder} is a file; a series writes one record an episode into a folder"
        ) from None
    except OSError as fault:
        raise UsageError(f"cannot write {folder}: {fault.strerror}") from None
    return folder


def _is_empty(file: Path) -> bool:
    """Return whether a process was killed while it wrote the first line of a record."""
    first = next(lines_of(file), b"")
    begun = first.startswith(_BEGINNING) or _BEGINNING.startswith(first)
    return begun and not first.endswith(b"\n")


def part_episode(episode: Episode, model: Model[Any], role: str) -> Episode:
    """Return what an episode was for the part of a role; without parts the episode itself.

    Roles and metrics have the names that they have inside the part, score and end are the part's,
    and decisions of other parts are left out. Ticks are those of the common clock.
    """
    inside = model_of(model, role)[1]
    prefix = role.removesuffix(inside)
    if not prefix:
        return episode
    steps = tuple(
        msgspec.structs.replace(step, role=step.role.removeprefix(prefix))
        for step in episode.steps
        if step.role.startswith(prefix)
    )
    result = _of_part(episode.result, prefix, len(steps)) if episode.result else None
    return evolve(episode, steps=steps, result=result, inside=None)


def _of_part(result: Result, prefix: str, decisions: int) -> Result:
    metrics = _inside(result.metrics, prefix)
    return evolve(
        result,
        score=metrics.pop("score", 0.0),
        ended=metrics.pop("ended", ""),
        metrics=metrics,
        decisions=decisions,
        usage=_inside(result.usage, prefix),
    )


def _inside(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {k.removeprefix(prefix): v for k, v in values.items() if k.startswith(prefix)}
