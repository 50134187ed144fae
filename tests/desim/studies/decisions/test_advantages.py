"""Advantages of the decisions of a record, compared with a formula."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from attrs import define, frozen

from desim import Role, UsageError, World, play
from desim.studies.decisions.advantages import AdvantageTable, advantages

#: Days of a record, and futures of a decision.
DAYS, FUTURES = 6, 8

#: The seeds of the records.
RECORDS = range(30)


@frozen
class Shelf:
    """The stock in the morning."""

    stock: int


@frozen
class Fill:
    """Order pieces, which arrive at once; fewer than none are sent back."""

    pieces: int


@define
class Kept:
    """The stock, and the costs so far."""

    stock: int = 0
    cost: float = 0.0


@frozen
class Shop:
    """A shop whose cost of a day is the square of its stock in the evening.

    Demand is 0, 1 or 2, each as likely as the others. To fill up to 1 is the best rule. A stock of
    *y* after the order then has the advantage of minus (y - 1) squared: that of the day alone, as
    the rule makes every later day the same.
    """

    days: int = DAYS

    @property
    def roles(self) -> Mapping[str, Role]:
        """The buyer."""
        return {"buyer": Role(Shelf, Fill)}

    def begin(self, world: World) -> Kept:
        """Open the shop."""
        kept = Kept()
        world.process(self._run(world, kept))
        return kept

    def _run(self, world: World, kept: Kept) -> Any:
        demand = world.stream("demand")
        for _ in range(self.days):
            answer = yield world.ask("buyer", lambda: Shelf(kept.stock))
            kept.stock += answer.pieces - int(demand.integers(0, 3))
            kept.cost += kept.stock**2
            yield world.timeout(1)

    def score(self, kept: Kept) -> float:
        """Return minus the costs."""
        return -kept.cost

    def metrics(self, _: Kept) -> Mapping[str, Any]:
        """Return no metric."""
        return {}


def up_to_one(shelf: Shelf) -> Fill:
    """Fill up to one piece."""
    return Fill(1 - shelf.stock)


def in_turn(shelf: Shelf) -> Fill:
    """Order one piece, and two more while there is none."""
    return Fill(3 if shelf.stock <= 0 else 1)


@cache
def judged(seed: int, **options: Any) -> AdvantageTable:
    """Return the advantages of the decisions of `in_turn`."""
    return advantages(play(Shop(), in_turn, seed), up_to_one, futures=FUTURES, **options)


def exact(seed: int) -> list[float]:
    """Return the formula's advantages of the same decisions."""
    stocks = [
        step.observation.stock + step.action.pieces for step in play(Shop(), in_turn, seed).steps
    ]
    return [-float((stock - 1) ** 2) for stock in stocks]


def test_the_estimates_have_no_bias() -> None:
    """The mean of their errors is 0 within four standard errors, which the formula gives too."""
    errors, variance = [], 0.0
    for seed in RECORDS:
        values = exact(seed)
        errors += [line.mean - one for line, one in zip(judged(seed).lines, values, strict=True)]
        # Of one future it is 2 (y - 1) (D - 1), and D has the variance 2/3. The futures of a record
        # have the same seeds for all of its decisions, so that their deviations may add up.
        variance += sum(math.sqrt(-4 * one * (2 / 3) / FUTURES) for one in values) ** 2
    assert variance > 0
    assert abs(sum(errors)) < 4 * math.sqrt(variance)


def test_the_intervals_hold_the_true_values_together() -> None:
    """In at least nine of ten records, with a joint level of 95 %."""
    held = 0
    for seed in RECORDS:
        lines = judged(seed).lines
        held += all(
            line.mean == value if line.paired is None else within(line.paired, value)
            for line, value in zip(lines, exact(seed), strict=True)
        )
    assert held >= 0.9 * len(RECORDS)


def within(paired: Any, value: float) -> bool:
    """Return whether an interval holds a value; one of equal differences is a point."""
    return bool(paired.low - 1e-9 <= value <= paired.high + 1e-9) or paired.sd == 0


def test_the_sum_estimates_the_difference_of_two_players() -> None:
    """Its mean over records is that of the score less the rule's, and it varies less."""
    sums, gaps = [], []
    for seed in RECORDS:
        sums.append(sum(line.mean for line in judged(seed).lines))
        gaps.append(play(Shop(), in_turn, seed).score + DAYS * 2 / 3)
    mean, gap = sum(sums) / len(RECORDS), sum(gaps) / len(RECORDS)
    spread = math.sqrt(sum((one - mean) ** 2 for one in sums) / (len(RECORDS) - 1))
    luck = math.sqrt(sum((one - gap) ** 2 for one in gaps) / (len(RECORDS) - 1))
    assert spread < luck
    assert abs(mean - gap) < 4 * math.hypot(spread, luck) / math.sqrt(len(RECORDS))


def test_a_decision_that_the_policy_would_have_made_has_none() -> None:
    """It is not played."""
    found = advantages(play(Shop(), up_to_one, 1), up_to_one, futures=2)
    assert [line.mean for line in found.lines] == [0.0] * DAYS
    assert all(line.paired is None and line.baseline is None for line in found.lines)


def test_columns_have_a_value_for_each_decision() -> None:
    """Those that were not judged have None."""
    episode = play(Shop(), in_turn, 3)
    found = advantages(episode, up_to_one, futures=FUTURES, decisions=slice(2, 4))
    columns = found.columns(DAYS)
    assert list(columns) == ["advantage", "advantage_low", "advantage_high"]
    assert [one is None for one in columns["advantage"]] == [True, True, False, False, True, True]
    assert found.columns()["advantage"] == columns["advantage"][2:4]
    assert "advantage: mean score with the recorded action" in str(found)
    assert found.plain()["then"].endswith("test_advantages:up_to_one")


def test_a_role_that_does_not_exist_is_refused() -> None:
    """In words."""
    with pytest.raises(UsageError, match="no policy plays 'seller'"):
        judged(1, role="seller")
