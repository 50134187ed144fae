"""`desim bench`: kills, outages, budgets, foreign folders; nothing is bought twice."""

import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from support.forked import desim_process, ended
from support.paths import ROOT
from support.stub import Served, Stub, serving
from support.suites import (
    WORLDS,
    answer,
    bench,
    lose_rows,
    outcomes,
    record_of,
    started,
    suite_file,
    table,
)

from desim.suites.expected import expectations, expected_cost
from desim.suites.suite_folder import outcomes_in
from desim.suites.suite_plan import read_plan

BEER = '[worlds.beer]\nmodel = "beer_game"\nset = { horizon = 6 }'

#: Beside a model. Limits of tokens and not of calls: a request that a kill has lost is a call.
FOUR = {
    "cot": 'model = "m"\nbase_url = "{url}"\nmethod = "self_refine"\n'
    'options = {{ max_tokens = 130 }}\nworlds = ["beer", "edt", "arena", "yc"]',
    "chief": 'model = "m"\nbase_url = "{url}"\nroles = ["treasury.cfo"]\npolicy = "laissez_faire"\n'
    'worlds = ["group"]',
    "greedy": 'policy = "greedy"\nworlds = ["beer", "edt", "arena", "yc"]',
}


@define
class Server:
    """An endpoint that may be slow, or out of order.

    Attributes:
        pace: Seconds before a reply.
        broken: Whether it answers 503.
        opened: Until this is set, no request gets a reply.
    """

    pace: float = 0.0
    broken: bool = False
    opened: threading.Event | None = None

    def __call__(self, number: int, body: dict[str, Any]) -> Served:
        """Answer a request."""
        if self.opened is not None:
            self.opened.wait(120)
        if self.broken:
            return Served({"error": {"message": "down"}}, status=503)
        served = answer(number, body)
        served.slow = self.pace
        return served


@pytest.fixture
def server() -> Server:
    """The state of the endpoint."""
    return Server()


@pytest.fixture
def stub(server: Server) -> Iterator[Stub]:
    """The endpoint."""
    with serving(server) as served:
        yield served


def all_worlds(folder: Path, url: str) -> Path:
    """A suite of all worlds with four entries."""
    model = 'model = "m"\nbase_url = "{url}"\noptions = {{ max_tokens = 175 }}\nprice_in = 100\n'
    model += 'worlds = ["beer", "edt", "arena", "yc", "interview", "questions"]'
    entries = {name: text.format(url=url) for name, text in {"model": model, **FOUR}.items()}
    return suite_file(folder, url, WORLDS, 'seeds = "0:2"', **entries)


def scores(out: Path) -> dict[str, Any]:
    """What of the outcomes does not depend on time and kills."""
    return {
        name: (o.score, o.ended, o.decisions, o.limit, o.usage.get("replies"), o.usage.get("cost"))
        for name, o in outcomes(out).items()
    }


@pytest.mark.slow
def test_a_killed_suite_of_all_worlds_buys_nothing_twice(
    tmp_path: Path, server: Server, stub: Stub
) -> None:
    """Requests are those of a suite that is not killed, and one a kill and worker at most."""
    suite = all_worlds(tmp_path, stub.url)
    code, _, errors = bench(suite, tmp_path / "whole", "--jobs", "2")
    assert code == 0, errors
    whole = len(stub.requests)
    del stub.requests[:]
    server.pace, chance, kills = 0.05, random.Random(5), 0  # noqa: S311 (moments)
    while kills < 6:
        process = started(suite, tmp_path / "killed", "--jobs", "2")
        try:
            process.communicate(timeout=chance.uniform(1.5, 4))
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
    code, _, errors = bench(suite, tmp_path / "killed", "--jobs", "2")
    assert code == 0, errors
    assert kills
    assert whole <= len(stub.requests) <= whole + 2 * kills
    assert scores(tmp_path / "killed") == scores(tmp_path / "whole")


