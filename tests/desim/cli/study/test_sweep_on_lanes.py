"""`desim sweep` and `desim tune` of a world with lanes."""

import json
from pathlib import Path

from support.command_line import Desim

from desim import load

BAKERY = ("support.bakery:Bakery", "--policy", "support.bakery:Level", "--jobs", "1")


def test_a_sweep_says_that_its_rows_have_no_digest(desim: Desim, folder: Path) -> None:
    """And which option computes them; with it the same folder has them."""
    sweep = ("sweep", *BAKERY, "--seeds", "0:6", "--out", "rows")
    done = desim(*sweep)
    assert done.code == 0
    assert "6 of 6 rows are on_lanes, without a ledger_digest; --digests plays each" in done.err
    assert "on_lanes" in (folder / "rows" / "rows.csv").read_text().splitlines()[0]
    again = desim(*sweep, "--digests")
    assert "on_lanes" not in again.err
    assert None not in load(folder / "rows").column("ledger_digest")


def test_a_search_on_lanes_finds_what_one_episode_after_the_other_finds(desim: Desim) -> None:
    """With the same trials and scores."""
    tune = ("tune", *BAKERY, "--set", "policy.level=int:0:30", "--budget", "120", "--json")
    on_lanes, played = (desim(*tune, *more) for more in ((), ("--digests",)))
    assert on_lanes.code == 0
    assert json.loads(on_lanes.out) == json.loads(played.out)
