"""Figures of tables: numbers that are missing, and whether higher or lower is better."""

import json
from pathlib import Path

import pytest
from support.command_line import Desim

#: A world whose metric is no number for long strides, where the first gust is not negative.
WORLD = """
import math
from support.small_worlds import Stride, Walk

class Lab(Walk):
    def metrics(self, path):
        far, first = path.places[-1], path.gusts[0]
        return {
            "far": far,
            "lost": math.nan if far > 3 and first >= 0 else 1.0,
            "huge": math.inf if far > 3 and first >= 0 else 1.0,
        }
"""

SWEEP = ("sweep", "mine:Lab", "--policy", "mine:Stride", "--set", "policy.size=1,9", "--jobs", "1")


@pytest.fixture(autouse=True)
def _world(folder: Path) -> None:
    (folder / "mine.py").write_text(WORLD)


@pytest.mark.parametrize("figure", ["lost", "huge"])
def test_numbers_that_are_missing_are_counted(desim: Desim, figure: str) -> None:
    """Two equal values beside two that are none are not "all equal"."""
    code, out, _ = desim(*SWEEP, "--seeds", "0:4", "--show", figure)
    assert code == 0
    note = "in no mean, as missing, NaN or infinite: mine:Stride,size=9: 2 of 4 episodes have no "
    assert note in out
    lines = {line.split()[0]: line.split()[2:] for line in out.splitlines() if "mine:" in line}
    assert lines["mine:Stride,size=9"] == ["2", "0", "1", "0", "—"]
    assert lines["mine:Stride,size=1"] == ["4", "0", "1", "—", "all", "equal"]


def test_a_goal_is_not_reached_without_every_number(desim: Desim) -> None:
    """The sentence says why an interval is missing."""
    goal = ("--show", "lost", "--max-seeds", "60")
    code, _, err = desim(*SWEEP, *goal, "--until", "1")
    assert code == 1
    rows = desim(*SWEEP, "--seeds", "0:60", "--json").out.splitlines()
    missing = sum(json.loads(row)["metrics"]["lost"] is None for row in rows)
    assert f"not within ±1 ({missing} of 60 episodes have no number)" in err
