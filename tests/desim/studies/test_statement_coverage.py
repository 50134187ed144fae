"""What boards, `compare` and `select` state holds as often as they say."""

import csv
import math
from collections.abc import Iterator

import pytest
from golden.statement_coverage import coverage
from support.paths import TESTS

#: Student's interval at a fixed n is printed with a note where the scores are skewed.
NOTED = "interval at a fixed n"

TRIALS = 100


def _golden() -> Iterator[dict[str, str]]:
    with (TESTS / "golden" / "coverage.tsv").open(newline="") as file:
        yield from csv.DictReader(file, delimiter="\t")


def _least(stated: float, trials: int) -> float:
    """Return three standard errors below a stated share."""
    return stated - 3 * math.sqrt(stated * (1 - stated) / trials)


@pytest.mark.parametrize("line", [*_golden()], ids=lambda line: " | ".join([*line.values()][:3]))
def test_the_statement_is_true_as_often_as_stated(line: dict[str, str]) -> None:
    """Of the golden table, only intervals that a note qualifies hold less often than stated."""
    if line["statement"] != NOTED:
        assert float(line["true in"]) >= _least(float(line["stated"]), 2_000)


@pytest.mark.slow
def test_the_golden_table_is_what_is_measured() -> None:
    """Fewer trials give the same shares and seeds, up to chance."""
    measured = {line[:3]: line for line in coverage(TRIALS)}
    for line in _golden():
        name = line["statement"], line["scores"], line["n or method"]
        key = next(key for key in measured if tuple(map(str, key)) == name)
        share, seeds = float(line["true in"]), int(line["seeds"])
        error = math.sqrt(max(share * (1 - share), 0.01) / TRIALS)
        assert abs(measured[key][3] - share) <= 4 * error, name
        assert measured[key][4] == pytest.approx(seeds, rel=0.25), name
