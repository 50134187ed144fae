"""Tables compare groups of rows; every figure can be checked by hand."""

import io
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scipy import stats
from support.sweep_rows import SCORES, row, three_policies

from desim.errors import UsageError
from desim.rows.compare import ComparisonTable
from desim.rows.rows import Rows
from desim.show.labels import estimate_text
from desim.statistics.intervals import interval, seeds_for_difference
from desim.statistics.pairing import difference, simultaneous
from desim.statistics.proportions import share


@pytest.fixture
def rows() -> Rows:
    """Three policies on four seeds; the first policy fails on the last seed."""
    return three_policies()


def means(table: ComparisonTable) -> dict[tuple[Any, ...], tuple[float, int] | None]:
    """The mean difference of each group, and from how many seeds."""
    return {
        line.group: line.difference and (line.difference.paired.mean, line.difference.paired.n)
        for line in table.lines
    }


def test_a_table_has_an_interval_for_each_group_and_figure(rows: Rows) -> None:
    """Figure by figure, groups in order; a row without the figure does not count."""
    table = rows.table(show=["score", "alive", "months"])
    found = {(*line.group, line.figure): (line.estimate, line.failed) for line in table.lines}
    assert [*found] == [(p, f) for f in ("score", "alive", "months") for p in SCORES]
    assert found["b", "score"] == (interval([9, 11, 18, 12]), 0)
    assert found["b", "alive"] == (share([False, True, True, True]), 0)
    assert found["c", "months"] == (interval([1, 2, 3]), 0)
    assert {line.difference for line in table.lines} == {None}


def test_a_mean_without_the_failed_episodes_is_withheld(rows: Rows) -> None:
    """Whatever the figure; so is the difference to a group with failed episodes."""
    table = rows.table(show=["score", "alive", "months"], against="b")
    for line in table.lines:
        if line.group == ("a,x=1",):
            assert (line.estimate, line.failed, line.difference) == (None, 1, None)
    assert {line.difference for line in rows.table(against="a,x=1").lines} == {None}
    assert "no mean" in str(table)
    assert "no mean" not in str(rows.where(policy="b").table())


def test_a_failed_episode_counts_with_the_worst_score_of_its_model() -> None:
    """A policy that crashes where it plays badly is below its twin, which does not."""
    scores = [10.0, 1.0, 12.0, 0.5]
    rows = Rows(
        row(policy, seed, None if crashes and score < 5 else score, worst_score=0.0)
        for policy, crashes in (("twin", False), ("crashes", True))
        for seed, score in enumerate(scores)
    )
    twin, crashes = rows.table(against="twin").lines
    assert crashes.estimate == interval([10, 0, 12, 0])
    assert twin.estimate
    assert crashes.estimate.mean < twin.estimate.mean
    assert crashes.difference
    assert crashes.difference.paired.mean == -0.375
    assert "worst score" in str(rows.table())
    assert rows.table(show="decisions").lines[1].estimate is None


def test_differences_to_one_reference_hold_together(rows: Rows) -> None:
    """Two rivals share the chance of an error; their note says so, that of one does not."""
    (line,) = (one for one in rows.table(against="b").lines if one.group == ("c",))
    assert line.difference
    assert line.difference.paired.level == pytest.approx(0.975)
    assert "2 intervals of a figure hold together" in str(rows.table(against="b"))
    two = Rows([row for row in rows if row["policy"] != "a,x=1"])
    assert "hold together" not in str(two.table(against="b"))


def test_equal_values_have_no_interval() -> None:
    """Those of a deterministic world are exact; others leave room for what was not seen."""
    fixed = Rows(row("a", seed, -7600.0, deterministic=True) for seed in range(20))
    assert "[" not in str(fixed.table())
    assert "same episode" in str(fixed.table())
    varied = Rows(
        row("a", seed, float(seed), ledger_digest=str(seed), metrics={"months": 132})
        for seed in range(20)
    )
    assert "all seeds have the same value" in str(varied.table(show="months"))
    assert "same episode" not in str(varied.table(show="months"))


def test_the_seeds_that_tell_two_groups_apart_are_those_of_their_difference() -> None:
    """A constant added to all scores changes nothing; only a reference adds the column."""
    values = {"a": [90.0, 110, 100, 95, 105], "b": [92.0, 113, 101, 99, 106]}
    for shift in (0, -1000):
        rows = Rows(
            row(policy, seed, value + shift)
            for policy, each in values.items()
            for seed, value in enumerate(each)
        )
        first, second = rows.table(against="a").lines
        assert (first.to_tell, second.to_tell) == (None, seeds_for_difference([2, 3, 1, 4, 1]))
        assert "to tell" not in str(rows.table())


def test_groups_on_different_seeds_are_compared_without_pairs() -> None:
    """Welch's interval of two independent samples, named as such."""
    values = {"a": [1.0, 2, 3, 4], "b": [2.0, 3, 4, 6]}
    rows = Rows(
        row(policy, 10 * number + seed, value)
        for number, (policy, each) in enumerate(values.items())
        for seed, value in enumerate(each)
    )
    table = rows.table(against="a")
    found = table.lines[1].difference
    assert found
    ends = stats.ttest_ind(values["b"], values["a"], equal_var=False).confidence_interval(0.95)
    assert (found.paired.low, found.paired.high) == pytest.approx((ends.low, ends.high))
    assert (found.paired.mean, found.paired.n) == (1.25, 0)
    assert "0 pairs: the seeds differ, so the interval is Welch's" in table.notes


