"""Tables compare groups of rows; every figure can be checked by hand."""

import io
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from support.sweep_rows import SCORES, row, three_policies

from desim.errors import UsageError
from desim.formatting import estimate_text
from desim.statistics.comparison import paired
from desim.statistics.intervals import interval
from desim.sweeps.rows import Rows
from desim.sweeps.tables import ComparisonTable


@pytest.fixture
def rows() -> Rows:
    """Three policies on four seeds; the first policy fails on the last seed."""
    return three_policies()


def test_a_table_has_an_interval_for_each_group_and_figure(rows: Rows) -> None:
    """Figure by figure, groups in order; a row without the figure does not count."""
    table = rows.table(show=["score", "alive", "months"])
    found = {(*line.group, line.figure): (line.estimate, line.failed) for line in table.lines}
    assert [*found] == [(p, f) for f in ("score", "alive", "months") for p in SCORES]
    assert found["a,x=1", "score"] == (interval([10, 12, 17]), 1)
    assert found["a,x=1", "alive"] == (interval([False, True, True]), 1)
    assert found["a,x=1", "months"] == (interval([1, 2]), 1)
    assert found["c", "months"] == (interval([1, 2, 3]), 0)
    assert {line.difference for line in table.lines} == {None}


def test_differences_are_paired_by_seed(rows: Rows) -> None:
    """A seed that one of the two failed is left out; the reference has no difference to itself."""
    table = rows.table(against="b")
    found = {line.group[0]: line.difference for line in table.lines}
    assert found == {
        "a,x=1": paired([10, 12, 17], [9, 11, 18]),
        "b": None,
        "c": paired([1, 2, 3, 4], [9, 11, 18, 12]),
    }


def test_a_seed_counts_once_however_many_rows_it_has() -> None:
    """Rows of one seed are not independent: pooled over weeks, n is the number of seeds."""
    rows = Rows(
        row(policy, seed, 10 * seed + weeks + shift, params={"weeks": weeks})
        for policy, shift in (("a", 0), ("b", 5))
        for weeks in (1, 3)
        for seed in range(3)
    )
    line, other = rows.table(against="a").lines
    assert line.estimate == interval([2, 12, 22])
    assert other.difference == interval([5, 5, 5])


def test_pairs_differ_by_nothing_but_the_group() -> None:
    """If one of two rows that differ by their policy failed, both are left out."""
    rows = Rows(
        row(policy, 0, score, params={"weeks": weeks})
        for policy, weeks, score in [("a", 1, 1), ("a", 3, 100), ("b", 1, 2), ("b", 3, None)]
    )
    assert rows.table(against="b").lines[0].difference == interval([-1])


def test_groups_by_several_columns_compare_within_the_others() -> None:
    """A policy as reference: the groups with the same weeks. A group as reference: that group."""
    rows = Rows(
        row(policy, seed, score + seed, params={"weeks": weeks})
        for policy, weeks, score in [("a", 1, 1), ("a", 3, 3), ("b", 1, 10), ("b", 3, 30)]
        for seed in range(2)
    )
    by = ["policy", "weeks"]
    within = {line.group: line.difference for line in rows.table(by, against="a").lines}
    assert within == {
        ("a", 1): None,
        ("a", 3): None,
        ("b", 1): interval([9, 9]),
        ("b", 3): interval([27, 27]),
    }
    whole = {line.group: line.difference for line in rows.table(by, against=("a", 3)).lines}
    assert whole[("a", 1)] == interval([-2, -2])
    assert whole[("b", 1)] == interval([7, 7])
    weeks = {line.group: line.difference for line in rows.table("weeks", against=1).lines}
    assert weeks == {(1,): None, (3,): interval([11, 11])}


def test_presets_and_models_are_paired_although_their_parameters_differ() -> None:
    """Their rows share the seed."""
    rows = Rows(
        row("a", seed, score * seed, model=model, preset=preset, params={"weeks": score})
        for model, preset, score in [("shop", "small", 1), ("shop", "large", 2), ("bank", "x", 4)]
        for seed in (1, 2)
    )
    by_preset = rows.where(model="shop").table("preset", against="small")
    assert by_preset.lines[1].difference == interval([1, 2])
    assert rows.table("model", against="bank").lines[0].difference == interval([-2.5, -5])


