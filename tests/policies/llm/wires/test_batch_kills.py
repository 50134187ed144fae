"""Suites in batches that are killed at random moments: no request is paid for twice."""

import os
import random
import subprocess
import time
from pathlib import Path

import pytest
from support.batch_stub import FAST, FORMS, BatchStub, batching, ordered, scores
from support.suites import bench, started, suite_file

pytestmark = pytest.mark.slow

#: Processes that the test kills for each form; `DESIM_KILLS` raises it.
KILLS = int(os.environ.get("DESIM_KILLS", "6"))

#: Seconds that a batch takes; when a process is killed, in durations of a whole suite; and how
#: often a suite is killed at most.
TAKES, MOMENTS, MOST = 0.1, (0.3, 1.2), 8

WORLDS = """
[worlds.beer]
model = "beer_game"
set = { horizon = 5 }

[worlds.questions]
model = "reasoning/small"
set = { limit = 6 }

[worlds.interview]
model = "consulting"
"""


@pytest.mark.parametrize("api", FORMS)
def test_killed_suites_pay_for_no_request_twice(tmp_path: Path, api: str) -> None:
    """The results are those without kills and those without batches."""
    with batching(ordered, takes=TAKES, shuffles=True) as stub:
        suite = suite_file(tmp_path, stub.url, WORLDS, 'seeds = "0:2"')
        options = f'options = {{ api = "{api}" }}'
        suite.write_text(suite.read_text().replace("options = { max_calls = 12 }", options))
        assert bench(suite, tmp_path / "direct")[0] == 0
        begun = time.monotonic()
        code, _, errors = bench(suite, tmp_path / "whole", "--batch", *FAST)
        seconds = time.monotonic() - begun
        assert code == 0, errors
        whole = scores(tmp_path / "direct")
        assert scores(tmp_path / "whole") == whole
        requests = len(stub.paid)
        assert requests == stub.direct
        kills, suites, chance = 0, 0, random.Random(7)  # noqa: S311 (moments)
        while kills < KILLS:
            out, before = tmp_path / f"killed{suites}", len(stub.paid)
            begun = time.monotonic()
            found = killed(stub, suite, out, chance, seconds)
            if not found:
                # The machine has less to do than before; otherwise few kills would be in time.
                seconds = time.monotonic() - begun
            kills += found
            suites += 1
            assert len(stub.paid) - before == requests
            assert len({*stub.paid}) == len(stub.paid)
            assert scores(out) == whole
        print(f"{api}: {kills} kills of {suites} suites, {requests} of {requests} requests paid")  # noqa: T201


def killed(stub: BatchStub, suite: Path, out: Path, chance: random.Random, seconds: float) -> int:
    """Play a suite of some seconds in commands that are killed; return how many were."""
    kills = 0
    while True:
        # Sometimes the answer to a creation is lost, or half of a batch expires.
        stub.drops, stub.expires = chance.random() < 0.2, chance.random() < 0.1
        process = started(suite, out, "--batch", *FAST)
        try:
            moment = seconds * chance.uniform(*MOMENTS) if kills < MOST else 300
            _, errors = process.communicate(timeout=moment)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
        else:
            assert process.returncode == 0, errors
            return kills