def test_seeds_that_share_a_case_are_one_value() -> None:
    """The interval and the difference rest on the cases, whose number is in a note."""
    values = {"a": [1.0, 2, 4, 1.5, 2.5, 5], "b": [0.0] * 6}
    rows = Rows(
        row(policy, seed, value, cluster=str(seed % 3))
        for policy, each in values.items()
        for seed, value in enumerate(each)
    )
    table = rows.table(against="b")
    estimate, found = table.lines[0].estimate, table.lines[0].difference
    assert estimate
    assert found
    half = interval([1.25, 2.25, 4.5]).half
    assert (estimate.half, found.paired.half) == (pytest.approx(half), pytest.approx(half))
    assert "6 seeds, 3 cases, which intervals count" in str(table)
    one = Rows({**each, "cluster": "0"} for each in rows)
    assert "6 seeds, one case: no interval" in str(one.table())
    alone = one.table().lines[0].estimate
    assert alone
    assert (alone.mean, alone.sd) == (pytest.approx(8 / 3), pytest.approx(1.538, abs=0.001))
    assert (alone.low, alone.high, alone.n) == (None, None, 6)


def test_a_table_names_what_its_groups_are_means_over() -> None:
    """Parameters and policies that vary within a group, with their values."""
    rows = Rows(
        row(policy, seed, 10 * seed + gap, params={"gap": gap, "weeks": 4})
        for policy in ("a", "b")
        for gap in (0, 5, 10)
        for seed in range(3)
    )
    assert "groups are means over several values of gap" in rows.table().notes
    assert "groups are means over several values of policy" in rows.table("gap").notes
    assert not any("means over" in note for note in rows.table(["gap", "policy"]).notes)


def test_differences_are_paired_by_seed(rows: Rows) -> None:
    """The reference has no difference to itself."""
    found = {line.group[0]: line.difference for line in rows.table(against="b").lines}
    assert found["b"] is None
    assert found["c"] == difference([1, 2, 3, 4], [9, 11, 18, 12], simultaneous(0.95, 2))


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
    assert other.difference
    assert other.difference.paired == interval([5, 5, 5])


def test_pairs_differ_by_nothing_but_the_group() -> None:
    """If one of two rows that differ by their policy is missing, both are left out."""
    rows = Rows(
        row(policy, 0, score, params={"weeks": weeks})
        for policy, weeks, score in [("a", 1, 1), ("a", 3, 100), ("b", 1, 2)]
    )
    assert means(rows.table(against="b")) == {("a",): (-1.0, 1), ("b",): None}


def test_groups_by_several_columns_compare_within_the_others() -> None:
    """A policy as reference: the groups with the same weeks. A group as reference: that group."""
    rows = Rows(
        row(policy, seed, score + seed, params={"weeks": weeks})
        for policy, weeks, score in [("a", 1, 1), ("a", 3, 3), ("b", 1, 10), ("b", 3, 30)]
        for seed in range(2)
    )
    by = ["policy", "weeks"]
    within = means(rows.table(by, against="a"))
    assert within == {("a", 1): None, ("a", 3): None, ("b", 1): (9, 2), ("b", 3): (27, 2)}
    whole = means(rows.table(by, against=("a", 3)))
    assert (whole[("a", 1)], whole[("b", 1)]) == ((-2, 2), (7, 2))
    assert means(rows.table("weeks", against=1)) == {(1,): None, (3,): (11, 2)}


def test_presets_and_models_are_paired_although_their_parameters_differ() -> None:
    """Their rows share the seed."""
    rows = Rows(
        row("a", seed, score * seed, model=model, preset=preset, params={"weeks": score})
        for model, preset, score in [("shop", "small", 1), ("shop", "large", 2), ("bank", "x", 4)]
        for seed in (1, 2)
    )
    by_preset = rows.where(model="shop").table("preset", against="small")
    assert means(by_preset)[("large",)] == (1.5, 2)
    assert means(rows.table("model", against="bank"))[("shop",)] == (-3.75, 2)


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
    lines = str(printed()).splitlines()[:5]
    between, needed = "95 % interval", "n to tell"
    assert [re.split(r"  +", line) for line in lines] == [
        [
            *("policy", "figure", "n", "failed", "mean", "sd", between),
            *("pairs", "difference", between, needed),
        ],
        ["base", "score", "3", "0", "12,445", "100", "[12,197, 12,693]", "—", "—", "—", "—"],
        [
            *("low,x=[a]", "score", "3", "0", "0.510", "0.010", "[0.485, 0.535]"),
            *("3", "-12,444", "[-12,886, -12,003]", "2"),
        ],
        ["once", "score", "1", "0", "7", "—", "—", "1", "-12,338", "—", "—"],
        ["never", "score", "—", "1", "—", "—", "—", "—", "—", "—", "—"],
    ]


def test_a_table_of_failures_can_be_printed() -> None:
    """Failed rows have no metrics, so any metric may be shown."""
    rows = Rows([row("a", 0, None), row("a", 1, None)])
    (line,) = rows.table(show="survived").lines
    assert (line.estimate, line.failed) == (None, 2)
    assert "survived  —       2" in str(rows.table(show="survived"))


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


def test_rows_of_several_revisions_of_a_world_are_named() -> None:
    """Their scores are not those of one world, as where folders of different years are joined."""
    rows = [{**row("a", seed, 1.0 + seed), "revision": seed % 2 + 1} for seed in range(4)]
    (note,) = [n for n in Rows(rows).table().notes if "revisions" in n]
    assert note == "rows of shop are of revisions 1, 2, which are different worlds"
    assert not any("revisions" in note for note in Rows(rows[::2]).table().notes)
