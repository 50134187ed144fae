"""`desim sweep --design`: effects as a table and as JSON, and what does not go with it."""

import json

from support.command_line import Desim, refused
from support.small_worlds import FAILS, STRIDE, WALK

LINE = ("sweep", WALK, "--policy", STRIDE, "--set", "wind=0", "--seeds", "0:2", "--jobs", "1")
FACTORS = ("--set", "steps=2,6", "--set", "policy.size=int:1:5", "--design", "factorial")


def test_the_command_prints_effects(desim: Desim) -> None:
    """As a table, or as JSON with nothing else on standard output; a goal is refused."""
    table = desim(*LINE, *FACTORS)
    assert table.code == 0, table.err
    assert "steps x policy.size" in table.out
    found = [json.loads(line) for line in desim(*LINE, *FACTORS, "--json").out.splitlines()]
    assert [one["estimate"]["mean"] for one in found] == [16, 12, 8]
    refused(desim(*LINE, *FACTORS, "--until", "5%"), "the design factorial is played as a whole")


def test_after_failures_the_command_prints_points(desim: Desim) -> None:
    """And no effects of the episodes that are left."""
    line = ("sweep", WALK, "--policy", FAILS, "--seeds", "0:2", "--jobs", "1", "--set", "steps=2,6")
    ended = desim(*line, "--design", "factorial")
    assert ended.code == 1
    assert "effect of" not in ended.out
    assert "2 of 4 episodes failed" in ended.err
