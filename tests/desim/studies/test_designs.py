"""Designs: points in their ranges, sweeps over them, effects, and files."""

import math
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from support.small_worlds import FAILS, STRIDE, WALK, Trail, Walk

from desim import load, sweep
from desim.errors import UsageError
from desim.studies.designs import planned
from desim.studies.effects import effects
from desim.studies.options import SweepSpec
from desim.studies.sweep import read_config


@frozen
class Terms:
    """What a step earns."""

    bonus: float = 0.0


@frozen
class Paid(Walk):
    """A walk without wind whose steps earn something beside the distance."""

    wind: float = 0.0
    terms: Terms = Terms()

    def score(self, path: Trail) -> float:
        """Return the last position, and the bonus of every step."""
        return path.places[-1] + self.steps * self.terms.bonus


SET = {"wind": "0:2", "policy.size": "int:1:9"}


def test_every_point_is_played_by_every_policy_on_every_seed() -> None:
    """Points, then policies, then seeds; rows know their point, its values and the policy."""
    points, _ = planned("lhs:4", SET)
    rows = sweep(WALK, [STRIDE, "greedy"], range(3), design=points)
    assert rows == sweep(WALK, [STRIDE, "greedy"], range(3), set=SET, design="lhs:4")
    assert rows.column("point") == [n for n in range(4) for _ in range(6)]
    assert rows.column("seed") == [0, 1, 2] * 8
    assert rows.column("given") == ([STRIDE] * 3 + ["greedy"] * 3) * 4
    for row in rows.where(given=STRIDE):
        assert points[row["point"]] == {
            "wind": row["params"]["wind"],
            "policy.size": row["arguments"]["size"],
        }
    assert {*rows.where(given="greedy").column("policy")} == {"greedy"}
    assert {"point", "given", "wind", "policy.size"} <= {*rows.columns}


def test_the_seeds_are_common_to_all_points() -> None:
    """The gusts of a seed are the same at every point."""
    rows = sweep(WALK, STRIDE, range(3), set=SET, design="lhs:5")
    for seed in range(3):
        assert len({tuple(gusts) for gusts in rows.where(seed=seed).column("gusts")}) == 1


def test_a_nested_scenario_and_an_argument_of_a_seat_are_varied_at_once() -> None:
    """Under the names that `set` gives them; other seats keep theirs."""
    varied = {"terms.bonus": [0.0, 2.0], "policy.size": "int:1:4"}
    rows = sweep(Paid(), STRIDE, [0], set=varied, design="factorial")
    assert rows.column("terms.bonus") == [0.0, 0.0, 2.0, 2.0]
    found = {line.name: line.estimate.mean for line in effects(rows, [*varied]).lines}
    assert found == {"terms.bonus": 6, "policy.size": 9, "terms.bonus x policy.size": 0}
    game = sweep("edt", "simple", [0], set={"scenario.fixed_cost": "0:9000"}, design="factorial")
    assert game.column("scenario.fixed_cost") == [0.0, 9000.0]
    assert game.numbers("score")[0] > game.numbers("score")[1]
    seats = {"walker": STRIDE, "helper": f"{STRIDE},size=2"}
    both = {"policy.walker.size": "int:1:5", "wind": "0:1"}
    rows = sweep(WALK, seats, [0], set=both, design="sobol:4")
    assert {*rows.column("policy.helper.size")} == {2}
    assert len({*rows.column("policy.walker.size")}) > 1
    assert len({*rows.column("wind")}) == 4


def test_workers_play_the_same_rows(tmp_path: Path) -> None:
    """Bit for bit, whatever their number."""
    rows = sweep(WALK, STRIDE, range(3), set=SET, design="lhs:8", out=tmp_path / "one")
    assert rows == sweep(WALK, STRIDE, range(3), set=SET, design="lhs:8", jobs=2)
    assert load(tmp_path / "one") == rows