@pytest.mark.slow
def test_the_smoke_suite_runs_without_a_network(tmp_path: Path) -> None:
    """All episodes of all worlds end; it asks nothing and spends nothing."""
    suite = ROOT / "experiments" / "suites" / "smoke.toml"
    code, printed, errors = bench(suite, tmp_path / "out", "--ask")
    assert code == 0, errors
    assert "spent 0 in 0 calls" in printed
    found = outcomes(tmp_path / "out")
    assert [o.state for o in found.values()] == ["done"] * len(read_plan(suite).jobs)


def test_the_same_command_again_plays_nothing(tmp_path: Path, stub: Stub) -> None:
    """It prints the same results, as the folder alone does; files that were removed come again."""
    suite = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:2"', rule='policy = "order_up_to"')
    out = tmp_path / "out"
    code, printed, errors = bench(suite, out)
    assert (code, len(stub.requests)) == (0, 12), errors
    (out / "rows.csv").unlink()
    assert bench(suite, out)[:2] == (0, printed)
    assert len((out / "rows.csv").read_text().splitlines()) == 5
    assert len(stub.requests) == 12
    lines = table(out)
    counts = [(entry, columns["score"]["done"]) for entry, columns in lines.items()]
    assert counts == [("model", 2), ("rule", 2)]
    assert lines["model"]["tokens"]["mean"] == 90
    assert lines["model"]["cost"]["mean"] == pytest.approx(90 * 100 / 1e6)


def test_an_outage_is_resumed_by_the_same_command(
    tmp_path: Path, server: Server, stub: Stub
) -> None:
    """What failed goes on behind the replies that were bought."""
    suite = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:3"')
    suite.write_text(suite.read_text().replace("max_calls = 12", "resends = 0"))

    def cut(number: int, body: dict[str, Any]) -> Served:
        server.broken = number >= 8
        return server(number, body)

    stub.script = cut
    code, _, errors = bench(suite, tmp_path / "out", "--jobs", "1")
    assert code == 1
    assert "episodes failed, the first because" in errors
    assert "answered 503" in errors
    stub.script, server.broken, sent = server, False, len(stub.requests)
    code, _, errors = bench(suite, tmp_path / "out", "--jobs", "1")
    assert code == 0, errors
    assert len(stub.requests) - sent == 18 - 8


def test_columns_and_limits_may_change(tmp_path: Path, stub: Stub) -> None:
    """The same folder is printed with other columns, and a file is no folder."""
    out = tmp_path / "out"
    suite = suite_file(tmp_path, stub.url, BEER)
    assert bench(suite, out)[0] == 0
    suite_file(tmp_path, stub.url, BEER + '\ncolumns = ["decisions"]', "max_cost = 3")
    code, printed, errors = bench(suite, out)
    assert (code, "decisions" in printed) == (0, True), errors
    (tmp_path / "thesis.txt").touch()
    assert "desim: " in bench(suite, tmp_path / "thesis.txt")[2]
    assert len(stub.requests) == 6


def test_only_one_command_plays_into_a_folder(tmp_path: Path, server: Server, stub: Stub) -> None:
    """The second is refused and sends nothing; it goes once the first has ended."""
    server.opened = threading.Event()
    suite, out = suite_file(tmp_path, stub.url, BEER), tmp_path / "out"
    first = started(suite, out)
    while not stub.requests:
        assert first.poll() is None
    code, printed, errors = bench(suite, out)
    assert (code, printed) == (2, "")
    assert "is being written by another process" in errors
    server.opened.set()
    assert first.wait(60) == 0
    first.communicate()
    assert len(stub.requests) == 6
    assert bench(suite, out)[0] == 0


def test_a_damaged_record_fails_its_job_alone(tmp_path: Path, stub: Stub) -> None:
    """The sentence names the file; the others are played."""
    suite, out = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:2"'), tmp_path / "out"
    assert bench(suite, out)[0] == 0
    lose_rows(out)
    file = record_of(out, "beer__model__seed0__1")
    file.write_bytes(file.read_bytes().replace(b'"score":', b'"scorn":'))
    code, _, errors = bench(suite, out)
    assert code == 1
    assert "1 of 2 episodes failed" in errors
    assert len(stub.requests) == 12


MINE = """
import os
from desim import Policy

class Ends(Policy):
    def decide(self, seen):
        os._exit(3)

class Breaks(Policy):
    def decide(self, seen):
        raise RuntimeError("out of order")

class Leaves(Policy):
    def decide(self, seen):
        raise SystemExit(5)
"""


