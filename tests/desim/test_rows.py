"""Rows are filtered, compared and written; every figure of a table can be checked by hand."""

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from desim.errors import BadRecord, UsageError
from desim.stats import best, interval, paired
from desim.sweeps.journal import Journal
from desim.sweeps.rows import Rows
from desim.sweeps.tables import Table, number


def row(policy: str, seed: int, score: float | None, **more: Any) -> dict[str, Any]:
    """A row as a sweep makes it."""
    failed = score is None
    usual = {
        "model": "shop",
        "preset": "small",
        "params": {"weeks": 4},
        "policy": policy,
        "seed": seed,
        "score": score,
        "ended": None if failed else "horizon",
        "decisions": None if failed else 4,
        "metrics": {} if failed else {"alive": score > 10, "months": seed or None},
        "ledger_digest": None,
        "error": "PolicyFailed: tired" if failed else None,
    }
    return {**usual, **more}


SCORES = {"a,x=1": [10, 12, 17, None], "b": [9, 11, 18, 12], "c": [1, 2, 3, 4]}


@pytest.fixture
def rows() -> Rows:
    """Three policies on four seeds; the first fails on the last one."""
    return Rows(
        row(p, seed, score) for p, all_ in SCORES.items() for seed, score in enumerate(all_)
    )


def test_rows_are_a_sequence(rows: Rows) -> None:
    """They are counted, indexed, cut and compared like a list."""
    assert len(rows) == 12
    assert rows[0]["policy"] == "a,x=1"
    assert [r["seed"] for r in rows[1:3]] == [1, 2]
    assert isinstance(rows[1:3], Rows)
    assert rows == Rows(list(rows))
    assert rows != rows[1:]
    assert repr(rows) == "<Rows of 12 episodes, 1 of which failed>"


def test_where_filters_by_any_columns(rows: Rows) -> None:
    """Keys, parameters and metrics; policies by their spec, however it is spaced."""
    assert rows.where(policy="a, x=1", seed=2).column("score") == [17]
    assert len(rows.where(weeks=4)) == 12
    assert len(rows.where(alive=True)) == 5
    assert len(rows.where(weeks=5)) == 0
    assert rows.failed == rows.where(error="PolicyFailed: tired")


def test_columns_are_keys_parameters_and_metrics(rows: Rows) -> None:
    """A row without the figure has None; numbers leave it out."""
    assert rows.where(policy="a,x=1").column("months") == [None, 1, 2, None]
    assert rows.where(policy="a,x=1").values("months") == [1, 2]
    assert rows.where(policy="a,x=1").values("alive") == [0, 1, 1]
    assert rows.column("params.weeks") == [4] * 12


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scor", "there is no column 'scor'; did you mean 'score'? Possible: model, preset, weeks"),
        ("metrics.weeks", "there is no column 'metrics.weeks'; Possible: "),
        ("both", "'both' is a parameter and a metric; write params.both or metrics.both"),
        ("ended", "column 'ended' holds 'horizon', which is no number; group by it instead"),
    ],
)
def test_what_is_no_column_of_numbers_is_refused(name: str, text: str) -> None:
    """Near misses are suggested."""
    odd = Rows([row("a", 0, 1, params={"weeks": 4, "both": 1}, metrics={"both": 2})])
    with pytest.raises(UsageError) as refused:
        odd.values(name)
    assert str(refused.value).startswith(text)
    assert (odd.values("params.both"), odd.values("metrics.both")) == ([1], [2])


# -- tables ----------------------------------------------------------------------------------------


def test_a_table_has_an_interval_for_each_group_and_figure(rows: Rows) -> None:
    """Figure by figure, groups in order; a figure that is not known in a row does not count."""
    table = rows.table(show=["score", "alive", "months"])
    found = {(*line.group, line.figure): (line.estimate, line.failed) for line in table.lines}
    assert [*found] == [(p, f) for f in ("score", "alive", "months") for p in SCORES]
    assert found["a,x=1", "score"] == (interval([10, 12, 17]), 1)
    assert found["a,x=1", "alive"] == (interval([False, True, True]), 1)
    assert found["a,x=1", "months"] == (interval([1, 2]), 1)
    assert found["c", "months"] == (interval([1, 2, 3]), 0)
    assert {line.difference for line in table.lines} == {None}


def test_differences_are_paired_by_seed(rows: Rows) -> None:
    """A seed that one of the two failed does not count; the reference has none to itself."""
    table = rows.table(against="b")
    found = {line.group[0]: line.difference for line in table.lines}
    assert found == {
        "a,x=1": paired([10, 12, 17], [9, 11, 18]),
        "b": None,
        "c": paired([1, 2, 3, 4], [9, 11, 18, 12]),
    }


def test_a_seed_counts_once_however_many_rows_it_has() -> None:
    """Rows of one seed share its luck: pooled over weeks, n is the number of seeds."""
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
    """Where one variant of a seed failed, its partner is left out and the others are compared."""
    rows = Rows(
        row(policy, 0, score, params={"weeks": weeks})
        for policy, weeks, score in [("a", 1, 1), ("a", 3, 100), ("b", 1, 2), ("b", 3, None)]
    )
    assert rows.table(against="b").lines[0].difference == interval([-1])


def test_groups_by_several_columns_compare_within_the_others() -> None:
    """Against one policy: the same weeks of the other. Against a whole group: that one."""
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
    """The seed is what they share."""
    rows = Rows(
        row("a", seed, score * seed, model=model, preset=preset, params={"weeks": score})
        for model, preset, score in [("shop", "small", 1), ("shop", "large", 2), ("bank", "x", 4)]
        for seed in (1, 2)
    )
    by_preset = rows.where(model="shop").table("preset", against="small")
    assert by_preset.lines[1].difference == interval([1, 2])
    assert rows.table("model", against="bank").lines[0].difference == interval([-2.5, -5])


