"""The files of a language model's training runs: a game replays, and the page has the scores."""

import csv

from support.learnt import page_scores, run_scores
from support.paths import ROOT

from desim import replay
from experiments.adapters.grpo_beer_game import LOWEST

FOLDER = ROOT / "experiments" / "adapters" / "grpo_beer_game"


def test_the_learnt_policys_game_replays_to_the_same_ledger() -> None:
    """All of its decisions are on record."""
    again = replay(FOLDER / "episode.jsonl.gz")
    assert again.header.policies["retailer"] == "grpo"
    assert len([step for step in again.steps if step.role == "retailer"]) == 12


def test_the_page_has_the_scores_of_both_runs() -> None:
    """Rounded, with their intervals; the rules have played the same seeds in both."""
    first, again = run_scores(FOLDER), run_scores(FOLDER / "again")
    second = [("GRPO 1, again", *ends) for name, *ends in again if name == "GRPO 1"]
    assert page_scores("A learnt language model") == sorted([*first, *second])
    assert [each for each in again if each not in first] == [("GRPO 1", *second[0][1:])]


def test_tool_calls_do_not_vanish_in_training() -> None:
    """The last steps have a higher share of decisions made by calls than the first ones."""
    with (FOLDER / "curve.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["training"] == "1"]
    shares = [float(row["share_called"]) for row in rows]
    assert sum(shares[-10:]) > sum(shares[:10])


def test_the_page_says_which_steps_are_below_the_picture() -> None:
    """Their number, the lowest and the last one."""
    with (FOLDER / "curve.csv").open(encoding="utf-8") as file:
        rewards = [float(row["reward"]) for row in csv.DictReader(file)]
    below = [each for each in rewards if each < LOWEST]
    page = (ROOT / "desim" / "docs" / "coming_from_gymnasium.md").read_text(encoding="utf-8")
    assert f"{len(below)} of the {len(rewards)} steps are below the picture" in page
    assert f"the lowest at {min(below):,.0f}, and the last step at {rewards[-1]:,.0f}" in page
