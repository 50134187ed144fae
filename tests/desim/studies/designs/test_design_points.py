"""Points of designs: inside their ranges, reproducible, and refused where they make no sense."""

import itertools
import math
from typing import Any

import pytest

from desim.errors import UsageError
from desim.jobs.plan.parameter_points import is_factor
from desim.studies.designs import (
    Choices,
    Design,
    DesignSpec,
    Range,
    factorial,
    latin_hypercube,
    listed,
    screening,
    sobol_indices,
    sobol_points,
)
from desim.studies.designs.factorial import fraction
from desim.studies.designs.kinds import planned

MIXED = {"wind": "0:2", "steps": "int:1:4", "cash": "log:1:1e6", "kind": ["a", "b", "c"]}


@pytest.mark.parametrize(
    "design", [latin_hypercube(MIXED, 64), sobol_points(MIXED, 64), sobol_indices(MIXED, 16)]
)
def test_points_are_inside_their_ranges(design: Design) -> None:
    """Floats, whole numbers, ratios and choices; every whole number and choice comes up."""
    assert design.names == tuple(MIXED)
    wind, steps, cash, kind = zip(*design.points, strict=True)
    assert all(0 <= one <= 2 for one in wind)
    assert {*steps} == {1, 2, 3, 4}
    assert all(type(one) is int for one in steps)
    assert all(1 <= one <= 1e6 for one in cash)
    assert 0.35 < sum(one < 1e3 for one in cash) / len(cash) < 0.65
    assert {*kind} == {"a", "b", "c"}


def test_a_latin_hypercube_has_one_point_in_each_part() -> None:
    """Of each range, cut into as many parts as there are points."""
    design = latin_hypercube({"x": "0:10", "y": "5:6"}, 10)
    assert sorted(math.floor(x) for x, _ in design.points) == [*range(10)]
    assert sorted(math.floor((y - 5) * 10) for _, y in design.points) == [*range(10)]


def test_whole_numbers_are_equally_likely() -> None:
    """Both ends included."""
    points = sobol_points({"steps": "int:0:3"}, 64).points
    assert [points.count((n,)) for n in range(4)] == [16] * 4