def test_a_policy_that_ends_its_process_fails_alone(tmp_path: Path) -> None:
    """So does one that raises; the others are played, and the reason of each is kept."""
    (tmp_path / "mine.py").write_text(MINE)
    named = {name: f'policy = "mine:{name}"' for name in ("Ends", "Breaks", "Leaves")}
    suite = suite_file(
        tmp_path, "", BEER, 'seeds = "0:2"', model="", **named, rule='policy = "order_up_to"'
    )
    code, _, errors = bench(suite, tmp_path / "out", "--jobs", "1")
    assert code == 1
    assert "6 of 8 episodes failed" in errors
    reasons = {name: o.error for name, o in outcomes(tmp_path / "out").items()}
    assert reasons["beer__Ends__seed1__1"] == "worker process died (exit code 3)"
    assert "RuntimeError: out of order" in reasons["beer__Breaks__seed0__1"]
    assert reasons["beer__Leaves__seed0__1"].endswith("SystemExit: 5")
    assert (reasons["beer__rule__seed0__1"], reasons["beer__rule__seed1__1"]) == (None, None)


def test_ctrl_c_stops_at_once_and_the_same_command_goes_on(
    tmp_path: Path, server: Server, stub: Stub
) -> None:
    """It waits for no reply, of which each worker loses one at most."""
    server.pace = 0.5
    suite = suite_file(tmp_path, stub.url, BEER, rule='policy = "order_up_to"')
    process = started(suite, tmp_path / "out")
    while len(stub.requests) < 3:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in errors
    server.pace = 0.0
    assert bench(suite, tmp_path / "out")[0] == 0
    assert 6 <= len(stub.requests) <= 7


# -- budgets ---------------------------------------------------------------------------------------

#: Money for a reply: 15 tokens at 100 a million.
REPLY = 15 * 100 / 1e6


def test_a_limit_of_the_suite_stops_it_and_a_larger_one_goes_on(tmp_path: Path, stub: Stub) -> None:
    """A call whose reply has no limit is sent alone; kills and commands are counted together."""
    suite, out = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:4"'), tmp_path / "out"
    limit = ["--max-cost", str(9.5 * REPLY)]
    code, printed, errors = bench(suite, out, "--jobs", "2", *limit)
    assert code == 1
    assert "the limit of money is spent" in errors
    assert len(stub.requests) == 10
    assert bench(suite, out, "--jobs", "2", *limit)[0] == 1
    assert len(stub.requests) == 10
    code, printed, errors = bench(suite, out, "--jobs", "2", "--max-cost", "1")
    assert code == 0, errors
    assert len(stub.requests) == 24
    assert f"spent {24 * REPLY:.6g} in 24 calls" in printed


def test_a_limit_of_an_entry_leaves_the_others_alone(tmp_path: Path, stub: Stub) -> None:
    """It names its key."""
    text = f'model = "n"\nbase_url = "{stub.url}"\nprice_in = 100\nprice_out = 100\n'
    suite = suite_file(tmp_path, stub.url, BEER, poor=f"{text}max_cost = {2.5 * REPLY}")
    code, _, errors = bench(suite, tmp_path / "out")
    assert code == 1
    assert "entries.poor.max_cost" in errors
    assert [body["model"] for body in stub.requests].count("n") == 3
    found = outcomes(tmp_path / "out")
    assert {name: outcome.state for name, outcome in found.items()} == {
        "beer__model__seed0__1": "done",
        "beer__poor__seed0__1": "cut",
    }


def test_a_call_that_may_cost_more_than_is_left_is_not_sent(tmp_path: Path, stub: Stub) -> None:
    """With `reply_tokens` it is known, for every prompt."""
    suite = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:4"')
    suite.write_text(suite.read_text().replace("max_calls = 12", "reply_tokens = 5"))
    code, _, errors = bench(suite, tmp_path / "out", "--max-cost", str(9.5 * REPLY))
    assert (code, stub.requests) == (1, [])
    assert (
        "the limit max_cost 0.01425 is reached but for 0.01425, and a call can cost 0.0" in errors
    )


