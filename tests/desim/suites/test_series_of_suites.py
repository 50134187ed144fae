"""Episodes in a row: what is learned is carried on, each is a row, and nothing is bought twice."""

import csv
import io
import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.stub import Served, Stub, serving, text
from support.suites import bench, lose_rows, record_of, started, suite_file, table

from desim import Episode

PLAN = {"C": 2, "R": 0.5, "P": [[1, 0, 95], *[0] * 9]}
EDT = '[worlds.edt]\nmodel = "edt"\nepisodes = 3'
LEARNS = 'model = "m"\nbase_url = "{url}"\nmethod = "reflexion"\nprice_in = 100\nprice_out = 100'
#: Calls of a series: a decision in each episode, and a lesson before each but the first.
ALL = 3 + 2


def reply(number: int, body: dict[str, Any]) -> Served:
    """Reply to every request with a plan of its own."""
    return text(f"reply {number}: {json.dumps(PLAN | {'C': 2 + number % 9})}")


@pytest.fixture
def stub() -> Iterator[Stub]:
    """The endpoint."""
    with serving(reply) as served:
        yield served


def series_suite(folder: Path, url: str, more: str = "", worlds: str = EDT, head: str = "") -> Path:
    """A suite of one entry that learns."""
    learner = LEARNS.format(url=url) + more
    return suite_file(folder, url, worlds, head, model="", learner=learner)


def rows(out: Path) -> list[dict[str, str]]:
    """The rows of episodes."""
    return list(csv.DictReader(io.StringIO((out / "rows.csv").read_text())))


def test_a_series_has_a_record_and_a_row_an_episode(tmp_path: Path, stub: Stub) -> None:
    """What is learned is in the next prompt; the mean is over the episodes, without an interval."""
    suite, out = series_suite(tmp_path, stub.url), tmp_path / "out"
    code, printed, errors = bench(suite, out)
    assert code == 0, errors
    assert len(stub.requests) == ALL
    decision = json.dumps(stub.requests[2]["messages"])
    assert "reply 1: " in decision
    folder = record_of(out, "edt__learner__seed0__1")
    records = [Episode.read(file) for file in sorted(folder.glob("*.jsonl"))]
    assert [record.header.seed for record in records] == [0, 1, 2]
    found = rows(out)
    assert [(r["seed"], r["episode"], r["state"]) for r in found] == [
        ("0", "1", "done"), ("1", "2", "done"), ("2", "3", "done"),
    ]  # fmt: skip
    assert [float(r["score"]) for r in found] == [record.score for record in records]
    score = table(out)["learner"]["score"]
    assert (score["done"], score["low"]) == (3, None)
    assert score["mean"] == pytest.approx(sum(record.score for record in records) / 3)
    assert score["sd"] > 0
    assert bench(suite, out)[:2] == (0, printed)
    assert len(stub.requests) == ALL


@pytest.mark.slow
def test_a_killed_series_buys_nothing_twice(tmp_path: Path) -> None:
    """Killed in each episode and between: one call a worker and kill more, and equal results."""
    kills, done, process = (1, 4, 7), set[int](), list[subprocess.Popen[str]]()
    head = "seeds = [0, 3]"

    def killing(number: int, body: dict[str, Any]) -> Served:
        if number in kills and number not in done:
            done.add(number)
            process[-1].send_signal(signal.SIGKILL)
        return text(json.dumps(PLAN))

    with serving(killing) as stub:
        suite, out = series_suite(tmp_path, stub.url, head=head), tmp_path / "out"
        codes = []
        while not codes or codes[-1]:
            process.append(started(suite, out, "--jobs", "2"))
            _, errors = process[-1].communicate(timeout=120)
            codes.append(process[-1].returncode)
            assert len(codes) <= len(kills) + 1, errors
        assert codes == [-signal.SIGKILL] * len(kills) + [0]
        assert 2 * ALL <= len(stub.requests) <= 2 * ALL + 2 * len(kills)
    assert [row["state"] for row in rows(out)] == ["done"] * 6
    replies = [float(row["usage.replies"]) for row in rows(out)]
    assert sum(replies) == 2 * ALL


def test_an_outage_keeps_the_episodes_before_it(tmp_path: Path, stub: Stub) -> None:
    """They are rows beside the one that failed; the same command plays the rest."""
    stub.script = lambda number, body: (
        Served({}, status=503) if number == 2 else reply(number, body)
    )
    suite = series_suite(tmp_path, stub.url, "\noptions = { resends = 0 }")
    out = tmp_path / "out"
    code, _, errors = bench(suite, out)
    assert code == 1
    assert "1 of 3 episodes failed" in errors
    assert [(r["episode"], r["state"]) for r in rows(out)] == [("1", "done"), ("2", "failed")]
    score = table(out)["learner"]["score"]
    assert (score["done"], score["failed"], score["open"]) == (1, 1, 1)
    assert bench(suite, out)[0] == 0
    assert len(stub.requests) == ALL + 1
    assert [r["state"] for r in rows(out)] == ["done"] * 3


