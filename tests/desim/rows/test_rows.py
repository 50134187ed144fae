"""Rows are filtered by their columns, read and written."""

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from support.small_worlds import DIARY, FAILS, STRIDE, WALK
from support.sweep_rows import row, three_policies

from desim.errors import BadRecord, UsageError
from desim.rows.rows import Rows
from desim.studies.sweep import sweep


@pytest.fixture
def rows() -> Rows:
    """Three policies on four seeds; the first policy fails on the last seed."""
    return three_policies()


def test_rows_are_a_sequence(rows: Rows) -> None:
    """They are counted, indexed, sliced and compared like a list."""
    assert len(rows) == 12
    assert rows[0]["policy"] == "a,x=1"
    assert [r["seed"] for r in rows[1:3]] == [1, 2]
    assert isinstance(rows[1:3], Rows)
    assert rows == Rows(list(rows))
    assert rows != rows[1:]
    assert rows[:5] + rows[5:] == rows
    assert repr(rows) == "<Rows of 12 episodes, 1 of which failed>"


def test_rows_of_a_world_of_parts_are_compared() -> None:
    """Their revision and some of their parameters are mappings."""
    more = [{"revision": {"": 1, "plant": 2}, "params": {"plant": {"weeks": n}}} for n in (3, 4)]
    found = Rows([row("a", seed, 5, **each) for each in more for seed in (0, 1)])
    assert found.varying == ("plant",)
    assert [line.group for line in found.table(found.varying).lines] == [
        ('{"weeks": 3}',),
        ('{"weeks": 4}',),
    ]
    mixed = Rows([*found, row("a", 2, 5, revision={"": 1, "plant": 3})])
    assert "rows of shop are of revisions" in str(mixed.table())


def test_where_filters_by_any_columns(rows: Rows) -> None:
    """By keys, parameters and metrics; by a policy's spec, whatever its spaces."""
    assert rows.where(policy="a, x=1", seed=2).column("score") == [17]
    assert len(rows.where(weeks=4)) == 12
    assert len(rows.where(alive=True)) == 5
    assert len(rows.where(weeks=5)) == 0
    assert rows.failed == rows.where(error="PolicyFailed: tired")


def test_columns_are_keys_parameters_and_metrics(rows: Rows) -> None:
    """A row without a value has None; `values` leaves it out."""
    assert rows.where(policy="a,x=1").column("months") == [None, 1, 2, None]
    assert rows.where(policy="a,x=1").values("months") == [1, 2]
    assert rows.where(policy="a,x=1").values("alive") == [0, 1, 1]
    assert rows.column("params.weeks") == [4] * 12


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scor", "there is no column 'scor'; did you mean 'score'? Possible: model, preset, weeks"),
        ("metrics.weeks", "there is no column 'metrics.weeks'; Possible: "),
        ("both", "'both' may be params.both or metrics.both; write one of these"),
        ("ended", "column 'ended' holds 'horizon', which is no number; group by it instead"),
    ],
)
def test_a_wrong_column_is_refused(name: str, text: str) -> None:
    """Near misses are suggested."""
    odd = Rows([row("a", 0, 1, params={"weeks": 4, "both": 1}, metrics={"both": 2})])
    with pytest.raises(UsageError) as refused:
        odd.values(name)
    assert str(refused.value).startswith(text)
    assert (odd.values("params.both"), odd.values("metrics.both")) == ([1], [2])


def test_a_group_with_failed_episodes_is_none_of_the_best(rows: Rows) -> None:
    """Its mean over the rest is higher; with the worst score of its model it has a mean."""
    assert rows.best() == ("b",)
    counted = Rows({**row, "worst_score": 5.0} for row in rows)
    assert counted.best() == ("b", "a,x=1")
    assert set(counted.best(alpha=0.001)) == {"a,x=1", "b", "c"}
    with pytest.raises(UsageError, match="above 0 and below 1"):
        counted.best(alpha=0)
    with pytest.raises(UsageError, match="every group has failed episodes"):
        rows.where(policy="a,x=1").best()


# -- files -----------------------------------------------------------------------------------------


