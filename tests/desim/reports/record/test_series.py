"""Time on the axis of a plot: periods, dates, ticks; and what a series shows on it."""

import datetime as dt
import math

import pytest
from attrs import frozen
from support.shop import Shop
from support.small_worlds import Walk

from desim import catalog
from desim.core.points import Recorded
from desim.core.reported import Figures
from desim.reports.record.series import EpisodeSeries, Line, Timeline
from desim.show.column import Column

NEW_YEAR = (dt.date(2025, 1, 1) - dt.date(1970, 1, 1)).days


@frozen
class Stocked(Walk):
    """A walk that says what its series measure."""

    figures = Figures(
        series={
            "stock_walker": Column("cents", role="walker", period="week"),
            "level": Column("units", period="week"),
        }
    )


def shown(
    series: dict[str, list[float]], ends: dict[str, list[int]], **points: Recorded
) -> tuple[Line, ...]:
    """Return what the series of `Stocked` show."""
    return EpisodeSeries.of(Stocked(), series, ends, points, []).lines


def test_weeks_are_one_long_and_a_decision_has_its_place_among_them() -> None:
    """The first reaches from 0 to 1; ticks before and behind the known ones are placed, too."""
    model = catalog.model("beer_game")
    line = Timeline.of(model, {"orders_retailer": [7, 14, 21]})
    assert (line.label, line.is_dated) == ("week", False)
    assert [line.place(tick) for tick in (0, 7, 10.5, 21, 28)] == [0, 1, 1.5, 3, 4]
    texts = ["week 1", "week 1", "end of week 1", "week 2", "end of week 3", "week 4"]
    assert [line.text(tick) for tick in (0, 6, 7, 8, 21, 22)] == texts


def test_a_model_with_dates_has_them() -> None:
    """Days for ticks at midnight, and what the model says of a month."""
    shop = Timeline.of(Shop(), {})
    assert (shop.is_dated, shop.text(1)) == (True, "2024-03-02")
    lender = Timeline.of(catalog.model("enterprise_arena"), {})
    assert lender.text(0) == "2015-01-31"
    startup = Timeline.of(catalog.model("yc_bench"), {})
    assert startup.place(0) == NEW_YEAR + 9 / 24
    assert startup.text(0) == "2025-01-01 09:00"
    assert math.isnan(shop.place(10**9))


def test_without_dates_and_periods_ticks_are_shown() -> None:
    """And series whose periods have no ends are counted."""
    line = Timeline.of(Walk(), {})
    assert (line.label, line.place(3), line.text(3)) == ("tick", 3.0, "t=3")
    (level,) = shown({"level": [4.0, 5.0]}, {})
    assert (level.places, level.x, level.in_time) == ([1.0, 2.0], "week", False)


def test_periods_that_end_at_one_tick_are_counted() -> None:
    """As the rounds of a talk that takes no time."""
    (level,) = shown({"level": [4.0, 5.0]}, {"level": [0, 0]})
    assert (level.places, level.in_time) == ([1.0, 2.0], False)


def test_cents_are_drawn_as_dollars_and_a_role_is_said_once() -> None:
    """The group is the role; its name and the unit are left out of the title."""
    (stock,) = shown({"stock_walker": [250.0, 300.0]}, {"stock_walker": [1, 2]})
    assert (stock.title, stock.unit, stock.group) == ("Stock", "dollars", "walker")
    assert list(stock.values) == [2.5, 3.0]
    assert (stock.places, stock.in_time) == ([1.0, 2.0], True)


def test_of_points_of_one_tick_the_last_holds() -> None:
    """The others held for no time, so a line must not dip to them."""
    points = Recorded((0, 2, 2, 5), (1.0, 0.0, 1.0, 3.0))
    (level,) = shown({}, {}, level=points)
    assert (level.places, level.values, level.is_held) == ([0.0, 2.0, 5.0], [1.0, 1.0, 3.0], True)


def test_marks_are_those_of_the_role_or_part() -> None:
    """Of a series of no role all; each place once; few of very many."""
    decided = {"plant.cook": [1.0, 1.0, 2.0], "till": [3.0, math.nan]}
    found = EpisodeSeries(Timeline.of(Walk(), {}), (), decided)
    assert found.marks("plant.cook") == [1.0, 2.0]
    assert found.marks("plant") == [1.0, 2.0]
    assert found.marks("plan") == []
    assert found.marks("") == [1.0, 2.0, 3.0]
    many = EpisodeSeries(found.timeline, (), {"a": [float(n) for n in range(50_000)]}).marks("a")
    assert 300 < len(many) <= 401


@pytest.mark.parametrize(
    ("ticks", "drawn"),
    [([], 0), ([100, 104], 1), ([100, 105], 2), ([5, 5], 2)],
)
def test_a_period_at_whose_start_the_episode_ended_is_not_drawn(
    ticks: list[int], drawn: int
) -> None:
    """It is shorter than a twentieth of the one before."""
    found = EpisodeSeries.of(Stocked(), {"level": [2.0] * len(ticks)}, {"level": ticks}, {}, [])
    assert [len(line.values) for line in found.lines] == [drawn]
