"""Series of an episode: one number a period, checked like scores and metrics."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from support.small_worlds import STRIDE, Diary, Trail, Walk

from desim import Run
from desim.core.reported import Periods
from desim.core.result import ended_series, read_series
from desim.episodes.driver import play
from desim.errors import ModelFailed, UsageError


@frozen
class Odd(Walk):
    """A walk that reports a series of any kind."""

    what: Any = ()

    def series(self, _path: Trail) -> Mapping[str, Any]:
        """Return it, or fail."""
        if isinstance(self.what, str) and self.what == "fail":
            raise KeyError("month")
        return {"odd": self.what}


@pytest.mark.parametrize(
    "given", [(1, 2.5), [True, 2], np.array([1, 2]), (), np.array([1.5]), [np.int64(4)]], ids=str
)
def test_series_become_tuples_of_floats(given: Any) -> None:
    """Whatever sequence of numbers the model returns."""
    (series,) = read_series(Odd(what=given), Trail([], []))[0].values()
    assert series == tuple(map(float, given))
    assert {type(value) for value in series} <= {float}


@pytest.mark.parametrize("given", ["12", None, 3.0, [None], ["x"], [[1]]], ids=str)
def test_a_series_that_is_none_is_refused(given: Any) -> None:
    """The error names the series and what it holds."""
    with pytest.raises(ModelFailed, match=r"the model's series 'odd' is .*; a series is a"):
        play(Odd(what=given), STRIDE, series=True)


def test_an_unknown_number_is_nan() -> None:
    """As the model returns it."""
    (series,) = read_series(Odd(what=[1, math.nan]), Trail([], []))[0].values()
    assert math.isnan(series[1])


@frozen
class Yearly(Odd):
    """A walk that reports the tick at which each period ends."""

    ends: tuple[int, ...] = (10, 110, 310)

    def series(self, _path: Trail) -> Mapping[str, Any]:
        """Return a series with ends and one without."""
        return {"cash": Periods([1.0, 2.0, 3.0], self.ends), "free": [4.0, 5.0]}


@pytest.mark.parametrize(
    ("end", "ticks"),
    [
        (0, []),
        (10, [10]),
        (11, [10, 11]),
        (110, [10, 110]),
        (300, [10, 110, 300]),
        (900, [10, 110, 310]),
    ],
)
def test_series_end_with_the_episode(end: int, ticks: list[int]) -> None:
    """The period in which it ended ends with it; a series without ends is whole."""
    values, ends = ended_series(Yearly(), Trail([], []), end)
    assert list(ends["cash"]) == ticks
    assert values == {"cash": (1.0, 2.0, 3.0)[: len(ticks)], "free": (4.0, 5.0)}


def test_tables_of_an_episode_end_with_it() -> None:
    """Also its series in memory, read when it ended or later."""
    for now in (True, False):
        episode = play(Yearly(ends=(1, 2, 9)), STRIDE, series=now)
        assert episode.inside is not None
        last = episode.inside.end
        assert list(episode.inside.series[1]["cash"]) == [1, 2, last]
        assert episode.columns()["time"][:3] == [1, 2, last]


def test_a_model_without_series_has_none() -> None:
    """It may still record points, so it is played."""
    assert play(Walk(), STRIDE, series=True).series() == {}


def test_a_run_has_a_result_once_it_has_ended() -> None:
    """An exception of the model's is a failure of the model."""
    with pytest.raises(UsageError, match="the episode still runs"):
        Run(Diary()).result()
    with pytest.raises(ModelFailed, match=r"Odd failed at t=3 in Odd\.series.*KeyError"):
        play(Odd(what="fail"), STRIDE, series=True)