def test_files_hold_all_rows_in_order(rows: Rows, tmp_path: Path) -> None:
    """JSON lines hold the rows; CSV has one column for each parameter and metric."""
    rows.write(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rows.csv", "rows.jsonl"]
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert Rows(map(json.loads, lines)) == rows
    head, first, *others = csv.reader(io.StringIO((tmp_path / "rows.csv").read_text()))
    assert head[:6] == ["model", "preset", "weeks", "policy", "seed", "score"]
    assert head[6:10] == ["ended", "decisions", "alive", "months"]
    assert head[10:] == ["ledger_digest", "error"]
    assert first == ["shop", "small", "4", "a,x=1", "0", "10", "horizon", "4", "false", "", "", ""]
    assert [line[4] for line in [first, *others]] == [str(seed) for seed in range(4)] * 3
    assert others[2][-1] == "PolicyFailed: tired"


def test_columns_have_one_name_in_rows_files_and_frames(tmp_path: Path) -> None:
    """Without a prefix, unless two would share a name; with it they are found as well."""
    pytest.importorskip("pandas", reason="no pandas here")
    made = Rows([row("a", 0, 1.0, params={"gap": 3, "cash": 1}, metrics={"cash": 2.0})])
    assert {"gap", "params.cash", "metrics.cash"} < {*made.columns}
    assert list(made.to_pandas().columns) == [*made.columns]
    made.write(tmp_path)
    head = (tmp_path / "rows.csv").read_text().splitlines()[0]
    assert head.split(",") == [*made.columns]
    assert made.column("gap") == made.column("params.gap") == [3]
    assert all(len(made.column(name)) == 1 for name in made.columns)


def test_figures_survive_csv_bit_for_bit(tmp_path: Path) -> None:
    """A float is written so that reading it gives the same float."""
    Rows([row("a", 0, 0.1 + 0.2, metrics={"list": [1, 2.5], "big": 2**70})]).write(tmp_path)
    (line,) = csv.DictReader(io.StringIO((tmp_path / "rows.csv").read_text()))
    assert float(line["score"]) == 0.1 + 0.2
    assert (line["list"], int(line["big"])) == ("[1, 2.5]", 2**70)


def test_rows_are_read_from_a_folder_or_a_file(rows: Rows, tmp_path: Path) -> None:
    """A finished sweep is read from rows.jsonl, an unfinished one from its checkpoint."""
    rows.write(tmp_path)
    assert Rows.read(tmp_path) == Rows.read(tmp_path / "rows.jsonl") == rows
    swept = sweep(WALK, [STRIDE, FAILS], [4, 1], set={"wind": [1, 2]}, out=tmp_path / "cut")
    (tmp_path / "cut" / "rows.jsonl").unlink()
    assert Rows.read(tmp_path / "cut") == swept


def test_a_path_without_a_sweep_is_refused(tmp_path: Path) -> None:
    """The error names the path."""
    with pytest.raises(UsageError, match="holds no sweep: it has neither"):
        Rows.read(tmp_path)
    with pytest.raises(UsageError, match=r"cannot read .*nowhere: No such file"):
        Rows.read(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "line",
    [
        *("not json", "", "3", "{}", '{"a": NaN}', "[" * 100_000),
        json.dumps(row("a", 0, 1, params=7)).replace(
            "7", '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"
        ),
        *('{"params": 3}', json.dumps(row("a", 0, 1, error="\ud800"), ensure_ascii=False)),
    ],
    ids=range(9),
)
def test_a_line_that_is_no_row_is_refused(rows: Rows, tmp_path: Path, line: str) -> None:
    """It would be missed only where a column is looked up."""
    rows.write(tmp_path)
    with (tmp_path / "rows.jsonl").open("ab") as file:
        file.write(line.encode(errors="surrogatepass") + b"\n")
    with pytest.raises(BadRecord, match=r"rows\.jsonl is not as a sweep wrote it") as refused:
        Rows.read(tmp_path)
    assert len(str(refused.value)) < 500


def test_a_file_that_cannot_be_written_leaves_the_old_one(rows: Rows, tmp_path: Path) -> None:
    """A file is replaced completely or not at all."""
    (tmp_path / "rows.csv").mkdir()
    with pytest.raises(UsageError, match=r"cannot write .*rows\.csv: "):
        rows.write(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rows.csv", "rows.jsonl"]


def test_series_are_arrays_by_group(tmp_path: Path) -> None:
    """NaN stands for the unknown, for what comes after a short episode, and for a failed one."""
    rows = sweep(
        DIARY, [STRIDE, FAILS], [1, 3], set={"steps": [2, 3]}, out=tmp_path / "out", series=True
    )
    nan = math.nan
    places = rows.series("place")
    assert [*places] == [STRIDE, FAILS]
    np.testing.assert_equal(places[STRIDE], [[1, 2, nan], [1, 2, nan], [1, 2, 3], [1, 2, 3]])
    np.testing.assert_equal(places[FAILS], [[1, 2, nan], [nan] * 3, [1, 2, 3], [nan] * 3])
    by_both = rows.series("gust", by=["policy", "steps"])
    assert [*by_both] == [(p, n) for n in (2, 3) for p in (STRIDE, FAILS)]
    gusts = [float(gust) or nan for gust in rows[0]["metrics"]["gusts"]]
    np.testing.assert_equal(by_both[STRIDE, 2][0], gusts)
    again = Rows.read(tmp_path / "out")
    assert again == rows
    assert again[0]["series"]["place"] == [1.0, 2.0]
    assert not [name for name in rows.columns if "series" in name or "place" in name]
    assert "series" not in (tmp_path / "out" / "rows.csv").read_text()


def test_rows_without_that_series_are_refused() -> None:
    """The error says how to get series, or suggests a near miss."""
    with pytest.raises(UsageError, match="hold no series; play the sweep with series=True"):
        sweep(DIARY, STRIDE, [1]).series("place")
    with pytest.raises(UsageError, match="no series 'plac'; did you mean 'place'"):
        sweep(DIARY, STRIDE, [1], series=True).series("plac")
    with pytest.raises(UsageError, match="Walk reports no series"):
        sweep([DIARY, WALK], STRIDE, [1], series=True)
    with pytest.raises(UsageError, match="no row holds series, as every episode failed"):
        sweep(DIARY, FAILS, [3], series=True).series("place")


def test_a_sweep_with_series_plays_what_one_without_has_played(tmp_path: Path) -> None:
    """Its rows differ; both are kept in one folder."""
    plain = sweep(DIARY, STRIDE, [1], out=tmp_path)
    assert sweep(DIARY, STRIDE, [1], out=tmp_path, series=True).series("place")
    assert sweep(DIARY, STRIDE, [1], out=tmp_path) == plain


def test_a_notebook_shows_means_by_what_varies(rows: Rows) -> None:
    """As a table in HTML, of at most fifty groups; without rows, their number alone."""
    html = rows._repr_html_()
    assert "12 episodes, 1 of which failed" in html
    assert html.count("<tr>") == 4
    assert "no mean" in html
    many = Rows(row(f"p{n}", 0, float(n)) for n in range(60))._repr_html_()
    assert many.count("<tr>") == 51
    assert "the first 50 of 60 groups are shown" in many
    assert "0 episodes" in Rows([])._repr_html_()
