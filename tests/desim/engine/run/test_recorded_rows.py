"""Sweeps that record their episodes: a record each, resumed or replaced after a stop."""

import json
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest
from attrs import frozen
from support.forked import desim_process, ended
from support.paths import PYTHONPATH
from support.small_worlds import FAILS, STRIDE, WALK, Go, Spot
from support.stub import Served, Stub, serving, text

from desim import Episode, Policy
from desim.engine.grid import grid
from desim.episodes.replay import replay
from desim.errors import UsageError
from desim.rows.rows import Rows
from desim.studies.sweep import sweep

WEEKS = 5


def answer(number: int, _: dict[str, Any]) -> Served:
    """Answer every request with an order of its own."""
    return text(json.dumps({"order_qty": 5 + number}))


@pytest.fixture
def stub() -> Iterator[Stub]:
    """The endpoint."""
    with serving(answer) as served:
        yield served


def modelled(stub: Stub, out: Path, **how: Any) -> Rows:
    """A recorded sweep of a language model, one episode after the other."""
    policy = f"llm,model=m,base_url={stub.url},resends=0"
    given: dict[str, Any] = {"set": {"horizon": WEEKS}, "executor": "concurrent=1", **how}
    return sweep("beer_game/poisson", policy, range(2), out=out, records=True, **given)


def forget(out: Path, *jobs: int) -> None:
    """Remove the rows of jobs, as a kill before their chunk was stored leaves them."""
    with closing(sqlite3.connect(out / "sweep.sqlite", isolation_level=None)) as file:
        keys = file.execute("SELECT cell, seed FROM results ORDER BY cell, seed").fetchall()
        gone = [keys[job] for job in jobs]
        file.executemany("DELETE FROM results WHERE cell = ? AND seed = ?", gone)


def records(out: Path) -> dict[str, bytes]:
    """The records of a sweep by name."""
    return {file.name: file.read_bytes() for file in sorted((out / "records").iterdir())}


def same_but_records(recorded: Rows, plain: Rows) -> bool:
    """Whether rows are equal apart from the names of their records."""
    return [{k: v for k, v in row.items() if k != "record"} for row in recorded] == list(plain)


def test_each_row_names_a_record_that_replays_to_it(tmp_path: Path) -> None:
    """Of failed episodes too; the columns and files of rows have the name."""
    rows = sweep(WALK, [STRIDE, FAILS], range(4), set={"steps": [2, 3]}, out=tmp_path, records=True)
    assert same_but_records(rows, sweep(WALK, [STRIDE, FAILS], range(4), set={"steps": [2, 3]}))
    names = [row["record"] for row in rows]
    assert len(set(names)) == len(rows) == 16
    assert all(name.startswith("records/") for name in names)
    for row in rows:
        if row["error"] is None:
            again = replay(tmp_path / row["record"], trust=True)
            assert (again.score, again.ledger_digest) == (row["score"], row["ledger_digest"])
            assert again.header.seed == row["seed"]
        else:
            assert Episode.read(tmp_path / row["record"], whole=False).result is None
    assert Rows.read(tmp_path) == rows
    assert rows.to_pandas()["record"].tolist() == names
    assert "record" in (tmp_path / "rows.csv").read_text().splitlines()[0]


def test_rows_and_records_do_not_depend_on_workers(tmp_path: Path) -> None:
    """Nor does which process writes a record."""
    for jobs in (1, 2):
        sweep(WALK, STRIDE, range(6), jobs=jobs, out=tmp_path / f"{jobs}", records=True)
    one, two = (records(tmp_path / name) for name in "12")
    assert one.keys() == two.keys()
    assert [Episode.read(tmp_path / "1" / "records" / name) for name in one] == [
        Episode.read(tmp_path / "2" / "records" / name) for name in two
    ]
    assert Rows.read(tmp_path / "1") == Rows.read(tmp_path / "2")


def test_a_name_of_a_record_depends_on_its_episode_alone() -> None:
    """On parameters, policies and seed; not on what else a sweep plays."""
    at = Path("/out")
    alone = grid(WALK, STRIDE, [3], changes={"steps": 4}).changed(out=at).job(0)
    among = grid(WALK, [FAILS, STRIDE], [1, 3], changes={"steps": [3, 4]}).changed(out=at)
    records = [among.job(number).record for number in range(len(among))]
    assert len(set(records)) == len(records) == 8
    assert records[-1] == alone.record
    assert alone.record.parent == at / "records"
    assert grid(WALK, STRIDE, [3]).job(0).record is None


@pytest.mark.parametrize("size", ["../../x", "a/b", "x" * 300, "é, "])
def test_a_name_of_a_record_is_safe(size: str) -> None:
    """Whatever the label of the policies holds."""
    from desim.engine.plan import safe_name

    name = safe_name(size, 40)
    assert len(name) <= 49
    assert "/" not in name
    assert name.isascii()


