"""Classes that only this process can find by name: made in a notebook or inside a function."""

from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from support.small_worlds import Go, Spot, Walk

from desim import Policy, play, problem, select, sweep
from desim.catalog.policy_spec import ConfiguredClass, label
from desim.episodes.lineup import resolve
from desim.studies.tune import tune
from desim.studies.until import compare

MODEL = Walk(wind=2.0)
SEEDS = range(4)


def leaping() -> type:
    """Return a class that no worker can import."""

    @frozen
    class Leap(Policy):
        """Takes steps of one size."""

        size: int = 1

        def decide(self, _spot: Spot) -> Go:
            """Take a step of the given size."""
            return Go(self.size)

    return Leap


def test_a_configured_class_plays_as_its_spec_would() -> None:
    """Its label is that of the spec, its instance has the arguments."""
    leap = leaping()
    given = ConfiguredClass(leap, {"size": "3"})
    assert label(given) == f"{label(leap)},size=3"
    assert resolve(MODEL, given, 0).policies["walker"] == leap(size=3)
    assert play(MODEL, given, 1).score == play(MODEL, leap(3), 1).score


@pytest.mark.parametrize(
    "call",
    [
        lambda c: sweep(MODEL, c, SEEDS, set={"policy.size": [2, 3]}, jobs=2),
        lambda c: sweep(MODEL, {"walker": c}, SEEDS, set={"policy.walker.size": [2, 3]}, jobs=2),
        lambda c: sweep(MODEL, c, SEEDS, design="lhs:2", set={"policy.size": "int:2:3"}, jobs=2),
        lambda c: compare(MODEL, c, until=99.0, set={"policy.size": [2, 3]}, jobs=2).rows,
        lambda c: select(MODEL, c, delta=0.5, set={"policy.size": [2, 3]}, jobs=2).rows,
    ],
    ids=["sweep", "role", "design", "compare", "select"],
)
def test_arguments_of_such_a_class_vary_in_workers(call: Any) -> None:
    """Every episode is played, and the rows name the class and its argument."""
    leap = leaping()
    rows = call(leap)
    assert [row["error"] for row in rows.failed] == []
    assert {row["arguments"]["size"] for row in rows} == {2, 3}
    assert all(f"{label(leap)},size=" in row["policy"] for row in rows)


def test_searches_and_kept_workers_take_such_a_class(tmp_path: Path) -> None:
    """The result is the same as in this process."""
    leap, ranges = leaping(), {"policy.size": "int:1:3"}
    options: Any = {"budget": 8, "seeds": SEEDS}
    here, there = (tune(MODEL, leap, ranges, jobs=jobs, **options) for jobs in (1, 2))
    assert here.best == there.best
    means = [
        problem(MODEL, leap, ranges, seeds=SEEDS, jobs=jobs).mean({"policy.size": 3})
        for jobs in (1, 2)
    ]
    assert means[0] == means[1]
    varied = {"policy.size": [2, 3]}
    rows = sweep(MODEL, leap, SEEDS, set=varied, jobs=2, out=tmp_path)
    assert rows == sweep(MODEL, leap, SEEDS, set=varied)
