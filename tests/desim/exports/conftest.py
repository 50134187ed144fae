"""A suite that was played, for the formats of suites."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.stub import Served, serving, text
from support.suites import suite_file

WORLDS = """
[worlds.game]
model = "beer_game/poisson"
set = { horizon = 4 }
columns = ["score", { name = "bullwhip", figure = "bullwhip_controlled" }]

[worlds.row]
model = "beer_game/poisson"
set = { horizon = 3 }
seeds = [10, 20]
episodes = 2
repeats = 1
columns = [{ name = "hundreds", figure = "score", scale = 0.01 }]
"""

HEAD = 'title = "Two worlds"\nseeds = "0:3"\nrepeats = 2'

USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 4},
}


def answer(_: int, body: dict[str, Any]) -> Served:
    """Order; the model "silent" says nothing that can be read."""
    words = "hm" if body["model"] == "silent" else '{"order_qty": 6}'
    return text(words, usage=USAGE, reasoning="Demand is 6.")


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a suite of a language model, one that is never played, and a rule."""
    folder = tmp_path_factory.mktemp("suite")
    with serving(answer) as stub:
        model = f'model = "{{}}"\nbase_url = "{stub.url}"\nprice_in = 100\nprice_out = 100'
        entries = {
            "model": model.format("acme/Parrot-1")
            + "\noptions = { temperature = 0.5, reply_tokens = 99, max_tokens = 5000 }",
            "silent": model.format("silent") + '\nworlds = ["game"]',
            '"a rule"': 'policy = "base_stock"',
        }
        file = suite_file(folder, stub.url, WORLDS, HEAD, **entries)
        # A process of its own and not a fork of this one: workers of a fork are forks as well,
        # which locks of files may refuse.
        command = [sys.executable, "-m", "desim", "bench", file, "--out", folder / "out", "--yes"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "out"
