"""`desim export`: what it writes of a record, what it refuses, and that Beancount accepts it."""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.cases import thinned
from support.lemonade import bean_check
from support.shop import SALES, Shop
from support.stub import serving
from support.stub import text as said

import desim
from desim import Episode, Policy, catalog, play
from desim.cli.main import main
from desim.errors import BadRecord, UsageError
from ledgers.statements import Layout, Line, Total, income_statement

FILES = [
    "journal.csv",
    "trial_balance.csv",
    "teas_moves.csv",
    "teas_holdings.csv",
    "ledger3_moves.csv",
    "ledger3_holdings.csv",
    "income_statement.csv",
]


class Clerk(Policy):
    """Sells two teas a day."""

    def decide(self, day: Any) -> dict[str, Any]:
        """Return the same action every day."""
        return {"do": "sell", "teas": 2}


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """The record of three days in the shop."""
    play(Shop(), Clerk(), record=tmp_path / "day.jsonl.gz")
    return tmp_path / "day.jsonl.gz"


def export(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Result:
    """Run the command in this process."""
    monkeypatch.syspath_prepend(".")  # restores the path, to which the command adds a folder
    return CliRunner().invoke(main, ["export", *map(str, arguments)])


def text(file: Path) -> list[str]:
    """Return the lines of a CSV file."""
    return file.read_bytes().decode().split("\r\n")


@pytest.mark.parametrize("name", thinned(catalog.models(), 2))
def test_beancount_accepts_the_books_of_every_world(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both forms of an episode of the first baseline are written, and bean-check reads one."""
    model = catalog.model(name)
    file = tmp_path / "played.jsonl"
    play(model, catalog.baselines(model)[0], 1, record=file)
    for form in ("csv", "beancount"):
        done = export(monkeypatch, file, "--format", form)
        assert done.exit_code == 0, done.output
        assert all(Path(line).is_file() for line in done.stdout.splitlines())
    folder = tmp_path / "played"
    assert list(folder.rglob("*trial_balance.csv"))
    assert {bean_check(file) for file in folder.rglob("*journal.beancount")} == {""}


def test_ledgers_and_statements_are_written_beside_the_record(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of one name are told apart by the name of the ledger, or by its position."""
    done = export(monkeypatch, record)
    folder = record.with_name("day")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [str(folder / file) for file in FILES]
    assert sorted(file.name for file in folder.iterdir()) == sorted(FILES)
    assert text(folder / "journal.csv")[3:5] == [
        '0,2024-03-01,2,sale,teas sold,1000,Cash,5.00,,"{""teas"":2}"',
        '0,2024-03-01,2,sale,teas sold,4000,Sales,,5.00,"{""teas"":2}"',
    ]
    assert text(folder / "teas_holdings.csv")[1] == "shelf,inside,4"
    assert text(folder / "income_statement.csv") == ["row,usd,note", "sales,15.0,", "net,,", ""]


def test_statements_of_the_ledgers_package_are_written(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it makes them: a line of the file for each line of the statement."""
    layout = Layout("income statement", [Line("sales", SALES, -1), Total("net", plus="sales")])
    monkeypatch.setattr(
        Shop, "statements", lambda _, till: {"income": income_statement(till.book, layout)}
    )
    done = export(monkeypatch, record)
    assert (done.exit_code, done.stderr) == (0, "")
    written = text(record.with_name("day") / "income.csv")
    assert written == ["line,amount", "sales,15.0", "net,15.0", ""]


def test_files_that_exist_are_not_overwritten(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is named, and no other file is written."""
    folder = record.with_name("day")
    folder.mkdir()
    (folder / FILES[-1]).write_text("mine")
    done = export(monkeypatch, record)
    assert done.exit_code == 2
    assert (
        done.stderr
        == f"desim: {folder / FILES[-1]} exists and is kept; choose another name or folder\n"
    )
    assert [(file.name, file.read_text()) for file in folder.iterdir()] == [(FILES[-1], "mine")]


def test_a_cut_record_is_exported_up_to_its_last_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the last decision caused is in the files, and a line on standard error says so."""
    record = tmp_path / "cut.jsonl"
    play(Shop(), Clerk(), record=record)
    whole = record.read_text().splitlines(keepends=True)
    record.write_text("".join(whole[:3]) + whole[3][:9])
    done = export(monkeypatch, record)
    assert done.exit_code == 0
    assert done.stderr == (
        f"{record} was cut: the files hold the ledgers up to its last whole decision, number 2\n"
    )
    assert text(tmp_path / "cut" / "teas_holdings.csv")[1] == "shelf,inside,6"


def test_an_episode_is_exported_from_python(tmp_path: Path) -> None:
    """The files are returned; ledgers of the same name get their position as well."""
    episode = play(Shop(cups="teas"), Clerk())
    files = desim.export(episode, folder=tmp_path / "new" / "folder")
    assert [file.name for file in files][2:6] == [
        "teas2_moves.csv",
        "teas2_holdings.csv",
        "teas3_moves.csv",
        "teas3_holdings.csv",
    ]
    with pytest.raises(UsageError, match=r"^an episode has no file name; give the folder"):
        desim.export(episode)


def test_names_that_are_no_file_names_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file is written outside the folder."""
    monkeypatch.setattr(Shop, "statements", lambda _shop, _till: {"../income": []})
    with pytest.raises(UsageError, match=r"^'\.\./income\.csv' is not the name of a file$"):
        desim.export(play(Shop(), Clerk()), folder=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_ledgers_that_do_not_replay_are_not_exported(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An episode whose ledgers come out otherwise now is refused."""
    episode = Episode.read(record)
    monkeypatch.setattr("support.shop.SALES", "3000")
    with pytest.raises(BadRecord, match=r"^the record does not replay to the same ledgers"):
        desim.export(episode, folder=tmp_path / "out")


# -- series and decisions --------------------------------------------------------------------------


def test_series_and_decisions_are_one_file_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the record of a shipped world; the points of `world.point` are among the series."""
    record = tmp_path / "year.jsonl"
    episode = play("yc_bench", "published_greedy", 1, record=record, series=True)
    for what in ("series", "decisions"):
        done = export(monkeypatch, record, "--what", what)
        assert (done.exit_code, done.stderr) == (0, "")
        assert done.stdout == f"{tmp_path / 'year' / what}.csv\n"
    lines = text(tmp_path / "year" / "series.csv")
    table = episode.columns()
    assert lines[0] == "part,role,name,period,time,date,value,unit"
    assert lines[1].startswith(",,funds_cents,1,2645999999999,2025-01-31,")
    assert len(lines) == len(table["name"]) + 2
    assert any(line.startswith(",,tasks_active,,") for line in lines)
    lines = text(tmp_path / "year" / "decisions.csv")
    assert lines[0].startswith("number,time,date,part,role,action.do,action.")
    assert lines[1].startswith("1,0,2025-01-01,,founder,market_browse,")
    assert len(lines) == len(episode.steps) + 2


def test_parquet_holds_types(tmp_path: Path) -> None:
    """Of an episode in memory, too; an existing file stays."""
    duckdb = pytest.importorskip("duckdb", reason="no duckdb here")
    episode = play("beer_game", "greedy", 1)
    (file,) = desim.export(episode, "parquet", tmp_path / "new", what="series")
    found = duckdb.read_parquet(str(file))
    types = dict(zip(found.columns, map(str, found.types), strict=True))
    assert (types["date"], types["value"], types["period"]) == ("DATE", "DOUBLE", "BIGINT")
    assert found.aggregate("count(*)").fetchall() == [(len(episode.columns()["name"]),)]
    with pytest.raises(UsageError, match="exists and is kept"):
        desim.export(episode, "parquet", tmp_path / "new", what="series")


@pytest.mark.parametrize(
    ("what", "form", "says"),
    [
        (
            "series",
            "beancount",
            "there is no form 'beancount' of series; Possible: csv, json, parquet",
        ),
        ("ledgers", "parquet", "there is no form 'parquet' of this world"),
        ("decision", "csv", "'decision' cannot be exported; did you mean 'decisions'"),
        ("series", "csv", "Shop reports no series, so there is no table"),
    ],
)
def test_what_cannot_be_exported_is_refused(
    what: Any, form: str, says: str, tmp_path: Path
) -> None:
    """One sentence, and no file."""
    with pytest.raises(UsageError, match=says):
        desim.export(play(Shop(), Clerk()), form, tmp_path / "out", what=what)
    assert list(tmp_path.iterdir()) == []


def test_a_stranger_s_record_needs_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a replay: a module that it names is imported on request alone."""
    record = tmp_path / "walk.jsonl"
    source = "from support.small_worlds import Diary\n\nclass Theirs(Diary):\n    pass\n"
    (tmp_path / "theirs.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    play("theirs:Theirs", "support.small_worlds:Stride", 3, record=record)
    monkeypatch.delitem(sys.modules, "theirs")
    done = export(monkeypatch, record, "--what", "series")
    assert done.exit_code == 2
    assert "theirs" in done.stderr
    assert "theirs" not in sys.modules
    assert export(monkeypatch, record, "--what", "series", "--trust").exit_code == 0
    assert text(tmp_path / "walk" / "series.csv")[1] == ",,place,1,,,1.0,"
    del sys.modules["theirs"]


def test_a_trace_is_one_file_that_is_written_once(record: Path) -> None:
    """It holds everything, so that no part of it can be chosen."""
    given = ["export", "--trust", str(record), "--format", "trace"]
    made = Path(CliRunner().invoke(main, given).stdout.strip())
    assert made == record.with_name("day") / "trace.json.gz"
    assert json.loads(gzip.decompress(made.read_bytes()))["traceEvents"]
    again = CliRunner().invoke(main, given)
    assert (again.exit_code, "exists" in again.stderr) == (2, True)
    wrong = CliRunner().invoke(main, [*given, "--what", "series"])
    assert (wrong.exit_code, "leave it out" in wrong.stderr) == (2, True)


def test_messages_are_lines_of_a_chat(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule's observations are those of a user, its actions tool calls."""
    done = export(monkeypatch, record, "--what=messages")
    file = record.with_name("day") / "messages.jsonl"
    assert (done.exit_code, done.stdout) == (0, f"{file}\n")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["role"] for line in lines[:4]] == ["user", "assistant", "tool", "assistant"]
    assert [line["decision"] for line in lines] == [1, 1, 2, 2, 3, 3]
    calls = [line["tool_calls"][0]["function"] for line in lines[1::2]]
    steps = Episode.read(record).steps
    found = [{"do": one["name"], **json.loads(one["arguments"])} for one in calls]
    assert found == [step.action for step in steps]
    again = export(monkeypatch, record, "--what=messages")
    assert (again.exit_code, "exists" in again.stderr) == (2, True)
    wrong = export(monkeypatch, record, "--what=messages", "--format=parquet")
    assert (wrong.exit_code, "writes JSON lines" in wrong.stderr) == (2, True)


def test_messages_of_a_language_model_are_those_of_its_requests(tmp_path: Path) -> None:
    """Each is listed once, with the reply that took the decision."""
    file = tmp_path / "game.jsonl"
    with serving(said('{"order_qty": 7}')) as stub:
        spec = f"llm,model=stub,base_url={stub.url}"
        play("beer_game/poisson", {"retailer": spec}, 1, set={"horizon": 2}, record=file)
    done = CliRunner().invoke(main, ["export", str(file), "--what", "messages"])
    assert done.exit_code == 0, done.output
    written = (tmp_path / "game" / "messages.jsonl").read_text().splitlines()
    lines = [json.loads(line) for line in written]
    replies = [line for line in lines if line["role"] == "assistant"]
    assert [line["content"] for line in replies] == ['{"order_qty": 7}'] * 2
    assert lines[0]["role"] == "system"
    assert {line["seat"] for line in lines} == {"retailer"}
