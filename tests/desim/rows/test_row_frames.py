"""Rows as data frames and Parquet files, and `desim.load`."""

import sys
import tomllib
from pathlib import Path

import pytest
from support.paths import ROOT
from support.small_worlds import DIARY, FAILS, STRIDE, WALK
from support.sweep_rows import row, three_policies

import desim
from desim import sweep
from desim.errors import BadRecord, UsageError
from desim.rows.rows import Rows


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


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_frame_without_its_package_names_the_extra(
    rows: Rows, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """An extra for users, which has the package."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=r"needs (\w+); .*: pip install 'desim\[report\]'$"):
        getattr(rows, f"to_{package}")()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert any(each.startswith(package) for each in extras["report"])


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


# -- series ----------------------------------------------------------------------------------------


@pytest.fixture
def diary() -> Rows:
    """Rows with series of different lengths, and of a model whose first episode fails."""
    return sweep(DIARY, [STRIDE, FAILS], range(2), set={"steps": [2, 3]}, series=True)


#: Its columns, and the parameters of its first and last line.
TIDY = ["model", "preset", "steps", "policy", "seed", "period", "place", "gust"]


def expected(diary: Rows) -> list[tuple[object, ...]]:
    """The lines of the rows, an unknown number as None."""
    return [
        (row["params"]["steps"], row["policy"], row["seed"], period, place, gust)
        for row in diary
        if row["error"] is None
        for period, (place, gust) in enumerate(
            zip(row["series"]["place"], row["series"]["gust"], strict=True), 1
        )
    ]


def test_pandas_has_a_line_for_each_episode_and_period(diary: Rows) -> None:
    """With the columns that tell episodes apart, and one for each series."""
    pandas = pytest.importorskip("pandas", reason="no pandas here")
    frame = diary.to_pandas(series=True)
    assert list(frame.columns) == TIDY
    lines = frame[TIDY[2:]].astype(object).where(frame[TIDY[2:]].notna(), None)
    assert [*map(tuple, lines.to_numpy())] == expected(diary)
    assert len(frame) == 2 * (2 + 3) + 2 + 3  # one of two seeds fails
    assert frame["gust"].isna().any()
    assert pandas.api.types.is_integer_dtype(frame["period"])
    place = frame[(frame["steps"] == 3) & frame["policy"].str.endswith("Stride")]
    series = Rows([row for row in diary if row["params"]["steps"] == 3]).series("place")[STRIDE]
    assert place.pivot_table("place", "seed", "period").to_numpy().tolist() == series.tolist()


def test_polars_has_the_same_lines(diary: Rows) -> None:
    """Numbers that are not known are null."""
    pytest.importorskip("polars", reason="no polars here")
    frame = diary.to_polars(series=True)
    assert frame.columns == TIDY
    assert frame.select(TIDY[2:]).rows() == expected(diary)


def test_series_keep_their_prefix_where_they_share_a_name() -> None:
    """With a parameter; a shorter series, and one that another model lacks, has no value."""
    pytest.importorskip("polars", reason="no polars here")
    made = [
        row("a", seed, 1.0, params={"cash": 1, "period": 2}) | {"series": series}
        for seed, series in enumerate([{"cash": [1.5, None]}, {"cash": [3.0], "debt": [1.0, 2.0]}])
    ]
    frame = Rows(made).to_polars(series=True)
    assert frame.columns[2:] == [
        "params.cash",
        "params.period",
        "policy",
        "seed",
        "period",
        "series.cash",
        "debt",
    ]
    assert frame["series.cash"].to_list() == [1.5, None, 3.0, None]
    assert frame["debt"].to_list() == [None, None, 1.0, 2.0]


@pytest.mark.parametrize(
    ("policies", "series", "text"),
    [
        (STRIDE, False, "the rows hold no series; play the sweep with series=True"),
        (f"{FAILS},how=wrong", True, "no row holds series, as every episode failed"),
    ],
)
def test_rows_without_series_are_refused(policies: str, text: str, *, series: bool) -> None:
    """One sentence says why there are none."""
    rows = sweep(DIARY, policies, [0, 3], series=series)
    for make in (rows.to_pandas, rows.to_polars):
        with pytest.raises(UsageError, match=text):
            make(series=True)
