"""A suite over the three APIs, killed at random moments: no reply is paid for twice."""

import json
import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest
from attrs import evolve
from support.stub import Stub, call, serving, text
from support.suites import bench, outcomes, started, suite_file

pytestmark = pytest.mark.slow

#: Processes that the test kills; `DESIM_KILLS` raises it.
KILLS = int(os.environ.get("DESIM_KILLS", "8"))

#: Seconds before a reply, and requests after which a process is killed, before or after the reply.
PACE, REQUESTS = 0.02, (0, 9)

#: Two worlds with tools or text, and conversations that go on; requests differ from week to week.
WORLDS = """
[worlds.beer]
model = "beer_game"
set = { horizon = 12 }

[worlds.arena]
model = "enterprise_arena"
set = { horizon = 6 }
"""


def entry(url: str, name: str, options: str = "") -> str:
    """Return the table of a model."""
    given = f"{{ temperature = 0.5{options} }}"
    return f'model = "{name}"\nbase_url = "{url}"\noptions = {given}'


def requests_of(stub: Stub) -> Counter[str]:
    """Return how often each request was sent."""
    return Counter(
        path + json.dumps(body, sort_keys=True)
        for path, body in zip(stub.paths, stub.requests, strict=True)
    )


def cleared(stub: Stub) -> None:
    """Forget all requests."""
    for each in (stub.paths, stub.requests, stub.keys):
        del each[:]


def test_a_killed_suite_buys_nothing_twice(tmp_path: Path) -> None:
    """Of equal requests there are as many as without a kill, and one more a kill at most."""
    order = call(("order", {"order_qty": 100}), reasoning="Cover it.")
    note = text('{"type": "action", "name": "pass", "params": {}}', reasoning="Wait.")
    with serving(lambda _, body: evolve(order if body.get("tools") else note, slow=PACE)) as stub:
        tables = {
            "chat": entry(stub.url, "chat"),
            "tools": entry(stub.url, "tools", ', mode = "tools"'),
            "cached": entry(stub.url, "cached", ', extra_body = { prompt_cache_key = "k" }'),
        }
        suite = suite_file(tmp_path, "", WORLDS, 'seeds = "0:2"', model="", **tables)
        code, _, errors = bench(suite, tmp_path / "whole", "--jobs", "1")
        assert code == 0, errors
        whole, kills, repeated, round_ = requests_of(stub), 0, 0, 0
        chance = random.Random(29)  # noqa: S311 (moments)
        while kills < KILLS:
            cleared(stub)
            out, died = tmp_path / f"killed{round_}", 0
            while kills + died < KILLS and _is_killed(suite, out, stub, chance):
                died += 1
            code, _, errors = bench(suite, out, "--jobs", "1")
            assert code == 0, errors
            sent = requests_of(stub)
            assert sent.keys() == whole.keys()
            extra = sent - whole
            assert sent >= whole
            assert extra.total() <= died
            assert _played(out) == _played(tmp_path / "whole")
            kills, repeated, round_ = kills + died, repeated + extra.total(), round_ + 1
    print(f"{kills} kills: {repeated} of {whole.total() * round_} requests sent twice")  # noqa: T201 (with -rP)


def _is_killed(suite: Path, out: Path, stub: Stub, chance: random.Random) -> bool:
    """Start a suite or go on with it; return whether it was killed before its end."""
    process = started(suite, out, "--jobs", "1")
    last = len(stub.requests) + chance.randint(*REQUESTS)
    while len(stub.requests) < last and process.poll() is None:
        time.sleep(PACE / 10)
    time.sleep(chance.uniform(0, 1.5 * PACE))
    killed = process.poll() is None
    process.kill()
    process.communicate()
    return killed


def _played(out: Path) -> dict[str, object]:
    """Return what of the outcomes does not depend on kills."""
    found = outcomes(out)
    return {name: (o.score, o.decisions, o.usage.get("replies")) for name, o in found.items()}
