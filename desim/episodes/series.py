"""Several episodes in a row with the same policies, which may learn in between."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, field, frozen

from desim.core.limits import Limits
from desim.core.model import Model, model_of
from desim.core.streams import kept_globals
from desim.episodes.driver import ModelOptions, play_session
from desim.episodes.lineup import Lineup, Policies, resolve
from desim.episodes.replay import first_difference, naming
from desim.episodes.session import EpisodeOptions, Session
from desim.errors import UsageError
from desim.faults import policy_failing
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.record_file import begun
from desim.records.record_lock import RecordLock
from desim.schema.signatures import takes
from desim.show.progress import ProgressOption, shown_progress

#: The fields of a header that every command of one series has in common, the seed apart.
_COMPARED = ("model", "params", "seed", "policies", "starts")


@frozen(eq=False)
class InSeries:
    """An episode of a series, by its place from 1."""

    number: int
    file: Path | None
    was_recorded: bool
    episode: Episode = field(repr=False)


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
    """Play several episodes with the same policy instances, whose `after(episode)` follows each.

    Raises:
        UsageError: See `play`; or the folder holds another series, or another process writes it.
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
    model, seeds, lineup = options.build(), list(options.seeds), options.policies
    if not isinstance(lineup, Lineup):
        with kept_globals(seeds[0] if seeds else None):
            lineup = resolve(model, lineup, seeds[0]) if seeds else Lineup({}, {})
    folder = _made(options.record) if options.record is not None else None
    how = EpisodeOptions(limits=options.limits, keep_state=False, last_events=last_events)
    with _locked(folder / "series" if folder else None):
        files = [episode_file(folder, n) if folder else None for n, _ in enumerate(seeds, 1)]
        is_begun = [options.resume and file is not None and begun(file) for file in files]
        known = [
            _known(file, Header.of(model, seed, lineup.labels)) if file and is_there else None
            for file, seed, is_there in zip(files, seeds, is_begun, strict=True)
        ]
        has_ended = all(past and past.result for past in known)
        for number, (seed, file, past) in enumerate(zip(seeds, files, known, strict=True), 1):
            was_recorded = past is not None and past.result is not None
            if past is not None and has_ended:
                yield InSeries(number, file, was_recorded, past)
                continue
            alone = kept_globals(seed) if play is play_session else contextlib.nullcontext()
            named = naming(file) if past else contextlib.nullcontext()
            with (
                _locked(file),
                alone,
                named,
                Session(model, lineup, seed, file, past, how) as session,
            ):
                episode = play(session)
            for role, policy in lineup.policies.items():
                with policy_failing(lineup.labels.get(role, role), f"in after as {role!r}"):
                    policy.after(part_episode(episode, model, role))
            yield InSeries(number, file, was_recorded, episode)


def _locked(file: Path | None) -> contextlib.AbstractContextManager[object]:
    return RecordLock(file) if file else contextlib.nullcontext()


def _known(file: Path, wanted: Header) -> Episode:
    """Return what is on record of an episode, which must be one of this series."""
    episode = Episode.read(file, whole=False, keep_steps=False)
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


def _made(record: str | Path) -> Path:
    folder = Path(record)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(
            f"{folder} is a file; a series writes one record an episode into a folder"
        ) from None
    except OSError as fault:
        raise UsageError(f"cannot write {folder}: {fault.strerror}") from None
    return folder


def part_episode(episode: Episode, model: Model[Any], role: str) -> Episode:
    """Return an episode by the names inside the part of a role; ticks stay those of the whole."""
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
