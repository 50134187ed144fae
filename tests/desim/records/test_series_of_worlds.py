"""Every world's series: declared, dated, at known ticks; recording them changes no episode."""

from collections.abc import Sequence
from typing import Any

import pytest

from desim import Run, catalog, play
from desim.core.points import Points
from desim.episodes.driver import play_session
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import resolve
from desim.episodes.session import Session
from desim.records.episode import Episode
from desim.show.column import Column

WORLDS = catalog.models()

#: What a newcomer looks for in each kind of world, by a word of its name; each world has all words
#: of one line.
LOOKED_FOR = (
    {"orders", "inventory", "backlog", "cost"},
    {"cash", "staff", "projects_under_way", "utilisation"},
    {"funds", "staff", "tasks_under_way", "utilisation"},
    {"cash", "net_worth", "inventory", "tasks_under_way"},
    {"cash", "debt", "users", "closings"},
    {"words", "facts"},
    {"right"},
)


def first(name: str) -> tuple[Any, str]:
    """Return a world and its first baseline."""
    model = catalog.model(name)
    return model, catalog.baselines(model)[0]


class Nosy(Points):
    """Points that also read all series of the run under way, as a plot beside it would."""

    run: Run[Any]
    readings = 0

    def read_all(self) -> None:
        """Read and throw away."""
        world = self.run.world
        world.point("events_waiting", len(world._queue))
        self.readings += 1


def watched(name: str) -> tuple[Episode, Nosy]:
    """Play with a point recorded before every event."""
    model, spec = first(name)
    points = Nosy()
    lineup = resolve(model, spec, 0)
    with Session(model, lineup, 0, how=EpisodeOptions(series=True), points=points) as session:
        points.run = session.run
        tell = session.run.advance

        def advance() -> Sequence[Any]:
            points.read_all()
            return tell()

        session.run.advance = advance  # type: ignore[method-assign, assignment]
        return play_session(session), points


@pytest.mark.parametrize("name", WORLDS)
def test_recording_changes_no_episode(name: str) -> None:
    """Score, metrics, ledgers and every decision are the same with and without."""
    plain = play(*first(name))
    seen, points = watched(name)
    assert seen == plain
    assert seen.ledger_digest == plain.ledger_digest
    assert points.readings == len(seen.points()["events_waiting"].ticks) > 1
    assert repr(seen.series()) == repr(plain.series())


@pytest.mark.parametrize("name", WORLDS)
def test_every_series_is_declared(name: str) -> None:
    """With a unit, at ticks that never decrease, and a date; so frames need no code of a user."""
    episode = play(*first(name), series=True)
    assert episode.inside is not None
    series, columns = episode.series(), episode.inside.model.figures.series
    ticks = episode.inside.series[1]
    assert series.keys() | episode.points().keys() <= columns.keys()
    assert all(column.unit and column.period != Column().period for column in columns.values())
    for each, values in series.items():
        assert len(ticks[each]) == len(values) > 0
        assert list(ticks[each]) == sorted(ticks[each])
    table = episode.columns()
    assert None not in table["time"]
    assert None not in table["date"]
    assert any(all(any(word in each for each in series) for word in line) for line in LOOKED_FOR)
