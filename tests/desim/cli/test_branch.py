"""`desim branch`: another future of a record."""

import json
from pathlib import Path

from support.command_line import Desim, refused

from desim import Episode


def test_a_branch_draws_another_future(desim: Desim, tmp_path: Path) -> None:
    """Its record replays; equal futures are equal, and without one it is the episode again."""
    whole = str(tmp_path / "whole.jsonl")
    given = ("beer_game", "--preset", "poisson", "--set", "horizon=8", "--policy", "sterman")
    desim("run", *given, "--record", whole)
    digests = []
    for number, future in enumerate(([], ["1"], ["2"], ["1"])):
        new = str(tmp_path / f"{number}.jsonl.gz")
        chosen = ["--future", *future] if future else []
        done = desim("branch", whole, "--at", "4", *chosen, "--record", new, "--json")
        assert done.code == 0, done.err
        digests.append(json.loads(done.out)["ledger_digest"])
        assert desim("replay", new).code == 0
    true, one, other, again = digests
    assert one == again
    assert len({true, one, other}) == 3
    assert true == Episode.read(whole).ledger_digest


def test_a_future_is_a_seed(desim: Desim) -> None:
    """Before a file is read."""
    refused(desim("branch", "none.jsonl", "--at", "4", "--future", "-1"), "-1 is not in the range")
