"""What rows of a design show: effects, Sobol indices and elementary effects of known functions."""

import itertools
import math
from typing import Any

import pytest
from support.small_worlds import FAILS, STRIDE, WALK

from desim import sweep
from desim.errors import UsageError
from desim.studies.designs import (
    analyse,
    effects,
    factorial,
    latin_hypercube,
    morris,
    screening,
    sobol,
    sobol_indices,
)
from desim.studies.designs.indices import indices
from desim.studies.designs.morris import elementary_effects

#: Without wind the score of `Walk` is steps times size.
PRODUCT = {"steps": [2, 6], "policy.size": "int:1:5"}


def test_effects_of_a_product_are_exact() -> None:
    """Effects 12 and 16, and an interaction of 8: half of (30 - 6) - (10 - 2)."""
    design = factorial(PRODUCT)
    found = effects(sweep(WALK, STRIDE, range(3), set={"wind": 0.0}, design=design), design)
    assert {line.name: line.estimate.mean for line in found.lines} == {
        "policy.size": 16,
        "steps": 12,
        "steps x policy.size": 8,
    }
    assert [line.change for line in found.lines] == [(1, 5), (2, 6), ()]


def test_effects_have_intervals_over_seeds() -> None:
    """The wind of four more steps: a mean of four gusts; and nothing of the size depends on it."""
    rows = sweep(WALK, STRIDE, range(200), set={"steps": [2, 6], "policy.size": [1, 5]})
    found = {line.name: line.estimate for line in effects(rows).lines}
    assert found["policy.size"].low == found["policy.size"].high == 16
    assert found["steps"].n == 200
    assert found["steps"].low is not None
    assert found["steps"].low < 12 < (found["steps"].high or 0)
    # The variance of one gust, even over -5 to 5, is 10; four gusts are the difference of a seed.
    assert found["steps"].sd == pytest.approx(math.sqrt(40), rel=0.15)


def test_a_fraction_says_what_is_confused() -> None:
    """With c = a b each main effect is that of a parameter and of the product of the others."""
    design = factorial(
        {"steps": [1, 3], "wind": [0.0, 2.0], "policy.size": [1, 2]},
        generators={"policy.size": "steps*wind"},
    )
    found = effects(sweep(WALK, STRIDE, range(2), design=design), design)
    assert {line.name: line.aliases for line in found.lines} == {
        "steps": ("wind x policy.size",),
        "wind": ("steps x policy.size",),
        "policy.size": ("steps x wind",),
    }
    assert "confused with" in str(found)


def test_rows_that_are_no_design_have_no_effects() -> None:
    """Three levels, one level, a missing corner, a failure: one sentence each."""
    with pytest.raises(UsageError, match="steps has 3 values; effects need two of each"):
        effects(sweep(WALK, STRIDE, [0], set={"steps": [1, 2, 3]}))
    with pytest.raises(UsageError, match="nothing varies in these rows"):
        effects(sweep(WALK, STRIDE, [0]))
    rows = sweep(WALK, STRIDE, [0], set={"steps": [1, 2], "wind": [0.0, 1.0]})
    with pytest.raises(UsageError, match="the points mix steps with the mean"):
        effects(rows[:3])
    with pytest.raises(UsageError, match="wind has 1 value; effects need two"):
        effects(rows.where(wind=0.0), ["steps", "wind"])
    with pytest.raises(UsageError, match="on seed 3 has no score, as it failed: PolicyFailed"):
        effects(sweep(WALK, FAILS, [2, 3], set={"steps": [1, 2]}))


def test_policies_are_analysed_apart() -> None:
    """Each as it was given, whatever the point adds to its label."""
    design = factorial({"steps": [2, 6]})
    rows = sweep(WALK, [STRIDE, f"{STRIDE},size=3"], [0], set={"wind": 0.0}, design=design)
    found = analyse(rows, design)
    assert found
    assert [(line.group, line.estimate.mean) for line in found.lines] == [
        (STRIDE, 4),
        (f"{STRIDE},size=3", 12),
    ]
    assert str(found).startswith("policy")


#: Ishigami's function with 7 and 0.1, and its indices (Saltelli et al. 2008, section 4.6).
ISHIGAMI = {"first": (0.3139, 0.4424, 0.0), "total": (0.5576, 0.4424, 0.2437)}


def ishigami(x: float, y: float, z: float) -> float:
    """A function whose Sobol indices are known."""
    return math.sin(x) + 7 * math.sin(y) ** 2 + 0.1 * z**4 * math.sin(x)


