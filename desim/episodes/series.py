"""Several episodes in a row with the same policies, which may learn in between.

A series that is recorded can be continued: what its records hold is not played anew, but repeated
with the replies on record, so that every policy is in the state in which it was.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import define, evolve, field, frozen

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
from desim.faults import policy_failing
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

    After every episode `after(episode)` of each policy is called.

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
        for number, seed in enumerate(playing.seeds, 1):
            with kept_globals(seed), playing.turn(number) as turn:
                if turn.session is not None:
                    turn.episode = play_session(turn.session)
            yield playing.ended(turn)


@takes(SessionsOptions)
async def series_async(options: SessionsOptions) -> AsyncIterator[InSeries]:
    """Yield the episodes of a series as `series` does, in the event loop that runs."""
    with _opened(options) as playing:
        for number, _ in enumerate(playing.seeds, 1):
            with playing.turn(number) as turn:
                if turn.session is not None:
                    turn.episode = await play_session_async(turn.session)
            yield playing.ended(turn)


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
        yield _Series(model, policies, seeds, folder, options)


@define
class _Turn:
    """An episode of a series: it is played or repeated in a session, or only read.

    Attributes:
        number: Its place, from 1.
        file: Its record; None without one.
        known: What is on record; None if it was not begun.
        session: Plays or repeats it; None if it is read, as no episode is left to play.
        episode: The ended episode.
    """

    number: int
    file: Path | None
    known: Episode | None
    session: Session | None = None
    episode: Episode | None = None

    @property
    def was_recorded(self) -> bool:
        """Whether the episode is on record as a whole."""
        return self.known is not None and self.known.result is not None


class _Series:
    """A series, and the folder of its records; None if nothing is recorded.

    Raises:
        UsageError: A record is of another series, or one behind a missing or cut one is there.
        BadRecord: A record cannot be read.
    """

    def __init__(
        self,
        model: Model[Any],
        lineup: Lineup,
        seeds: Sequence[int],
        folder: Path | None,
        options: SessionsOptions,
    ) -> None:
        self.seeds = seeds
        self._model, self._lineup, self._options = model, lineup, options
        self._files = [episode_file(folder, n) for n, _ in enumerate(seeds, 1)] if folder else []
        past = [self._begun(number) for number, _ in enumerate(self._files)]
        whole = [one is not None and one.result is not None for one in past]
        self._ended = past if past and all(whole) else []
        if not self._ended and past:
            _check_gap(self._files, past, whole.index(False))

    @contextlib.contextmanager
    def turn(self, number: int) -> Iterator[_Turn]:
        """Open the session of an episode, if one is left to play, under the lock of its record."""
        at, options = number - 1, self._options
        file = self._files[at] if self._files else None
        if self._ended:
            yield _Turn(number, file, self._ended[at], None, self._ended[at])
            return
        how = EpisodeOptions(
            limits=options.limits, keep_state=False, last_events=options.last_events
        )
        with RecordLock(file) if file else contextlib.nullcontext():
            turn = _Turn(number, file, self._begun(at) if file else None)
            record = None if turn.was_recorded else file
            try:
                with options.session(
                    self._model, self._lineup, self.seeds[at], record, turn.known, how
                ) as turn.session:
                    yield turn
                    _check_repeated(turn)
            except BadRecord as fault:
                raise BadRecord(f"{file}: {fault}" if turn.known else str(fault)) from None

    def ended(self, turn: _Turn) -> InSeries:
        """Return an episode that has ended, after the policies have learned from it."""
        assert turn.episode is not None
        for role, policy in self._lineup.policies.items() if turn.session else ():
            with policy_failing(self._lineup.labels.get(role, role), f"in after as {role!r}"):
                policy.after(part_episode(turn.episode, self._model, role))
        return InSeries(turn.number, turn.episode, turn.file, turn.was_recorded)

    def _begun(self, at: int) -> Episode | None:
        """Return what is on record of an episode, by its place from 0; None if it was not begun."""
        file, seed = self._files[at], self.seeds[at]
        if not self._options.resume or not file.exists() or _removed_unbegun(file):
            return None
        episode = Episode.read(file, whole=False, keep_steps=False)
        wanted = Header.of(self._model, seed, self._lineup.labels)
        before, now = ({n: getattr(h, n) for n in _COMPARED} for h in (episode.header, wanted))
        # As JSON, because what was recorded has lists where a header that starts now has tuples.
        now = msgspec.json.decode(msgspec.json.encode(now))
        if before != now:
            raise UsageError(
                f"{file} is of another series: {first_difference(before, now)}; give the same "
                "arguments again or choose another folder"
            )
        return episode


def _check_gap(files: Sequence[Path], past: Sequence[Episode | None], left: int) -> None:
    """Check that nothing is on record behind the first episode that is left to play."""
    for file, known in zip(files[left + 1 :], past[left + 1 :], strict=True):
        if known is not None:
            raise UsageError(
                f"{files[left]} is missing or was cut, but {file} is there; a series goes on in "
                "order, so remove the later records or choose another folder"
            )


def _check_repeated(turn: _Turn) -> None:
    """Compare the result of an episode that was repeated with the one on record."""
    if turn.known is not None and turn.known.result is not None and turn.episode is not None:
        assert turn.episode.result is not None
        same_result(turn.known.result, turn.episode.result)


def episode_file(folder: Path, number: int) -> Path:
    """Return the path of the record of an episode, by its place from 1."""
    return folder / f"episode-{number:03d}.jsonl"


def _made(folder: Path) -> Path:
    """Make a folder if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(
            f"{folder} is a file; a series writes one record an episode into a folder"
        ) from None
    except OSError as fault:
        raise UsageError(f"cannot write {folder}: {fault.strerror}") from None
    return folder


def _removed_unbegun(file: Path) -> bool:
    """Remove a record whose process was killed in its first line; return whether it was."""
    first = next(lines_of(file), b"")
    begun = first.startswith(_BEGINNING) or _BEGINNING.startswith(first)
    if is_empty := begun and not first.endswith(b"\n"):
        file.unlink()
    return is_empty


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
