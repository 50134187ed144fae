"""Several episodes in a row with the same policies, which may learn in between."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import define, evolve, field, frozen

from desim.core.limits import Limits
from desim.core.model import Model, model_of
from desim.core.streams import kept_globals
from desim.episodes.driver import ModelOptions, play_session
from desim.episodes.lineup import Lineup, Policies, resolve
from desim.episodes.replay import first_difference
from desim.episodes.session import EpisodeOptions, Session
from desim.errors import BadRecord, UsageError
from desim.faults import policy_failing
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.record_file import begun
from desim.records.record_lock import RecordLock
from desim.schema.signatures import takes
from desim.show.progress import ProgressOption, shown_progress

#: The fields of a header that every command of one series has in common, the seed apart.
_COMPARED = ("model", "params", "seed", "policies", "starts")


@define(eq=False)
class InSeries:
    """An episode of a series, by its place from 1.

    While it is played or repeated it has a *session*, afterwards the *episode*.
    """

    number: int
    file: Path | None
    was_recorded: bool
    session: Session | None = field(default=None, repr=False)
    episode: Episode = field(init=False, repr=False)


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
        progress: As for `sweep`.
    """

    policies: Policies | Lineup = field(kw_only=False)
    seeds: Iterable[int] = field(kw_only=False)
    record: str | Path | None = None
    limits: Limits | None = None
    resume: bool = False
    progress: ProgressOption = None


@takes(SeriesOptions)
def play_series(options: SeriesOptions) -> list[Episode]:
    """Play several episodes with the same policy instances, which may learn in between.

    After every episode `after(episode)` of each policy is called.

    Raises:
        UsageError: See `play`; or the folder holds another series, or one with a gap, or another
            process writes it.
        BadRecord: A record cannot be read, or a policy decides otherwise than on record.
    """
    seeds, found = list(options.seeds), list[Episode]()
    with shown_progress(options.progress) as progress:
        progress(0, len(seeds))
        for one in series(evolve(options, seeds=seeds)):
            found.append(one.episode)
            progress(len(found), len(seeds))
    return found


def series(
    options: SeriesOptions, last_events: int = 0, play: Callable[[Session], Episode] = play_session
) -> Iterator[InSeries]:
    """Yield the episodes of a series, each as soon as policies have learned from it.

    The error of a failed episode has as many last events as a note. What else than `play_session`
    plays a session does so beside other episodes, which share the global generators.
    """
    with _opened(options, last_events) as playing:
        for at, seed in enumerate(playing.seeds):
            alone = kept_globals(seed) if play is play_session else contextlib.nullcontext()
            with alone, playing.opened(at) as one:
                if one.session is not None:
                    one.episode = play(one.session)
            yield playing.learned(one)


@contextlib.contextmanager
def _opened(options: SeriesOptions, last_events: int = 0) -> Iterator["_Series"]:
    """Open a series under the lock of its folder."""
    seeds, policies, folder = list(options.seeds), options.policies, None
    model = options.build()
    if not isinstance(policies, Lineup):
        with kept_globals(seeds[0] if seeds else None):
            policies = resolve(model, policies, seeds[0]) if seeds else Lineup({}, {})
    if options.record is not None:
        folder = Path(options.record)
        _make(folder)
    files = [episode_file(folder, n) if folder else None for n, _ in enumerate(seeds, 1)]
    how = EpisodeOptions(limits=options.limits, keep_state=False, last_events=last_events)
    with RecordLock(folder / "series") if folder else contextlib.nullcontext():
        yield _Series(model, policies, seeds, files, options.resume, how)


@define
class _Series:
    """A series with the file of each episode, None where nothing is recorded."""

    model: Model[Any]
    lineup: Lineup
    seeds: Sequence[int]
    files: Sequence[Path | None]
    resume: bool
    how: EpisodeOptions
    has_ended: bool = field(init=False)

    def __attrs_post_init__(self) -> None:
        known = [self._known(at) for at, _ in enumerate(self.files)]
        self.has_ended = all(one and one.result for one in known)

    @contextlib.contextmanager
    def opened(self, at: int) -> Iterator[InSeries]:
        """Open the session of an episode, unless the series has ended, under its record's lock."""
        file = self.files[at]
        with RecordLock(file) if file else contextlib.nullcontext():
            known = self._known(at)
            was_recorded = known is not None and known.result is not None
            one = InSeries(at + 1, file, was_recorded)
            if known is not None and self.has_ended:
                one.episode = known
                yield one
                return
            args = self.model, self.lineup, self.seeds[at], file, known, self.how
            try:
                with Session(*args) as one.session:
                    yield one
            except BadRecord as fault:
                raise BadRecord(f"{file}: {fault}" if known else str(fault)) from None

    def learned(self, one: InSeries) -> InSeries:
        """Return an episode that has ended, after the policies have learned from it."""
        for role, policy in self.lineup.policies.items() if one.session else ():
            with policy_failing(self.lineup.labels.get(role, role), f"in after as {role!r}"):
                policy.after(part_episode(one.episode, self.model, role))
        one.session = None
        return one

    def _known(self, at: int) -> Episode | None:
        """Return what is on record of an episode, which must be one of this series."""
        file = self.files[at]
        if not self.resume or file is None or not begun(file):
            return None
        episode = Episode.read(file, whole=False, keep_steps=False)
        wanted = Header.of(self.model, self.seeds[at], self.lineup.labels)
        before, now = ({n: getattr(h, n) for n in _COMPARED} for h in (episode.header, wanted))
        # As JSON, because what was recorded has lists where a header that starts now has tuples.
        now = msgspec.json.decode(msgspec.json.encode(now))
        if before != now:
            raise UsageError(
                f"{file} is of another series: {first_difference(before, now)}; give the same "
                "arguments again or choose another folder"
            )
        return episode


def episode_file(folder: Path, number: int) -> Path:
    """Return the path of the record of an episode, by its place from 1."""
    return folder / f"episode-{number:03d}.jsonl"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(
            f"{folder} is a file; a series writes one record an episode into a folder"
        ) from None
    except OSError as fault:
        raise UsageError(f"cannot write {folder}: {fault.strerror}") from None


def part_episode(episode: Episode, model: Model[Any], role: str) -> Episode:
    """Return what an episode was for the part of a role, by the names inside the part.

    Without parts it is the episode itself. Ticks are those of the common clock.
    """
    prefix = role.removesuffix(model_of(model, role)[1])
    if not prefix:
        return episode

    def own(values: Mapping[str, Any]) -> dict[str, Any]:
        return {k.removeprefix(prefix): v for k, v in values.items() if k.startswith(prefix)}

    steps = tuple(
        msgspec.structs.replace(step, role=step.role.removeprefix(prefix))
        for step in episode.steps
        if step.role.startswith(prefix)
    )
    result = episode.result
    if result is not None:
        metrics, usage, made = own(result.metrics), own(result.usage), len(steps)
        score, ended = metrics.pop("score", 0.0), metrics.pop("ended", "")
        result = evolve(
            result, score=score, ended=ended, metrics=metrics, decisions=made, usage=usage
        )
    return evolve(episode, steps=steps, result=result, inside=None)
