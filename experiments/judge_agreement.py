"""Do several judges score the same case interviews alike?

Krippendorff's alpha for each field of a verdict, on an interval scale: 1 is full agreement, 0 is
the agreement by chance. Every interview (a case and a candidate) is one unit, every judge a rater;
scores that were not numbers are missing values. A judge is a policy of the seat `judge`.
"""

import math
from collections.abc import Sequence

import click
import krippendorff
import numpy as np

from desim import play
from desim.errors import DesimError
from desim.show.console import console
from desim.show.table import Table
from models.consulting import Consulting
from models.consulting.seats import FIELDS

CANDIDATES = ("framework", "data_hungry", "greedy")
JUDGES = ("rubric,strictness=0.5", "rubric", "rubric,strictness=2")

#: The scores of one field: a row for each judge, a column for each interview.
Scores = list[Sequence[float]]


def judged(judges: Sequence[str], candidates: Sequence[str], cases: str = "") -> dict[str, Scores]:
    """Play every case with every candidate before the same judges; return the scores by field."""
    model = Consulting(cases=cases, judges=len(judges))
    seats = dict(zip(model.judge_roles, judges, strict=True))
    episodes = [
        play(model, {"candidate": candidate, **seats}, seed)
        for candidate in candidates
        for seed in range(len(model.loaded_cases))
    ]
    return {
        name: [
            np.array([one.metrics[f"{name}_{role}"] for one in episodes], float) for role in seats
        ]
        for name in FIELDS
    }


def alpha(scores: Scores) -> float:
    """Return alpha; NaN where all scores are equal or fewer than two interviews have two."""
    units = [_numbers(unit) for unit in zip(*scores, strict=True)]
    given = [one for unit in units if len(unit) > 1 for one in unit]
    if len(set(given)) < 2:
        return math.nan
    return float(krippendorff.alpha(reliability_data=scores, level_of_measurement="interval"))


@click.command()
@click.option("--judge", "judges", multiple=True, default=JUDGES, help="A policy; at least two.")
@click.option("--candidate", "candidates", multiple=True, default=CANDIDATES, help="A policy.")
@click.option("--cases", default="", help="A folder of case files; default: those that ship.")
def main(judges: Sequence[str], candidates: Sequence[str], cases: str) -> None:
    """Print alpha and each judge's mean for every field."""
    if len(judges) < 2:
        raise click.UsageError(f"{len(judges)} judge was given; agreement needs at least two")
    try:
        scores = judged(judges, candidates, cases)
    except (DesimError, ValueError) as fault:
        raise click.ClickException(str(fault)) from None
    lines = []
    for name, rows in scores.items():
        means = [sum(given) / len(given) if (given := _numbers(row)) else math.nan for row in rows]
        lines.append([name, *(f"{each:.2f}" for each in (alpha(rows), *means))])
    console().print(Table(["field", "alpha", *judges], lines))


def _numbers(row: Sequence[float]) -> list[float]:
    return [each for each in row if not math.isnan(each)]


if __name__ == "__main__":
    main()
