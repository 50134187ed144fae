"""The scripts that measure intervals: how often they cover, and how many seeds they need."""

import re
from math import inf, nan

import how_many_seeds
import interval_coverage
import pytest
from click.testing import CliRunner
from interval_cases import CASES

from desim.statistics.intervals import Interval


@pytest.mark.slow
def test_every_interval_covers_as_often_as_it_says() -> None:
    """0.93 to 0.97 where that is claimed; the others near it, and the conservative ones above."""
    trials = ["--trials", "1000"]
    done = CliRunner().invoke(interval_coverage.main, trials, catch_exceptions=False)
    assert done.exit_code == 0
    allowed = {"exact": (0.93, 0.97), "at least": (0.94, 1), "near": (0.92, 0.97)}
    for case in CASES:
        [line] = [one for one in done.output.splitlines() if one.startswith(f"{case.name} ")]
        stated, measured, error = map(float, line.split()[-3:])
        low, high = allowed.get(case.kind, (0.91, 0.99))
        assert stated == 0.95
        assert 0 < error < 0.02
        assert low <= measured <= high, line


def test_open_ends_hold_everything() -> None:
    """Beyond a missing end there is no limit; an end itself belongs to the interval."""
    assert interval_coverage.holds(Interval(0, 1, None, 2, 9), -inf)
    assert interval_coverage.holds(Interval(0, 1, -2, None, 9), -2)
    assert not interval_coverage.holds(Interval(0, 1, -2, 2, 9), 2.1)
    assert not interval_coverage.holds(Interval(0, 1, -2, 2, 9), nan)


@pytest.mark.slow
def test_each_world_has_its_seeds() -> None:
    """One line a preset: exact where nothing is random, else numbers of seeds."""
    done = CliRunner().invoke(
        how_many_seeds.main,
        ["beer_game/poisson", "beer_game/firmbench", "--seeds", "5"],
        catch_exceptions=False,
    )
    assert done.exit_code == 0
    lines = dict(
        re.split(r"\s{2,}", one.strip(), maxsplit=1) for one in done.output.splitlines()[1:3]
    )
    poisson = re.split(r"\s{2,}", lines["beer_game/poisson"])
    assert poisson[0] == "order_up_to" != poisson[3]
    assert 20 <= int(poisson[1]) <= int(poisson[2].replace(",", ""))
    assert 2 <= int(poisson[-1]) <= 20
    assert re.split(r"\s{2,}", lines["beer_game/firmbench"])[1] == "exact"
    assert done.output.splitlines()[3].startswith("from 5 seeds")


def test_seeds_that_are_not_known_are_said_to_be() -> None:
    """A mean of 0, equal values, and two that nothing tells apart."""
    assert how_many_seeds.needs(Interval(0, 1, -1, 1, 9)) is None
    assert how_many_seeds.needs(Interval(5, 0, 5, 5, 9)) is None
    assert how_many_seeds.tell(Interval(0, None, None, None, 1)) == "tied"
    assert how_many_seeds.tell(Interval(3, None, None, None, 1)) == "exact"
    assert how_many_seeds.tell(Interval(1, 1, 0.5, 1.5, 9)) == "10"
    assert how_many_seeds.tell(Interval(1e-9, 1, -1, 1, 9)) == "tied"