def test_what_does_not_fit_is_refused() -> None:
    """A parameter set twice, an unknown one, a value that the model refuses at one point."""
    with pytest.raises(UsageError, match=r"parameter wind is given twice"):
        sweep(WALK, STRIDE, [0], set={"wind": 1.0}, design=[{"wind": 0.5}])
    with pytest.raises(UsageError, match=r"did you mean 'wind'"):
        sweep(WALK, STRIDE, [0], set={"wnd": "0:1"}, design="lhs:4")
    with pytest.raises(UsageError, match=r"no policy here lets 'sise' vary"):
        sweep(WALK, STRIDE, [0], set={"policy.sise": "int:0:1"}, design="factorial")
    with pytest.raises(UsageError, match=r"'wind' must be >= 0"):
        sweep(WALK, STRIDE, [0], set={"wind": "-5:-1"}, design="lhs:4")


def test_a_file_holds_a_design(tmp_path: Path) -> None:
    """With a checked schema; an option takes precedence."""
    file = tmp_path / "plan.toml"
    start = f'model = "{WALK}"\npolicies = ["{STRIDE}"]\nset.steps = "int:1:9"\nset.wind = "0:1"\n'
    file.write_text(f'{start}[design]\nkind = "lhs"\nsize = 3\nseed = 5\n')
    how = read_config(SweepSpec(str(file), seeds="0:2"))
    assert len(sweep(**how)) == 3 * 2
    assert read_config(SweepSpec(str(file), design="lhs:7"))["design"] != how["design"]
    for text, error in (("size = 3", "kind"), ('kind = "lhs"\nsizes = 3', "sizes")):
        file.write_text(f"{start}[design]\n{text}\n")
        with pytest.raises(UsageError, match=rf"plan\.toml describes no sweep: .*{error}"):
            read_config(SweepSpec(str(file)))


MIXED = {"wind": "0:2", "steps": "int:1:4", "cash": "log:1:1e6", "kind": ["a", "b", "c"]}


@pytest.mark.parametrize("kind", ["lhs", "sobol"])
def test_points_are_inside_their_ranges(kind: str) -> None:
    """Floats, whole numbers, ratios and choices; every whole number and choice comes up."""
    points, _ = planned(f"{kind}:64", MIXED)
    wind, steps, cash, chosen = zip(*(point.values() for point in points), strict=True)
    assert all(0 <= one <= 2 for one in wind)
    assert {*steps} == {1, 2, 3, 4}
    assert all(type(one) is int for one in steps)
    assert 0.35 < sum(one < 1e3 for one in cash) / len(cash) < 0.65
    assert {*chosen} == {"a", "b", "c"}
    assert planned(f"{kind}:64", MIXED)[0] == points != planned(f"{kind}:64,seed=1", MIXED)[0]


def test_effects_of_a_product_are_exact() -> None:
    """Effects 12 and 16, and an interaction of 8: half of (30 - 6) - (10 - 2)."""
    design, _ = planned("factorial", {"steps": [2, 6], "policy.size": "int:1:5"})
    assert [(*point.values(),) for point in design] == [(2, 1), (2, 5), (6, 1), (6, 5)]
    found = effects(sweep(WALK, STRIDE, range(3), set={"wind": 0.0}, design=design))
    assert {line.name: line.estimate.mean for line in found.lines} == {
        "policy.size": 16,
        "steps": 12,
        "steps x policy.size": 8,
    }
    assert [line.change for line in found.lines] == [(1, 5), (2, 6), ()]
    assert found.plain()[0]["estimate"]["mean"] == 16