def test_every_seed_has_a_record_of_its_own(tmp_path: Path) -> None:
    """Also where all seeds are known to play the same episode."""
    rows = sweep("beer_game/classic", "order_up_to", range(3), out=tmp_path, records=True)
    assert len(records(tmp_path)) == 3
    assert len({row["score"] for row in rows}) == 1
    played = sweep("beer_game/classic", "order_up_to", range(3))
    assert same_but_records(rows, played)


# -- after a stop ----------------------------------------------------------------------------------


def test_a_record_without_a_row_is_repeated_and_buys_nothing(tmp_path: Path, stub: Stub) -> None:
    """The row is the same, with its series; the record is not written again."""
    rows = modelled(stub, tmp_path, series=True)
    before, sent = records(tmp_path), len(stub.requests)
    assert sent == 2 * WEEKS
    forget(tmp_path, 0, 1)
    assert modelled(stub, tmp_path, series=True) == rows
    assert records(tmp_path) == before
    assert len(stub.requests) == sent


def cut(line: int) -> Callable[[bytes], bytes]:
    """Cut a record behind a line, in the middle of the next."""

    def shortened(content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        return b"".join(lines[:line]) + lines[line][: len(lines[line]) // 2]

    return shortened


@pytest.mark.parametrize(("damage", "bought"), [(cut(0), WEEKS), (cut(8), WEEKS - 2)])
def test_a_cut_record_goes_on_behind_its_replies(
    tmp_path: Path, stub: Stub, damage: Callable[[bytes], bytes], bought: int
) -> None:
    """One without its first line is begun anew."""
    first = modelled(stub, tmp_path)[0]
    sent = len(stub.requests)
    file = tmp_path / first["record"]
    file.write_bytes(damage(file.read_bytes()))
    forget(tmp_path, 0)
    # A cut request counts as a call, whose reply is asked for again.
    again = modelled(stub, tmp_path)[0]
    assert 0 < len(stub.requests) - sent <= bought
    assert replay(file).score == again["score"]
    assert again["decisions"] == WEEKS


def test_an_outage_is_resumed_by_retry_failed(tmp_path: Path, stub: Stub) -> None:
    """Behind the replies that were bought."""
    stub.script = lambda number, body: Served(status=503) if number == 7 else answer(number, body)
    rows = modelled(stub, tmp_path)
    assert [row["error"] is None for row in rows] == [True, False]
    again = modelled(stub, tmp_path, retry_failed=True)
    assert not again.failed
    assert len(stub.requests) == 2 * WEEKS + 1


@pytest.mark.parametrize("lines", [2, 4, 0])
def test_a_record_that_the_policies_do_not_repeat_is_replaced(tmp_path: Path, lines: int) -> None:
    """A cut one and a whole one, of other decisions, and one that is damaged."""
    rows = sweep(WALK, STRIDE, range(2), out=tmp_path, records=True)
    file, other = (tmp_path / row["record"] for row in rows)
    whole = file.read_bytes()
    if lines:
        Path(tmp_path / "mine.jsonl").write_bytes(whole)
        played = sweep(WALK, f"{STRIDE},size=2", [0], out=tmp_path / "two", records=True)
        forged = (tmp_path / "two" / played[0]["record"]).read_bytes().splitlines(keepends=True)
        forged[0] = whole.splitlines(keepends=True)[0]
        file.write_bytes(b"".join(forged[:lines]))
    else:
        file.write_bytes(whole.replace(b'"score":', b'"scorn":'))
    forget(tmp_path, 0)
    assert sweep(WALK, STRIDE, range(2), out=tmp_path, records=True) == rows
    assert Episode.read(file) == Episode.read(tmp_path / "mine.jsonl" if lines else file)
    assert other.exists()


def test_a_restart_asks_for_every_reply_again(tmp_path: Path, stub: Stub) -> None:
    """The records of discarded rows are discarded with them."""
    first = modelled(stub, tmp_path)
    with pytest.warns(UserWarning, match="2 rows were discarded"):
        again = modelled(stub, tmp_path, restart=True)
    assert len(stub.requests) == 4 * WEEKS
    assert [a["score"] for a in first] != [b["score"] for b in again]
    assert len(records(tmp_path)) == 2


@frozen
class Counting(Policy):
    """Counts its decisions in this process."""

    made: ClassVar[list[int]] = []

    def decide(self, _: Spot) -> Go:
        """Go one step."""
        self.made.append(1)
        return Go(1)


def test_a_sweep_that_is_continued_plays_what_is_missing(tmp_path: Path) -> None:
    """An episode whose row is kept is not repeated either."""
    rows = sweep(WALK, Counting, range(3), out=tmp_path, records=True)
    made = len(Counting.made)
    (tmp_path / rows[1]["record"]).unlink()
    forget(tmp_path, 1)
    assert sweep(WALK, Counting, range(3), out=tmp_path, records=True) == rows
    # The missing one; and as before, the first one again at the end.
    assert len(Counting.made) - made == made // 2


def test_a_kept_row_whose_record_is_missing_is_refused(tmp_path: Path) -> None:
    """The sentence names the file and what to do."""
    words = ("sweep", "beer_game/poisson", "--policy", "order_up_to", "--policy", "greedy")
    words = (*words, "--seeds", "0:2", "--records", "--out", "out", "--jobs", "1")
    assert ended(desim_process(*words, cwd=tmp_path)).code == 0
    file = tmp_path / "out" / Rows.read(tmp_path / "out")[0]["record"]
    file.unlink()
    again = ended(desim_process(*words, cwd=tmp_path))
    assert (again.code, again.out) == (1, "")
    assert str(file) in again.err
    assert again.err.endswith("put the record back, or play the sweep anew (--restart)\n")
    assert ended(desim_process(*words, "--restart", cwd=tmp_path)).code == 0


def test_records_need_a_folder(tmp_path: Path) -> None:
    """Rows that were kept without records do not serve: the episodes are played and recorded."""
    with pytest.raises(UsageError, match="records need the folder of the sweep; give out"):
        sweep(WALK, STRIDE, [0], records=True)
    sweep(WALK, STRIDE, [0], out=tmp_path)
    rows = sweep(WALK, STRIDE, [0], out=tmp_path, records=True)
    assert [*records(tmp_path)] == [Path(row["record"]).name for row in rows]


# -- the command -----------------------------------------------------------------------------------


def command(url: str, out: Path) -> Any:
    """Start `desim sweep --records` of a language model and a rule."""
    words = ["--preset", "poisson", "--set", f"horizon={WEEKS}", "--policy", "order_up_to"]
    words += ["--policy", f"llm,model=m,base_url={url}", "--concurrent", "2", "--seeds", "0:3"]
    return desim_process(
        *("sweep", "beer_game", *words, "--records", "--out", str(out)),
        cwd=out.parent,
        env={"PYTHONPATH": PYTHONPATH, "COLUMNS": "200"},
    )


@pytest.mark.parametrize("at", [(8,), pytest.param((2, 8, 13), marks=pytest.mark.slow)])
def test_a_killed_sweep_buys_no_reply_twice(tmp_path: Path, at: tuple[int, ...]) -> None:
    """Killed at requests: one call of each place is lost at most, and the rows are the same."""
    kills, process = [*at], list[Any]()

    def killing(number: int, _: dict[str, Any]) -> Served:
        if kills and number >= kills[0]:
            kills.pop(0)
            process[-1].send_signal(signal.SIGKILL)
        return text('{"order_qty": 9}')

    with serving(killing) as stub:
        codes = list[int]()
        while not codes or codes[-1]:
            process.append(command(stub.url, tmp_path / "out"))
            codes.append(ended(process[-1]).code)
            assert len(codes) <= len(at) + 1
        assert codes == [-signal.SIGKILL] * len(at) + [0]
        assert 3 * WEEKS <= len(stub.requests) <= 3 * WEEKS + 2 * len(at)
        assert ended(command(stub.url, tmp_path / "whole")).code == 0
    killed, whole = (Rows.read(tmp_path / name) for name in ("out", "whole"))
    assert killed == whole
    for row in killed:
        assert replay(tmp_path / "out" / row["record"]).ledger_digest == row["ledger_digest"]


def test_the_commands_of_a_record_take_those_of_a_sweep(tmp_path: Path, stub: Stub) -> None:
    """`desim replay` and `desim report`."""
    assert ended(command(stub.url, tmp_path / "out")).code == 0
    for name in [*records(tmp_path / "out")][::3]:  # one of each policy
        file = tmp_path / "out" / "records" / name
        assert ended(desim_process("replay", str(file), cwd=tmp_path)).code == 0
    assert ended(desim_process("report", str(file), cwd=tmp_path)).code == 0


def test_options_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    """`--records` without a folder, or with seeds that are not known before."""
    words = ["sweep", "beer_game", "--records"]
    alone = ended(desim_process(*words, cwd=tmp_path))
    assert (alone.code, "give out" in alone.err) == (2, True)
    until = ended(desim_process(*words, "--until", "5%", "--out", "x", cwd=tmp_path))
    assert (until.code, "--records belongs to plain sweeps" in until.err) == (2, True)
