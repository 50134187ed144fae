"""The files of a language model's training run: its game replays, and the page has its scores."""

import csv

from support.learnt import page_scores, run_scores
from support.paths import ROOT

from desim import replay

FOLDER = ROOT / "experiments" / "adapters" / "grpo_beer_game"


def test_the_learnt_policys_game_replays_to_the_same_ledger() -> None:
    """All of its decisions are on record."""
    again = replay(FOLDER / "episode.jsonl.gz")
    assert again.header.policies["retailer"] == "grpo"
    assert len([step for step in again.steps if step.role == "retailer"]) == 12


def test_the_page_has_the_scores_of_the_run() -> None:
    """Rounded, with their intervals."""
    assert page_scores("A learnt language model") == run_scores(FOLDER)


def test_tool_calls_do_not_vanish_in_training() -> None:
    """The last steps have a higher share of decisions made by calls than the first ones."""
    with (FOLDER / "curve.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["training"] == "1"]
    shares = [float(row["share_called"]) for row in rows]
    assert sum(shares[-10:]) > sum(shares[:10])