@pytest.mark.parametrize("kind", ["lhs:16", "sobol:16", "sobol-indices:4", "morris:3"])
def test_a_seed_fixes_the_points(kind: str) -> None:
    """And another one changes them."""
    given = {"x": "0:1", "y": "0:1"}
    first, again, other = (planned(f"{kind},seed={seed}", given)[0].points for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert planned(kind, given)[0].points == planned(f"{kind},seed=0", given)[0].points


def test_a_full_factorial_has_all_combinations() -> None:
    """The last parameter varies fastest."""
    design = factorial({"x": "1:2", "kind": ["a", "b"]})
    assert design.points == ((1.0, "a"), (1.0, "b"), (2.0, "a"), (2.0, "b"))


#: The fewest points of two-level fractions (Box, Hunter and Hunter, table 6.22).
SMALLEST = {
    3: {3: 4, 5: 8, 7: 8, 8: 16, 15: 16},
    4: {4: 8, 6: 16, 8: 16, 9: 32, 16: 32},
    5: {5: 16, 6: 32, 7: 64, 8: 64, 9: 128},
}


@pytest.mark.parametrize("resolution", SMALLEST)
def test_fractions_are_as_small_as_in_the_tables(resolution: int) -> None:
    """And have the resolution: no product of fewer parameters is the same at all points."""
    for count, runs in SMALLEST[resolution].items():
        design = factorial({f"x{n}": [-1, 1] for n in range(count)}, resolution=resolution)
        assert len(design) == runs
        columns = list(zip(*design.points, strict=True))
        for some in itertools.chain.from_iterable(
            itertools.combinations(columns, n) for n in range(1, min(resolution, 4))
        ):
            assert abs(sum(map(math.prod, zip(*some, strict=True)))) < runs
    assert len(fraction(5, 5)) == 5


def test_generators_are_products_of_signs() -> None:
    """The half of a design of three parameters in which the third is the product of the others."""
    design = factorial({"a": [-1, 1], "b": [-1, 1], "c": [-1, 1]}, generators={"c": "a*b"})
    assert len(design) == 4
    assert all(c == a * b for a, b, c in design.points)
    assert planned("factorial,c=a*b", {"a": [0, 1], "b": [0, 1], "c": [0, 1]})[0].points[0] == (
        0,
        0,
        1,
    )


def test_a_trajectory_moves_every_parameter_once() -> None:
    """By two thirds of its range on four levels."""
    design = screening({"x": "0:3", "y": "10:13"}, 5)
    assert len(design) == 15
    for start in range(0, 15, 3):
        moves = [
            [abs(b - a) for a, b in zip(one, other, strict=True)]
            for one, other in itertools.pairwise(design.points[start : start + 3])
        ]
        assert sorted(moves) == [[0, pytest.approx(2)], [pytest.approx(2), 0]]


def test_points_may_be_listed() -> None:
    """All with the same parameters."""
    assert listed([{"x": 1, "y": "a"}, {"y": "b", "x": 2}]).points == ((1, "a"), (2, "b"))
    with pytest.raises(UsageError, match="point 1 has the parameters x, and point 0 has x, y"):
        listed([{"x": 1, "y": 2}, {"x": 1}])


def test_a_range_is_told_from_a_text() -> None:
    """Paths, demands and times with a colon are single values, and so is a text in quotes."""
    assert [
        one for one in ("1:2", "int:1:2", "log:1:2", "-1:1e6", [1, 2]) if not is_factor(one)
    ] == []
    assert not any(map(is_factor, ("poisson:4", "mine:Cover", "step:1:2:3", "1", "", 3, "5:")))
    design, fixed = planned("lhs:4", {"x": "0:1", "strike": '"30:34"', "note": '"a"'})
    assert design.names == ("x",)
    assert fixed == {"strike": "30:34", "note": '"a"'}


@pytest.mark.parametrize(
    ("text", "given", "error"),
    [
        ("lhs:4", {"x": "3"}, "varies at least one parameter"),
        ("lhs:4", {"x": "3:1"}, "x: range 3:1 was given; its lower end comes first"),
        ("lhs:4", {"x": "1:1"}, "x: range 1:1 was given; its lower end comes first"),
        ("lhs:4", {"x": "nan:1"}, "x: range nan:1 was given; both ends of a range are finite"),
        ("lhs:4", {"x": "0:inf"}, "x: range 0:inf was given; both ends of a range are finite"),
        ("lhs:4", {"x": "-1e308:1e308"}, "wider than a number can be"),
        (
            "lhs:4",
            {"x": "log:0:1"},
            "x: range log:0:1 was given; a logarithmic range begins above 0",
        ),
        ("lhs:4", {"x": "int:0.5:2"}, "both ends of an int range are whole numbers"),
        ("lhs:4", {"x": "int:a:2"}, "write int:low:high with two numbers"),
        ("lhs:4", {"x": [1]}, "x: 1 values were given; a parameter that varies has a range"),
        ("lhs:4", {"x": [1, math.nan]}, "x: value nan was given; values are finite"),
        ("lhs:4", {"x": [1, 1]}, "x: value 1 is given twice"),
        ("lhs", {"x": "0:1"}, "design lhs needs a size, as in lhs:64"),
        ("lhs:x", {"x": "0:1"}, "size 'x' of the design was given; it is a whole number"),
        ("lhs:1", {"x": "0:1"}, "1 points were given; possible: 2 to 65,536"),
        ("lhs:1000000", {"x": "0:1"}, "1000000 points were given; possible: 2 to 65,536"),
        ("lhs:4,seed=-1", {"x": "0:1"}, "seed=-1 of the design was given"),
        ("lhs:4,levels=4", {"x": "0:1"}, "design lhs takes no levels; possible: size, seed"),
        ("lhs:4,y=x", {"x": "0:1"}, "design lhs takes no y; possible: size, seed"),
        ("lhs:4,seed", {"x": "0:1"}, "write KIND"),
        ("lhs:4,seed=1,seed=2", {"x": "0:1"}, "has seed twice"),
        ("lsh:4", {"x": "0:1"}, "there is no design 'lsh'; did you mean 'lhs'"),
        ("sobol:6", {"x": "0:1"}, "6 points were given; .* such as 4 and 8"),
        ("sobol-indices:64", {"x": "0:1"}, "only x varies; Sobol indices share the variance"),
        ("sobol-indices:32768", {"x": "0:1", "y": "0:1"}, "possible: 2 to 16,384, as each takes 4"),
        ("factorial", {"x": [1, 2, 3]}, "x has 3 values; a two-level design takes a range or two"),
        ("factorial", {f"x{n}": "0:1" for n in range(17)}, "17 parameters vary freely"),
        ("factorial,resolution=4", {"x": "0:1", "y": "0:1"}, "2 parameters have no fraction of"),
        ("factorial,resolution=9", {"x": "0:1"}, "resolution=9 was given; possible: 3 to 7"),
        ("factorial,resolution=3", {f"x{n}": "0:1" for n in range(64)}, "has at most 63"),
        ("factorial,z=x*y", {"x": "0:1", "y": "0:1"}, "no parameter 'z' varies"),
        ("factorial,y=x", {"x": "0:1", "y": "0:1"}, "generator y='x' was given; it is the product"),
        ("factorial,y=x*y", {"x": "0:1", "y": "0:1"}, "the product of at least two different"),
        ("morris:4", {"x": ["a", "b"]}, r"x has the values \('a', 'b'\), which have no order"),
        ("morris:4,levels=3", {"x": "0:1"}, "levels=3 was given; it is an even number"),
    ],
)
def test_a_design_without_sense_is_refused(text: str, given: dict[str, Any], error: str) -> None:
    """In one sentence that says what was given and what is possible."""
    with pytest.raises(UsageError, match=error) as refused:
        planned(text, given)
    assert "\n" not in str(refused.value)


def test_wrong_python_values_are_refused_too() -> None:
    """A range that is no text, a design that is none, and a spec with too much."""
    with pytest.raises(UsageError, match="x: 'abc' is no range; write low:high"):
        latin_hypercube({"x": "abc"}, 4)
    with pytest.raises(UsageError, match="3 is no design; give a text such as lhs:64"):
        planned(3, {})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a resolution and generators were given"):
        factorial({"x": "0:1"}, resolution=3, generators={"x": "y*z"})
    with pytest.raises(UsageError, match="design factorial takes no points"):
        DesignSpec("factorial", points=[{"x": 1}]).build({"x": "0:1"})
    assert latin_hypercube({"x": Range(0, 1), "y": Choices(("a", "b"))}, 4).names == ("x", "y")