def test_an_episode_cut_by_its_budget_is_in_no_mean(tmp_path: Path, stub: Stub) -> None:
    """It is counted; the others make the mean."""
    suite = suite_file(tmp_path, stub.url, BEER)
    suite.write_text(suite.read_text().replace("max_calls = 12", "max_calls = 5"))
    code, _, errors = bench(suite, tmp_path / "out")
    assert code == 0, errors
    score = table(tmp_path / "out")["model"]["score"]
    assert (score["done"], score["cut"], score["mean"]) == (0, 1, None)
    assert "max_calls=5 reached" in (tmp_path / "out" / "rows.csv").read_text()


# -- before and meanwhile --------------------------------------------------------------------------


def test_a_dry_run_counts_and_plays_nothing(tmp_path: Path, stub: Stub) -> None:
    """What is expected rests on episodes of the entry that were played.

    Before, calls are limited by `max_calls`.
    """
    suite, out = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:1"'), tmp_path / "out"
    code, printed, errors = bench(suite, out, "--dry-run")
    assert (code, out.exists()) == (0, False), errors
    assert "1 of 1 episodes are left: 12 calls; cost not known" in printed
    assert bench(suite, out)[0] == 0
    twice = f'model = "n"\nbase_url = "{stub.url}"\nprice_in = 200\nprice_out = 200'
    plan = read_plan(suite_file(tmp_path, stub.url, BEER, 'seeds = "0:3"', twice=twice))
    own, other = expectations(plan, outcomes_in(out, plan))
    assert (own.left, own.calls, own.basis) == (2, 12, "1 of its own")
    assert (other.left, other.calls, other.basis) == (3, None, "none")
    assert own.cost == pytest.approx(12 * REPLY)
    assert (expected_cost([own]), expected_cost([own, other])) == (own.cost, None)
    longer = read_plan(suite_file(tmp_path, stub.url, BEER.replace("6", "7"), 'seeds = "0:3"'))
    assert expectations(longer, outcomes_in(out, longer))[0].left == 3
    assert len(stub.requests) == 6


def test_it_asks_before_it_spends(tmp_path: Path, stub: Stub) -> None:
    """Without an answer nothing is played; a low limit or a free model needs no question."""
    suite, out = suite_file(tmp_path, stub.url, BEER), tmp_path / "out"
    code, printed, errors = bench(suite, out, "--ask")
    assert (code, printed, stub.requests) == (2, "", [])
    assert "an amount that is not known, with no limit" in errors
    assert bench(suite, out, "--ask", "--max-cost", "0.5")[0] == 0
    suite.write_text(suite.read_text().replace("= 100", "= 0"))
    assert bench(suite, tmp_path / "free", "--ask")[0] == 0


def test_calls_at_one_endpoint_are_limited(tmp_path: Path, server: Server, stub: Stub) -> None:
    """To the suite's `concurrent`; episodes wait for each other's replies, not one by one."""
    server.pace = 0.05
    arrived = []

    def counted(number: int, body: dict[str, Any]) -> Served:
        arrived.append(time.monotonic())
        return server(number, body)

    stub.script = counted
    suite = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:8"\nconcurrent = 3')
    assert bench(suite, tmp_path / "out")[0] == 0
    # What arrives before the reply to another can have been sent is under way beside it.
    most = max(sum(0 <= one - first < server.pace for one in arrived) for first in arrived)
    assert 2 <= most <= 3
    assert len(stub.requests) == 48


def test_options_that_do_not_belong_are_refused(tmp_path: Path, stub: Stub) -> None:
    """Of a folder's results, and of a suite without a folder."""
    suite = suite_file(tmp_path, stub.url, BEER)
    assert "holds no suite" in bench_alone(tmp_path)
    assert "give --out" in bench_alone(suite)
    assert "a folder's results are printed" in bench_alone(tmp_path, "--jobs", "2")
    assert "cannot read" in bench_alone(tmp_path / "none.toml", "--out", "x")


def bench_alone(*words: object) -> str:
    """The errors of `desim bench` with exactly these words."""
    done = ended(desim_process("bench", *map(str, words), cwd=ROOT))
    assert done.code == 2
    return done.err
