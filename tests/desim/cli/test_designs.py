"""`desim sweep --design`: effects as a table and as JSON, and options that do not go together."""

import json

import pytest
from support.command_line import Desim, refused
from support.small_worlds import FAILS, STRIDE, WALK

from desim import load

PLAIN = ("sweep", WALK, "--policy", STRIDE, "--set", "wind=0", "--seeds", "0:2", "--jobs", "1")
LINE = (*PLAIN, "--set", "steps=2,6", "--set", "policy.size=int:1:5", "--design", "factorial")


def test_effects_are_printed(desim: Desim) -> None:
    """As a table, or as JSON with nothing else on standard output; rows are in the folder."""
    table = desim(*LINE, "--out", "kept")
    assert table.code == 0, table.err
    assert "steps x policy.size" in table.out
    found = [json.loads(line) for line in desim(*LINE, "--out", "kept", "--json").out.splitlines()]
    assert {one["name"]: one["estimate"]["mean"] for one in found} == {
        "policy.size": 16,
        "steps": 12,
        "steps x policy.size": 8,
    }
    assert len(load("kept")) == 8


def test_points_without_an_analysis_are_a_table_of_points(desim: Desim) -> None:
    """A line a point; with JSON the rows."""
    line = (*PLAIN, "--set", "steps=int:1:9", "--design", "lhs:3")
    table = desim(*line).out.splitlines()
    assert table[0].startswith("steps  policy")
    assert sum(one.split()[1:2] == [STRIDE] for one in table) == 3
    rows = [json.loads(text) for text in desim(*line, "--json").out.splitlines()]
    assert [row["point"] for row in rows] == [0, 0, 1, 1, 2, 2]


def test_failed_episodes_end_the_command_with_1(desim: Desim) -> None:
    """The points are shown, and no effects of the episodes that are left."""
    line = ("sweep", WALK, "--policy", FAILS, "--seeds", "0:2", "--jobs", "1", "--set", "steps=2,6")
    ended = desim(*line, "--design", "factorial")
    assert ended.code == 1
    assert "effect of" not in ended.out
    assert "2 of 4 episodes failed" in ended.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--until", "5%"), "the design factorial is played as a whole"),
        (("--select", "best"), "the design factorial is played as a whole"),
        (("--against", "greedy"), "--against belongs to sweeps whose table has policies"),
        (("--set", "pace=3:1"), "pace: range 3:1 was given; its lower end comes first"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    desim: Desim, options: tuple[str, ...], says: str
) -> None:
    """Before anything is played."""
    line = [one for one in LINE if one not in {"--seeds", "0:2"}]
    refused(desim(*line, *options), says)