def test_sobol_indices_of_a_known_function() -> None:
    """Near the analytic ones, and inside the intervals."""
    over = f"{-math.pi}:{math.pi}"
    design = sobol_indices({"x": over, "y": over, "z": over}, 1024)
    assert len(design) == 5 * 1024
    found = indices(design.names, [ishigami(*point) for point in design.points])
    for at, line in enumerate(found):
        first, total = ISHIGAMI["first"][at], ISHIGAMI["total"][at]
        assert line.first == pytest.approx(first, abs=0.03)
        assert line.total == pytest.approx(total, abs=0.03)
        assert line.first_interval[0] < first < line.first_interval[1]
        assert line.total_interval[0] < total < line.total_interval[1]
    assert found == indices(design.names, [ishigami(*point) for point in design.points])


def test_sobol_indices_of_a_world() -> None:
    """Of a product of two numbers from 1 to 9, even: 0.4286 + 0.4286 alone, 0.1429 together."""
    design = sobol_indices({"steps": "int:1:9", "policy.size": "int:1:9"}, 128)
    rows = sweep(WALK, STRIDE, [0], set={"wind": 0.0}, design=design)
    # With m = 5 and v = 20 / 3 the parts are m**2 v, m**2 v and v**2.
    alone, together = 25 * 20 / 3, (20 / 3) ** 2
    for line in sobol(rows, design).lines:
        assert line.first == pytest.approx(alone / (2 * alone + together), abs=0.06)
        assert line.total == pytest.approx((alone + together) / (2 * alone + together), abs=0.06)
    still = sobol(rows, design, show="seed")
    assert {line.total for line in still.lines} == {0.0}


def test_elementary_effects_of_a_known_function() -> None:
    """Of a sum they are the slopes times the ranges; of a product they spread."""
    design = screening({"x": "0:2", "y": "-1:1", "z": "0:1"}, 10)
    found = elementary_effects(design, [3 * x - y for x, y, _ in design.points])
    assert found == {
        "x": [pytest.approx(6)] * 10,
        "y": [pytest.approx(-2)] * 10,
        "z": [pytest.approx(0)] * 10,
    }


def test_screening_ranks_the_parameters_of_a_world() -> None:
    """The size matters more over its range, the pace not at all; whole numbers are counted so."""
    design = screening({"pace": "int:1:5", "steps": "int:2:4", "policy.size": "int:1:9"}, 8)
    rows = sweep(WALK, STRIDE, [0], set={"wind": 0.0}, design=design)
    found = morris(rows, design)
    assert [line.name for line in found.lines] == ["policy.size", "steps", "pace"]
    # The slope over the range of the steps is twice the size, from 2 to 18.
    (steps,) = (line for line in found.lines if line.name == "steps")
    assert 2 <= steps.size.mean == steps.direction.mean <= 18
    assert steps.spread
    assert found.lines[-1].size.mean == 0


def test_an_analysis_needs_the_rows_of_its_design() -> None:
    """All of them, and a design of its kind; points without an analysis have none."""
    design = sobol_indices({"steps": "int:1:9", "wind": "0:1"}, 4)
    rows = sweep(WALK, STRIDE, [0], design=design)
    with pytest.raises(UsageError, match="are from 5 points, and the design has 16"):
        sobol(rows[:5], design)
    with pytest.raises(UsageError, match="these rows have no points"):
        sobol(sweep(WALK, STRIDE, [0], set={"steps": [1, 2], "wind": [0.0, 1.0]}), design)
    with pytest.raises(UsageError, match="make it with screening"):
        morris(rows, design)
    assert analyse(rows, latin_hypercube({"wind": "0:1"}, 4)) is None


def test_lines_are_plain_data() -> None:
    """For JSON: names, estimates and their intervals."""
    design = factorial(PRODUCT)
    rows = sweep(WALK, STRIDE, [0, 1], set={"wind": 0.0}, design=design)
    found = analyse(rows, design, show=["score", "decisions"])
    assert found
    plain: list[dict[str, Any]] = found.plain()
    assert [line["figure"] for line in plain] == ["score"] * 3 + ["decisions"] * 3
    assert plain[0]["estimate"]["mean"] == 16
    assert all(head in found.table.heads for head in ("figure", "effect of", "effect"))
    assert len(set(map(len, itertools.chain([found.table.heads], found.table.lines)))) == 1
