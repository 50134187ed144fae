"""What an episode holds beside its record: state, ledgers, series, points; tidy tables of it."""

import copy
import datetime as dt
import pickle
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from support.small_worlds import DIARY, STRIDE, Diary, Trail, Walk

from desim import Episode, World, play, replay, resume
from desim.composition import Composite
from desim.core.calendar import Calendar
from desim.core.points import Recorded
from desim.core.reported import Figures, Periods, Time
from desim.errors import UsageError
from desim.records import tables
from desim.show.column import Column


@frozen
class Hike(Walk):
    """A walk of a step a day that records where it led, with dates, units and a nested record."""

    @property
    def time(self) -> Time:
        """Day 0 begins with the year 2025."""
        return Time(calendar=Calendar(dt.datetime(2025, 1, 1), dt.timedelta(days=1)))  # noqa: DTZ001 (no zones)

    def begin(self, world: World) -> Trail:
        """Walk, and record every night."""
        trail = super().begin(world)
        world.process(self._nights(world, trail))
        return trail

    def _nights(self, world: World, trail: Trail) -> Generator[Any, Any, None]:
        while True:
            world.point("height", 10 * trail.places[-1])
            yield world.timeout(1)

    def series(self, path: Trail) -> Mapping[str, Any]:
        """Return the place after every step."""
        return {
            "place": Periods(path.places[1:], range(1, len(path.places))),
            "gust": [float("nan"), *path.gusts[1:]],
        }

    @property
    def figures(self) -> Figures:
        """Places and metres."""
        return Figures(
            series={
                "place": Column("places", role="walker", period="step"),
                "height": Column("m"),
            }
        )


def test_a_played_episode_has_its_state_and_ledgers() -> None:
    """The objects that the model has made, after the end."""
    episode = play(Walk(), STRIDE, 3)
    assert isinstance(episode.state, Trail)
    assert episode.ledgers == (episode.state,)
    assert len(episode.state.places) == 4


def test_series_need_no_flag_and_points_do() -> None:
    """The state is enough for what the model reports at the end."""
    plain, full = play(Hike(), STRIDE, 3), play(Hike(), STRIDE, 3, series=True)
    assert plain == full
    assert plain.series()["place"] == full.series()["place"] == (1.0, 2.0, 3.0)
    assert plain.points() == {}
    assert full.points() == {"height": Recorded((0, 1, 2, 3), (0.0, 10.0, 20.0, 30.0))}
    small = play(Hike(), STRIDE, 3, series=True, keep_state=False)
    assert small.columns() == full.columns()
    with pytest.raises(UsageError, match=r"the state was not kept; play\(.*keep_state=True\)"):
        _ = small.state
    with pytest.raises(UsageError, match="not played in this process"):
        play(Hike(), STRIDE, 3, keep_state=False).series()


def test_what_is_read_or_copied_has_no_state(tmp_path: Path) -> None:
    """The error says how to have one: replay plays the record again."""
    episode = play(Hike(), STRIDE, 3, record=tmp_path / "hike.jsonl", series=True)
    for other in (
        Episode.read(tmp_path / "hike.jsonl"),
        pickle.loads(pickle.dumps(episode)),  # noqa: S301 (our own)
        copy.deepcopy(episode),
    ):
        assert other.score == episode.score
        for use in (lambda one: one.state, Episode.series, Episode.points, Episode.to_pandas):
            with pytest.raises(UsageError, match=r"desim\.replay\(FILE\) plays a record again"):
                use(other)


def test_replay_and_resume_bring_the_state(tmp_path: Path) -> None:
    """Replay with the points on demand."""
    file = tmp_path / "diary.jsonl"
    episode = play(DIARY, STRIDE, 3, record=file)
    again = replay(file, trust=True)
    assert again.state == episode.state
    assert again.series()["place"] == episode.series()["place"]
    assert replay(file, trust=True, series=True) == again
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:2]))
    assert resume(file, STRIDE, trust=True).state == episode.state


def test_series_are_one_tidy_table() -> None:
    """Those by period first, then the points; unknown is None, and a period's end has its day."""
    table = play(Hike(), STRIDE, 3, series=True).columns()
    assert list(table) == ["part", "role", "name", "period", "time", "date", "value", "unit"]
    rows = list(zip(*table.values(), strict=True))
    assert [row[2] for row in rows] == ["place"] * 3 + ["gust"] * 3 + ["height"] * 4
    day = [dt.date(2025, 1, number) for number in range(1, 5)]
    assert rows[2] == ("", "walker", "place", 3, 3, day[2], 3.0, "places")
    assert rows[3] == ("", "", "gust", 1, None, None, None, "")
    assert rows[-1] == ("", "", "height", None, 3, day[3], 30.0, "m")


def test_decisions_are_one_tidy_table(tmp_path: Path) -> None:
    """Also of a record, whose steps stay in the file."""
    episode = play(Hike(), STRIDE, 3, record=tmp_path / "hike.jsonl")
    table = episode.columns("decisions")
    assert table == {
        "number": [1, 2, 3],
        "time": [0, 1, 2],
        "date": [dt.date(2025, 1, 1), dt.date(2025, 1, 2), dt.date(2025, 1, 3)],
        "part": [""] * 3,
        "role": ["walker"] * 3,
        "action.do": ["go"] * 3,
        "action.places": [1] * 3,
        "observation.place": [0, 1, 2],
        "observation.step": [0, 1, 2],
    }
    read = Episode.read(tmp_path / "hike.jsonl", keep_steps=False).columns("decisions")
    assert read == {**table, "date": [None] * 3}


def test_parts_have_their_names_and_the_common_clock() -> None:
    """Points of parts are at common ticks, here microseconds, as the ends of their periods."""
    both = Composite({"north": Hike(), "south": Hike()}, start="2025-01-01")
    table = play(both, STRIDE, 3, series=True).to_pandas()
    day = 86_400 * 10**6
    north = table[table["name"] == "north.height"]
    assert north["time"].tolist() == [0, day, 2 * day, 3 * day]
    assert set(north["part"]) == {"north"}
    place = table[table["name"] == "south.place"]
    assert set(place["role"]) == {"south.walker"}
    assert set(place["unit"]) == {"places"}
    assert place["time"].tolist() == [day, 2 * day, 3 * day]
    assert place["date"].tolist()[-1] == dt.date(2025, 1, 3)
    decisions = play(both, STRIDE, 3).columns("decisions")
    assert decisions["part"] == ["north", "south"] * 3


def test_there_are_two_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The near miss is named; a stranger's record cannot have columns without end."""
    episode = play(Diary(), STRIDE, 3)
    with pytest.raises(UsageError, match="no table 'serie' of an episode; did you mean 'series'"):
        episode.columns("serie")  # type: ignore[arg-type] # a user's mistake
    monkeypatch.setattr(tables, "_MOST_COLUMNS", 3)
    with pytest.raises(UsageError, match="the decisions have more than 3 fields"):
        episode.columns("decisions")