def test_effects_have_intervals_over_seeds() -> None:
    """The wind of four more steps: a mean of four gusts; and nothing of the size depends on it."""
    rows = sweep(WALK, STRIDE, range(200), set={"steps": [2, 6], "policy.size": [1, 5]})
    found = {line.name: line.estimate for line in effects(rows).lines}
    assert found["policy.size"].low == found["policy.size"].high == 16
    assert found["steps"].low is not None
    assert found["steps"].low < 12 < (found["steps"].high or 0)
    # The variance of one gust, even over -5 to 5, is 10; four gusts are the difference of a seed.
    assert found["steps"].sd == pytest.approx(math.sqrt(40), rel=0.15)


def test_policies_have_effects_of_their_own() -> None:
    """Each as it was given, whatever the point adds to its label."""
    design = [{"steps": 2}, {"steps": 6}]
    rows = sweep(WALK, [STRIDE, f"{STRIDE},size=3"], [0], set={"wind": 0.0}, design=design)
    found = effects(rows, ["steps"])
    assert [(line.group, line.estimate.mean) for line in found.lines] == [
        (STRIDE, 4),
        (f"{STRIDE},size=3", 12),
    ]
    assert str(found).startswith("policy")


def test_rows_that_are_no_design_have_no_effects() -> None:
    """Three levels, one level, a missing corner, a failure: one sentence each."""
    with pytest.raises(UsageError, match=r"steps has 3 value\(s\); effects need two"):
        effects(sweep(WALK, STRIDE, [0], set={"steps": [1, 2, 3]}))
    with pytest.raises(UsageError, match="nothing varies in these rows"):
        effects(sweep(WALK, STRIDE, [0]))
    rows = sweep(WALK, STRIDE, [0], set={"steps": [1, 2], "wind": [0.0, 1.0]})
    with pytest.raises(UsageError, match="are 3 of the 4 combinations of two levels of steps, w"):
        effects(rows[:3])
    with pytest.raises(UsageError, match=r"wind has 1 value\(s\); effects need two"):
        effects(rows.where(wind=0.0), ["steps", "wind"])
    with pytest.raises(UsageError, match="2 of 4 episodes have no number for 'score'; a design is"):
        effects(sweep(WALK, FAILS, [2, 3], set={"steps": [1, 2]}))


@pytest.mark.parametrize(
    ("design", "given", "error"),
    [
        ("lhs:4", {"x": "3:1"}, "x: range 3:1 was given; possible: low:high, "),
        ("lhs", {"x": "0:1"}, "design lhs needs a size, as in lhs:64"),
        ("lhs:x", {"x": "0:1"}, "design 'lhs:x' was given; write KIND"),
        ("lhs:1", {"x": "0:1"}, "1 points were given; possible: 2 to 65,536"),
        ("lhs:4", {"x": 3}, "no range was given; give one as in"),
        ([{"x": 1}, {"y": 1}], {}, "point 1 has the parameters y, and point 0 has x; all points"),
        ([3], {}, "is no design; give a text such as lhs:64, or a list of points"),
        ("sobol:6", {"x": "0:1"}, "balanced for powers of 2, such as 4 and 8"),
        ("factorial:4", {"x": "0:1"}, "design factorial takes no size; possible: no other fields"),
        ("factorial", {"x": [1, 2, 3]}, "x has 3 values; a two-level design takes a range or two"),
        ("factorial", {f"x{n}": "0:1" for n in range(17)}, "131,072 points were given"),
        (
            "morris:4",
            {"x": "0:1"},
            "there is no design 'morris'; .*factorial, a list of points",
        ),
    ],
)
def test_a_design_without_sense_is_refused(design: Any, given: dict[str, Any], error: str) -> None:
    """In one sentence that says what was given and what is possible."""
    with pytest.raises(UsageError, match=error) as refused:
        planned(design, given)
    assert "\n" not in str(refused.value)


def test_a_text_in_quotes_is_no_range() -> None:
    """Times with a colon are single values."""
    design, fixed = planned("lhs:4", {"x": "0:1", "strike": '"30:34"', "note": '"a"'})
    assert [*design[0]] == ["x"]
    assert fixed == {"strike": "30:34", "note": '"a"'}