@pytest.mark.slow
def test_money_cuts_a_series_and_more_of_it_goes_on(tmp_path: Path, stub: Stub) -> None:
    """The cut episode is in no mean until it has ended."""
    suite, out = series_suite(tmp_path, stub.url), tmp_path / "out"
    money = 1.5 * 15 * 100 / 1e6
    code, _, errors = bench(suite, out, "--max-cost", str(money))
    assert code == 1
    assert "2 of 3 episodes are left: the limit of money is spent" in errors
    assert [(r["episode"], r["state"]) for r in rows(out)] == [("1", "done"), ("2", "cut")]
    sent = len(stub.requests)  # the last was for a lesson, and no decision has been made since
    assert bench(suite, out, "--max-cost", str(money))[0] == 1
    assert len(stub.requests) == sent
    assert bench(suite, out, "--max-cost", "1")[0] == 0
    assert len(stub.requests) == ALL


def test_an_episode_cut_by_its_own_budget_is_left_out(tmp_path: Path, stub: Stub) -> None:
    """The second, whose lesson takes the one call; the third has no decision to learn from."""
    suite, out = series_suite(tmp_path, stub.url, "\noptions = { max_calls = 1 }"), tmp_path / "out"
    code, printed, errors = bench(suite, out)
    assert code == 0, errors
    assert [r["state"] for r in rows(out)] == ["done", "cut", "done"]
    score = table(out)["learner"]["score"]
    assert (score["done"], score["cut"]) == (2, 1)
    whole = [float(row["score"]) for row in rows(out) if row["state"] == "done"]
    assert score["mean"] == pytest.approx(sum(whole) / 2)
    assert " cut " in printed


def test_training_is_not_scored(tmp_path: Path, stub: Stub) -> None:
    """Of learning=offline the first episodes are counted apart, and the table says so."""
    offline = '\noptions = { learning = "offline", train = 2 }'
    suite, out = series_suite(tmp_path, stub.url, offline), tmp_path / "out"
    code, printed, errors = bench(suite, out)
    assert code == 0, errors
    assert [r["state"] for r in rows(out)] == ["training", "training", "done"]
    score = table(out)["learner"]["score"]
    assert (score["done"], score["training"]) == (1, 2)
    assert score["mean"] == float(rows(out)[2]["score"])
    assert "training: episodes that were only learned from; they are in no mean." in printed


@pytest.mark.slow
def test_plain_policies_play_series_too(tmp_path: Path) -> None:
    """In processes; the rows are those of single episodes with the same seeds."""
    worlds = '[worlds.beer]\nmodel = "beer_game/poisson"\nset = {{ horizon = 5 }}\n{}'
    rule = {"model": "", "rule": 'policy = "order_up_to"'}
    series = suite_file(tmp_path, "", worlds.format("episodes = 3"), "seeds = [4]", **rule)
    assert bench(series, tmp_path / "series")[0] == 0
    single = suite_file(tmp_path, "", worlds.format(""), "seeds = [4, 5, 6]", **rule)
    assert bench(single, tmp_path / "single")[0] == 0
    seen = [[r["score"] for r in rows(tmp_path / name)] for name in ("series", "single")]
    assert seen[0] == seen[1]


@pytest.mark.slow
def test_a_damaged_record_of_a_series_fails_its_job_alone(tmp_path: Path, stub: Stub) -> None:
    """A damaged record is named; other series are kept."""
    suite, out = series_suite(tmp_path, stub.url, head="seeds = [0, 3]"), tmp_path / "out"
    assert bench(suite, out)[0] == 0
    lose_rows(out)
    file = record_of(out, "edt__learner__seed3__1") / "episode-002.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"score":', b'"scorn":'))
    code, _, errors = bench(suite, out)
    assert code == 1
    assert "episode-002.jsonl" in errors
    assert [r["state"] for r in rows(out)] == ["done"] * 3 + ["failed"]
    assert len(stub.requests) == 2 * ALL


def test_a_dry_run_shows_names_prices_and_notes(tmp_path: Path, stub: Stub) -> None:
    """What is an example is seen before anything is played; episodes of series are counted."""
    suite = series_suite(tmp_path, stub.url, '\nnote = "an example to be edited"')
    code, printed, errors = bench(suite, tmp_path / "out", "--dry-run")
    assert code == 0, errors
    (line,) = [line for line in printed.splitlines() if stub.url in line]
    assert line.split("  ")[0] == "learner"
    assert [word for word in ("m", "100", "an example to be edited") if word not in line] == []
    assert "3 of 3 episodes are left: " in printed
    assert stub.requests == []
