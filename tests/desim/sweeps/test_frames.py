"""Rows as data frames and Parquet files, and `desim.load`."""

from pathlib import Path

import pytest
from support.small_worlds import STRIDE, WALK
from support.sweep_rows import row, three_policies

import desim
from desim import sweep
from desim.errors import BadRecord, UsageError
from desim.sweeps.rows import Rows


@pytest.fixture
def rows() -> Rows:
    """Rows with an argument that varies, a failed episode, a list, and a name that two share."""
    made = [
        row(f"a,x={x}", seed, score, arguments={"x": x}, params={"goals": [1, 2], "both": 1})
        for x in (1, 2)
        for seed, score in enumerate([10.5, None])
    ]
    for one in made:
        one["metrics"] = {"both": 2} if one["error"] is None else {}
    return Rows(made)


def test_pandas_has_the_columns_of_tables(rows: Rows) -> None:
    """Short names, but where two would share one; failed episodes have no score."""
    pytest.importorskip("pandas", reason="no pandas here")
    frame = rows.to_pandas()
    assert list(frame["policy.x"]) == [1, 1, 2, 2]
    assert list(frame["goals"]) == ["[1, 2]"] * 4
    assert list(frame["params.both"]) == [1] * 4
    assert frame["score"].isna().tolist() == [False, True, False, True]
    assert frame["metrics.both"].tolist()[0] == 2


def test_polars_has_the_same(rows: Rows) -> None:
    """Also where the first rows have no value."""
    polars = pytest.importorskip("polars", reason="no polars here")
    frame = Rows([rows[1], rows[0]]).to_polars()
    assert frame["score"].to_list() == [None, 10.5]
    assert frame["policy.x"].dtype == polars.Int64


def test_parquet_is_read_by_another_program(rows: Rows, tmp_path: Path) -> None:
    """With the values; an error leaves nothing behind."""
    duckdb = pytest.importorskip("duckdb", reason="no duckdb here")
    rows.write_parquet(tmp_path / "rows.parquet")
    file = str(tmp_path / "rows.parquet")
    found = duckdb.read_parquet(file).project('"policy.x", score').fetchall()
    assert found == [(1, 10.5), (1, None), (2, 10.5), (2, None)]
    with pytest.raises(UsageError, match="cannot write"):
        rows.write_parquet(tmp_path / "nowhere" / "rows.parquet")
    with pytest.raises(UsageError, match="there are no rows"):
        Rows([]).write_parquet(tmp_path / "empty.parquet")
    assert [one.name for one in tmp_path.iterdir()] == ["rows.parquet"]


def test_arguments_of_policies_are_columns() -> None:
    """Those that vary, and of each seat; groups by one are paired with each other."""
    rows = sweep(WALK, STRIDE, range(3), set={"policy.size": [1, 2]})
    assert rows.column("policy.size") == [1, 1, 1, 2, 2, 2]
    line = rows.table(by="policy.size", against=1).lines[1]
    assert line.difference
    assert (line.difference.paired.mean, line.difference.paired.n) == (3.0, 3)
    seats = {"walker": STRIDE, "helper": f"{STRIDE},size=4"}
    rows = sweep(WALK, seats, range(2), set={"policy.walker.size": [1, 2]})
    assert rows.column("policy.walker.size") == [1, 1, 2, 2]
    assert rows.column("policy.helper.size") == [4] * 4
    both = {"walker": STRIDE, "helper": STRIDE}
    rows = sweep(WALK, both, range(1), set={"policy.size": [1, 2]})
    assert rows.column("policy.size") == rows.column("policy.helper.size") == [1, 2]
    with pytest.raises(UsageError, match=r"no policy here lets 'cook\.size' vary"):
        sweep(WALK, seats, range(2), set={"policy.cook.size": [1, 2]})


def test_what_desim_has_written_is_loaded(tmp_path: Path) -> None:
    """The folder of a sweep, its rows, a record; anything else is refused."""
    rows = sweep(WALK, STRIDE, range(3), out=tmp_path / "swept")
    assert desim.load(tmp_path / "swept") == rows == desim.load(tmp_path / "swept" / "rows.jsonl")
    for name in ("one.jsonl", "one.jsonl.gz"):
        played = desim.play(WALK, STRIDE, seed=1, record=tmp_path / name)
        loaded = desim.load(tmp_path / name)
        assert isinstance(loaded, desim.Episode)
        assert loaded.result == played.result
    (tmp_path / "strange").write_bytes(b"PK\x03\x04")
    (tmp_path / "empty").touch()
    for name, text in [("strange", "neither"), ("empty", "neither"), ("none", "cannot read")]:
        with pytest.raises(UsageError, match=text):
            desim.load(tmp_path / name)
    (tmp_path / "torn").write_text('{"model": 3}')
    with pytest.raises((UsageError, BadRecord)):
        desim.load(tmp_path / "torn")


def test_rows_of_older_versions_have_no_arguments(tmp_path: Path) -> None:
    """They are read all the same."""
    three_policies().write(tmp_path)
    assert "arguments" not in Rows.read(tmp_path)[0]
    assert str(Rows.read(tmp_path).table()) == str(three_policies().table())


def test_a_parameter_that_varies_keeps_its_prefix_where_it_shares_its_name(rows: Rows) -> None:
    """So that a table can be made by it."""
    varied = Rows({**one, "params": {"both": one["seed"], "weeks": one["seed"]}} for one in rows)
    assert varied.varying == ("params.both", "weeks")
    assert len(varied.table(by=[*varied.varying, "policy"]).lines) == 4
