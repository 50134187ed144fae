"""Replay: the actions on record are repeated, and every step and the result are compared."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from desim.core.points import Points
from desim.core.result import Result
from desim.core.run import Run
from desim.episodes.episode_options import TrustOptions
from desim.episodes.prefix import first_difference, naming_changes, repeated
from desim.episodes.trust import trusted_model
from desim.errors import BadRecord, DesimError
from desim.records.episode import Episode
from desim.records.kept_state import Inside
from desim.schema import to_plain
from desim.schema.signatures import takes


@frozen(kw_only=True, slots=False)
class ReplayOptions(TrustOptions):
    """The arguments of `replay`.

    Attributes:
        path: A whole record.
        key: The file of the key; with it the record proves that it was not altered. In Python the
            bytes.
        series: Whether to record the points of `world.point` and of monitors; see `play`.
    """

    path: str | Path = field(kw_only=False)
    series: bool = False


@takes(ReplayOptions)
def replay(options: ReplayOptions) -> Episode:
    """Repeat the actions of a record on its model and seed, and compare every step and the result.

    Returns:
        The episode, which is the same as the recorded one, with the state at its end. Its steps
        stay in the file. Metrics that the record does not have are not compared.

    Raises:
        BadRecord: The record cannot be read, or a decision or the result differs; the text names
            the first difference.
        UsageError: The record would import a module or open a file.
    """
    path, series = options.path, options.series
    episode = Episode.read(path, keep_steps=False)
    header = episode.header
    built = trusted_model(path, header, options)
    points = Points() if series else None
    try:
        run = repeated(built, header, episode.steps, points=points)
        with naming_changes(header, built):
            _same_end(episode, run)
        inside = Inside.of(run, points, keep_state=True, series=series)
    except DesimError as fault:
        raise BadRecord(f"{path}: {fault}") from None
    return evolve(episode, inside=inside)


def _same_end(episode: Episode, run: Run[Any]) -> None:
    """Compare the end of an episode with that of a run in which its decisions were repeated.

    Raises:
        BadRecord: The run has not ended, or has another result.
    """
    if run.open:
        raise BadRecord(
            f"the record ends after {len(episode.steps)} decisions, but "
            f"{run.open[0].role!r} is asked at t={run.world.now}"
        )
    assert episode.result is not None
    # Policies note usage, and a replay runs no policies.
    same_result(episode.result, run.result())


def not_compared(replayed: Episode) -> list[str]:
    """Return the names of the metrics that a replayed record does not have.

    Args:
        replayed: What `replay` returns.
    """
    assert replayed.inside is not None
    now = to_plain(replayed.inside.model.metrics(replayed.inside.state))
    return [*_names_without(now, replayed.metrics)]


def _names_without(now: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[str]:
    for name, value in now.items():
        if name not in recorded:
            yield name
        elif isinstance(value, Mapping):
            yield from (f"{name}.{each}" for each in _names_without(value, recorded[name]))


def same_result(recorded: Result, now: Result) -> None:
    """Compare a result with the recorded one, except what policies have used.

    Metrics that the record does not have are not compared: a world may report more since.

    Raises:
        BadRecord: They differ.
    """
    before, after = (
        to_plain(recorded),
        to_plain(evolve(now, usage=recorded.usage, last_tick=recorded.last_tick)),
    )
    after["metrics"] = _of_names(after["metrics"], before["metrics"])
    if before != after:
        raise BadRecord(f"the result differs: {first_difference(before, after)}")


def _of_names(metrics: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics that have the names of others, nested ones too."""
    return {
        name: _of_names(value, named[name])
        if isinstance(value, Mapping) and isinstance(named[name], Mapping)
        else value
        for name, value in metrics.items()
        if name in named
    }