def test_a_table_by_seed_knows_no_spread(rows: Rows) -> None:
    """One seed is one value."""
    assert rows.table("seed").lines[0].estimate == interval([20 / 3])


def test_a_reference_that_is_no_group_is_refused(rows: Rows) -> None:
    """What may be compared with is told."""
    with pytest.raises(UsageError, match="no group is 'bb'; did you mean 'b'"):
        rows.table(against="bb")


def printed() -> Table:
    """A table with everything that is hard to print."""
    rows = Rows(
        [
            *(row("base", seed, 12345 + 100 * seed) for seed in range(3)),
            *(row("low,x=[a]", seed, 0.5 + 0.01 * seed) for seed in range(3)),
            row("once", 0, 7),
            row("never", 0, None),
        ]
    )
    return rows.table(against="base")


def test_a_table_prints_figures_as_exact_as_their_intervals() -> None:
    """Two digits of the half width; a dash for what is unknown; the reference is told below."""
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
    """Names to the left, figures to the right."""
    *lines, _ = str(printed()).splitlines()
    assert {len(line) for line in lines} == {len(lines[0])}
    starts = {line.index("score") for line in lines[1:]}
    assert starts == {lines[0].index("figure")}


def test_a_table_prints_in_rich() -> None:
    """The same cells; a policy's brackets are no markup."""
    out = io.StringIO()
    Console(file=out, width=200).print(printed())
    for cells in map(printed().cells, printed().lines):
        assert all(cell in out.getvalue() for cell in cells)
    assert "difference to base, paired by seed" in out.getvalue()


def test_a_table_of_failures_can_be_printed() -> None:
    """Where nothing succeeded nobody knows the metrics, and that is no wrong usage."""
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
    """Two digits of the half width, or six in all; no minus before nothing."""
    assert number(value, half) == text


@given(st.floats(-1e9, 1e9), st.floats(1e-5, 1e6))
def test_what_is_not_printed_is_a_small_part_of_the_interval(value: float, half: float) -> None:
    """Rounding moves a figure by at most a twentieth of the half width, or by a half."""
    shown = float(number(value, half).replace(",", ""))
    assert abs(shown - value) <= (half / 20 if half < 10 else 0.5) + math.ulp(value)


def test_the_best_are_found_on_seeds_that_all_finished(rows: Rows) -> None:
    """The fourth seed, which one policy failed, counts for nobody."""
    scores = {policy: all_[:3] for policy, all_ in SCORES.items()}
    assert rows.best() == best(scores) == ("a,x=1", "b")  # type: ignore[arg-type]


# -- files -----------------------------------------------------------------------------------------


def test_files_hold_all_rows_in_order(rows: Rows, tmp_path: Path) -> None:
    """JSON lines as they are; CSV with one column for each parameter and metric."""
    rows.write(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rows.csv", "rows.jsonl"]
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert Rows(map(json.loads, lines)) == rows
    head, first, *others = csv.reader(io.StringIO((tmp_path / "rows.csv").read_text()))
    assert head[:6] == ["model", "preset", "params.weeks", "policy", "seed", "score"]
    assert head[6:10] == ["ended", "decisions", "metrics.alive", "metrics.months"]
    assert head[10:] == ["ledger_digest", "error"]
    assert first == ["shop", "small", "4", "a,x=1", "0", "10", "horizon", "4", "false", "", "", ""]
    assert [line[4] for line in [first, *others]] == [str(seed) for seed in range(4)] * 3
    assert others[2][-1] == "PolicyFailed: tired"


def test_figures_survive_csv_bit_for_bit(tmp_path: Path) -> None:
    """A float is written so that reading it gives the same float."""
    Rows([row("a", 0, 0.1 + 0.2, metrics={"list": [1, 2.5], "big": 2**70})]).write(tmp_path)
    (line,) = csv.DictReader(io.StringIO((tmp_path / "rows.csv").read_text()))
    assert float(line["score"]) == 0.1 + 0.2
    assert (line["metrics.list"], int(line["metrics.big"])) == ("[1, 2.5]", 2**70)


def test_rows_are_read_from_a_folder_or_a_file(rows: Rows, tmp_path: Path) -> None:
    """A finished sweep by its rows, an unfinished one by its journal."""
    rows.write(tmp_path)
    assert Rows.read(tmp_path) == Rows.read(tmp_path / "rows.jsonl") == rows
    with Journal(tmp_path / "cut", {}) as journal:
        journal.add([5, 2], [msgspec.json.encode(r) for r in (rows[5], rows[2])])
    assert Rows.read(tmp_path / "cut") == Rows([rows[2], rows[5]])


def test_what_is_no_sweep_is_not_read(tmp_path: Path) -> None:
    """The path is named."""
    with pytest.raises(UsageError, match="holds no sweep: it has neither"):
        Rows.read(tmp_path)
    with pytest.raises(UsageError, match=r"cannot read .*nowhere: No such file"):
        Rows.read(tmp_path / "nowhere")
    (tmp_path / "rows.jsonl").write_text("{}\nnot json\n")
    with pytest.raises(BadRecord, match=r"rows\.jsonl is not as a sweep wrote it"):
        Rows.read(tmp_path)


def test_a_file_that_cannot_be_written_leaves_the_old_one(rows: Rows, tmp_path: Path) -> None:
    """Files are replaced whole."""
    (tmp_path / "rows.csv").mkdir()
    with pytest.raises(UsageError, match=r"cannot write .*rows\.csv: "):
        rows.write(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rows.csv", "rows.jsonl"]
