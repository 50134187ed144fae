"""The replay of a record from its recorded answers, which yields data that the record lacks.

A record holds decisions and a result, but no series, ledgers or tables. To obtain these, the
answers are repeated on the model without policies. Modules and files that the header names are
imported or opened only if the caller trusts them.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from desim.collector import rare_collections
from desim.core.limits import Alarm
from desim.core.model import Model
from desim.core.points import Points
from desim.core.result import Result, read_series
from desim.core.run import Run
from desim.episodes.replay import repeated, repeated_whole, same_result
from desim.errors import BadRecord, DesimError, ModelFailed
from desim.faults import RAISED, fault_text
from desim.records.episode import Episode
from desim.records.reach import model_reaches
from desim.reports.record.series import EpisodeSeries

#: Most seconds of wall time of one replay: recorded parameters may cause long runs.
_MOST_SECONDS = 120

#: Most modules and files of a header that a note names.
_MOST_REACHES = 5

_Series = Mapping[str, Sequence[float]]
_Ticks = Mapping[str, Sequence[int]]


@frozen
class Replayed:
    """The result of a record's replay; empty but for notes if it was not possible.

    Attributes:
        model: The model that was built; None if nothing was played.
        state: Its state at the end, or after the last decision of a cut record; None if the model
            failed.
        series: Series and decisions; None if nothing was played.
        notes: Sentences on missing parts and the reasons.
    """

    model: Model[Any] | None = None
    state: Any = None
    series: EpisodeSeries | None = None
    notes: tuple[str, ...] = ()


def played_again(episode: Episode, *, trust: bool = False) -> Replayed:
    """Replay a record; if it cannot be played, return the reason as a note.

    Args:
        episode: The recorded episode; it may be cut, or of a failed run.
        trust: Whether a module may be imported and files may be opened that the record names.
    """
    header = episode.header
    if not trust and (reaches := [*model_reaches(header.model, header.params)]):
        whats = "; ".join(reaches[:_MOST_REACHES])
        return _without(f"it would {whats}; --trust allows it (trust=True in Python)")
    try:
        with rare_collections(), Alarm(_MOST_SECONDS):
            return _played(header.build(trust=trust), episode)
    except DesimError as fault:
        return _without(f"{fault}", "could not be")
    except RAISED as fault:  # a model that a stranger's parameters have broken
        return _without(fault_text(fault), "could not be")


def _without(why: str, was: str = "was not") -> Replayed:
    text = f"The record {was} played again, so it is shown without series and tables: {why}"
    return Replayed(notes=(text,))


def _played(model: Model[Any], episode: Episode) -> Replayed:
    points = Points()
    if episode.failure is not None:
        return _failed(model, episode, points)
    run = repeated_whole(model, episode, points=points)
    series: _Series = {}
    ends: _Ticks = {}
    if episode.result is not None:
        series, ends = run.ended_series()
        notes = _differences(episode.result, run.result())
    else:
        series, ends = _so_far(run)
        text = (
            "The record was cut: series, statements and tables are as of its last decision, number "
            f"{len(episode.steps):,}, and of the series the periods that had ended before it."
        )
        notes = (text,)
    found = EpisodeSeries.of(model, series, ends, points.read(), episode.steps)
    return Replayed(model, run.state, found, notes)


def _differences(recorded: Result, now: Result) -> tuple[str, ...]:
    """Return a sentence if the recorded result differs from that of the replay."""
    try:
        same_result(recorded, now)
    except BadRecord as fault:
        return (f"The record does not replay to the result that it states: {fault}",)
    return ()


def _so_far(run: Run[Any]) -> tuple[_Series, _Ticks]:
    """Return the series of a run that has not ended: the periods that ended before now.

    The series of a model may include periods that have not begun or not ended.
    """
    try:
        series, ticks = read_series(run.model, run.state)
    except RAISED:  # a model promises its series for an ended episode alone
        return {}, {}
    ends = {name: [t for t in ticks.get(name, ()) if t < run.world.now] for name in series}
    return {name: values[: len(ends[name])] for name, values in series.items()}, ends


def _failed(model: Model[Any], episode: Episode, points: Points) -> Replayed:
    """Return the series recorded until the model failed."""
    assert episode.failure is not None
    with contextlib.suppress(ModelFailed):  # as on record
        repeated(model, episode.header, episode.steps, points=points)
    found = EpisodeSeries.of(model, {}, {}, points.read(), episode.steps)
    note = (
        f"The model failed at t={episode.failure.t:,}, so there is no state to report on: of the "
        "series only points of world.point and of monitors are shown, up to there."
    )
    return Replayed(model, None, found, (note,))
