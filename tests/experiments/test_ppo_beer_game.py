"""The files of a training run: the game replays, and the page has the scores."""

from support.learnt import page_scores, run_scores
from support.paths import ROOT

from desim import replay

FOLDER = ROOT / "experiments" / "adapters" / "ppo_beer_game"


def test_the_learnt_policys_game_replays_to_the_same_ledger() -> None:
    """Its score is of the size that the table has."""
    again = replay(FOLDER / "episode.jsonl.gz")
    assert again.header.policies["retailer"] == "gymnasium"
    assert again.score == -568.5


def test_the_page_has_the_scores_of_the_run() -> None:
    """Rounded, with their intervals."""
    assert page_scores("A learnt policy") == run_scores(FOLDER)