def test_a_table_by_seed_has_no_standard_deviation(rows: Rows) -> None:
    """One seed is one value, the mean over policies."""
    assert rows.table("seed").lines[0].estimate == interval([20 / 3])


def test_a_reference_that_is_no_group_is_refused(rows: Rows) -> None:
    """The error names the groups."""
    with pytest.raises(UsageError, match="no group is 'bb'; did you mean 'b'"):
        rows.table(against="bb")


def printed() -> ComparisonTable:
    """A table with large and small numbers, brackets, and unknown figures."""
    rows = Rows(
        [
            *(row("base", seed, 12345 + 100 * seed) for seed in range(3)),
            *(row("low,x=[a]", seed, 0.5 + 0.01 * seed) for seed in range(3)),
            row("once", 0, 7),
            row("never", 0, None),
        ]
    )
    return rows.table(against="base")


def test_figures_have_as_many_digits_as_their_intervals_justify() -> None:
    """Two digits of the half width; a dash for an unknown figure; the reference in a note."""
    *lines, note = str(printed()).splitlines()
    between = "95 % interval"
    assert [re.split(r"  +", line) for line in lines] == [
        ["policy", "figure", "n", "failed", "mean", "sd", between, "pairs", "difference", between],
        ["base", "score", "3", "0", "12,445", "100", "[12,197, 12,693]", "—", "—", "—"],
        [
            *("low,x=[a]", "score", "3", "0", "0.510", "0.010", "[0.485, 0.535]"),
            *("3", "-12,444", "[-12,693, -12,196]"),
        ],
        ["once", "score", "1", "0", "7", "—", "—", "1", "-12,338", "—"],
        ["never", "score", "0", "1", "—", "—", "—", "—", "—", "—"],
    ]
    assert note == "difference to base, paired by seed"


def test_a_table_prints_aligned() -> None:
    """Texts are aligned to the left, numbers to the right."""
    *lines, _ = str(printed()).splitlines()
    assert {len(line) for line in lines} == {len(lines[0])}
    starts = {line.index("score") for line in lines[1:]}
    assert starts == {lines[0].index("figure")}


def test_a_table_prints_in_rich() -> None:
    """The cells are the same; brackets of a policy are not read as markup."""
    out = io.StringIO()
    Console(file=out, width=200).print(printed())
    for cells in map(printed().cells, printed().lines):
        assert all(cell in out.getvalue() for cell in cells)
    assert "difference to base, paired by seed" in out.getvalue()


def test_a_table_of_failures_can_be_printed() -> None:
    """Failed rows have no metrics, so any metric may be shown."""
    rows = Rows([row("a", 0, None), row("a", 1, None)])
    (line,) = rows.table(show="survived").lines
    assert (line.estimate, line.failed) == (None, 2)
    assert "survived  0       2" in str(rows.table(show="survived"))


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (1234567.891, 4321.0, "1,234,568"),
        (0.51234, 0.069, "0.512"),
        (-0.0004, 0.02, "0.000"),
        (12.0, None, "12"),
        (12.3456789, None, "12.3457"),
        (1234567.89, None, "1,234,568"),
        (1e20, 0.0, "1e+20"),
        (0.5, 1e-9, "0.5"),
    ],
)
def test_numbers_are_readable(value: float, half: float | None, text: str) -> None:
    """Two digits of the half width, or six digits; no minus sign before zero."""
    assert estimate_text(value, half) == text


@given(st.floats(-1e9, 1e9), st.floats(1e-5, 1e6))
def test_rounding_is_small_against_the_interval(value: float, half: float) -> None:
    """Rounding changes a figure by at most a twentieth of the half width, or by a half."""
    shown = float(estimate_text(value, half).replace(",", ""))
    assert abs(shown - value) <= (half / 20 if half < 10 else 0.5) + math.ulp(value)


def test_a_table_as_text_is_what_rich_prints() -> None:
    """Whatever the environment says about colours and widths."""
    out = io.StringIO()
    Console(file=out, width=200).print(printed())
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORCE_COLOR", "1")
        patch.setenv("COLUMNS", "20")
        assert str(printed()).splitlines() == lines
