"""The files of training runs with advantages as rewards: the page has what they say."""

import csv
import math
import re

from support.paths import ROOT

from desim.statistics import interval
from experiments.adapters.credit_beer_game import reached, score

FOLDER = ROOT / "experiments" / "adapters" / "credit_beer_game"
PAGE = ROOT / "desim" / "docs" / "regret.md"


def rows(name: str) -> list[dict[str, str]]:
    """Return a table of the folder."""
    with (FOLDER / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_page_has_the_episodes_of_the_run() -> None:
    """Rounded: mean, fewest and most, the factor and its interval, the last score."""
    names = {"episodes": 0, "fewest": 0, "most": 0, "last_score": 1, "simulated_weeks": 0}
    wanted = [
        (row["arm"], *(f"{float(row[name]):,.{digits}f}" for name, digits in names.items()))
        for row in rows("episodes.csv")
    ]
    text = PAGE.read_text(encoding="utf-8")
    line = r"^\| ([a-z]+, batches of \d+) \| (\d+) \((\d+) to (\d+)\) \| .+? \| (\S+) \| (\S+) \|$"
    assert re.findall(line, text, re.MULTILINE) == wanted


def test_the_curves_have_every_training_run_of_every_arm() -> None:
    """With the same seeds."""
    runs = {(row["arm"], row["training"]) for row in rows("curves.csv")}
    arms, trainings = ({run[at] for run in runs} for at in (0, 1))
    assert (
        len(runs)
        == len(arms) * len(trainings)
        == sum(int(row["trainings"]) for row in rows("episodes.csv"))
    )


def test_the_page_has_the_factor_between_batches_of_the_same_size() -> None:
    """The geometric mean over the training runs, each compared with that of its seed."""
    target = score("order_up_to")
    needed = {
        arm: [reached(curve_of(arm, each), target) for each in range(10)]
        for arm in ("advantages, batches of 4", "score, batches of 4")
    }
    logs = [math.log(a / b) for a, b in zip(*needed.values(), strict=True)]
    found = interval(logs)
    ends = [math.exp(each) for each in (found.mean, found.low or 0, found.high or 0)]
    assert "the factor is {:.2f} [{:.2f}, {:.2f}]".format(*ends) in PAGE.read_text(encoding="utf-8")


def curve_of(arm: str, training: int) -> list[tuple[int, float]]:
    """Return the points of one training run."""
    return [
        (int(row["episodes"]), float(row["score"]))
        for row in rows("curves.csv")
        if (row["arm"], row["training"]) == (arm, str(training))
    ]
