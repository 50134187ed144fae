"""The files of a training run: the game replays, and the page has the scores."""

import csv
import re

from support.paths import ROOT

from desim import replay

FOLDER = ROOT / "experiments" / "adapters" / "ppo_beer_game"
PAGE = ROOT / "desim" / "docs" / "coming_from_gymnasium.md"


def test_the_learnt_policys_game_replays_to_the_same_ledger() -> None:
    """Its score is of the size that the table has."""
    again = replay(FOLDER / "episode.jsonl.gz")
    assert again.header.policies["retailer"] == "gymnasium"
    assert again.score == -568.5


def test_the_page_has_the_scores_of_the_run() -> None:
    """Rounded, with their intervals."""
    with (FOLDER / "scores.csv").open(encoding="utf-8") as file:
        wanted = [
            (row["policy"], *(round(float(row[name])) for name in ("mean", "low", "high")))
            for row in csv.DictReader(file)
        ]
    table = re.findall(
        r"^\| `?([^|`]+?)`? \| (-[\d,]+) \| \[(-[\d,]+), (-[\d,]+)\] \|$",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    found = [(name, *(int(each.replace(",", "")) for each in numbers)) for name, *numbers in table]
    assert sorted(found) == sorted(wanted)
