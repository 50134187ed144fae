"""Score and metrics of an episode: reference SPEC sections 2 and 3.

A tagging counts by its labels in the accuracy of its task, as a whole in that of its capability.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from operator import attrgetter
from typing import Any

from attrs import define

from desim.core.reported import Figures, Periods, ScoreSeries
from desim.show.column import Column
from models.reasoning.desk import Desk
from models.reasoning.item import Item, groups, slug
from models.reasoning.scoring import Graded


@define
class _Count:
    """Right answers of all counted answers, and the items that they belong to."""

    right: int = 0
    counted: int = 0
    items: int = 0

    @property
    def accuracy(self) -> float:
        return self.right / self.counted

    def part(self, graded: Graded) -> float:
        # Linear in the labels (delta method), so that their number adds no spread.
        rest = graded.matched - self.accuracy * graded.labels
        return self.accuracy + rest * self.items / self.counted


def score(desk: Desk) -> float:
    """Return the mean of the tasks' accuracies, each weighted by its items; 0 without answers."""
    counts = _counts(desk, attrgetter("task")).values()
    # Exact, so that a score of 1 is 1 whatever the order of the tasks.
    parts = (Fraction(each.right * each.items, each.counted) for each in counts)
    return float(sum(parts, Fraction()) / (sum(each.items for each in counts) or 1))


def metrics(desk: Desk) -> dict[str, Any]:
    """Return how many items were answered, and accuracies with their counts.

    `accuracy_X` is `right_X` over `counted_X`, where X is a task, a category, a capability
    (`numerical_calculation`) or a capability's bucket (`numerical_calculation_hard`). `by_item.X`
    lists 1 or 0 for each item of a capability or bucket, in the order of their ids.
    """
    by_item = _by_item(desk)
    figures: dict[str, Any] = {
        "items": len(desk.items),
        "answered": len(desk.grades),
        "evaluated": len(_evaluated(desk)),
        "right": sum(graded.correct is True for graded in desk.grades),
        "raised": sum(graded.correct is None for graded in desk.grades),
        "accuracy": score(desk),
    }
    counts = {
        **_counts(desk, attrgetter("category")),
        **_counts(desk, attrgetter("task")),
        **{name: _Count(sum(each), len(each)) for name, each in by_item.items()},
    }
    # Sorted, so that shuffled items give the same columns in the same order.
    for name, count in sorted(counts.items()):
        figures |= {
            f"accuracy_{slug(name)}": count.accuracy,
            f"right_{slug(name)}": count.right,
            f"counted_{slug(name)}": count.counted,
        }
    return figures | {"by_item": by_item}


def item_results(desk: Desk) -> dict[str, tuple[float, bool]]:
    """Return by item its part of the score, whose mean is the score, and whether it was right."""
    counts = _counts(desk, attrgetter("task"))
    return {
        item.id: (counts[item.task].part(graded), bool(graded.correct))
        for item, graded in _evaluated(desk)
    }


def series(desk: Desk) -> dict[str, Periods]:
    """Return by item: whether it was right (1, 0, or NaN where its scorer failed)."""
    outcomes = [math.nan if one.correct is None else float(one.correct) for one in desk.grades]
    # Answers take equally long, without a break.
    ends = [desk.params.seconds_per_item * number for number in range(1, len(outcomes) + 1)]
    return {"right": Periods(outcomes, ends)}


def figures(items: Iterable[Item]) -> Figures:
    """Return the directions of all metrics; the failures of scorers stand on boards."""
    found = dict.fromkeys(name for i in items for name in (i.task, i.category, *groups(i)))
    parts = ["", *(f"_{slug(name)}" for name in found)]
    higher = (f"{figure}{part}" for figure in ("accuracy", "right") for part in parts)
    columns = dict.fromkeys(higher, Column(better="higher"))
    return Figures(
        columns={**columns, "raised": Column(better="lower")},
        series={"right": Column("1 or 0", "Right answers", "analyst", "item")},
        score_series=ScoreSeries("Right answers so far", ("right",), is_total=True),
        board=("raised",),
        score_range=(0.0, 1.0),
    )


def _evaluated(desk: Desk) -> list[tuple[Item, Graded]]:
    """Return the answered items that count for the accuracy of their task."""
    drops = desk.params.exceptions == "as_published"
    pairs = zip(desk.items, desk.grades, strict=False)
    return [pair for pair in pairs if not (drops and pair[1].correct is None)]


def _counts(desk: Desk, name: Callable[[Item], str]) -> dict[str, _Count]:
    counts: dict[str, _Count] = defaultdict(_Count)
    for item, graded in _evaluated(desk):
        count = counts[name(item)]
        count.right += graded.matched
        count.counted += graded.labels
        count.items += 1
    return counts


def _by_item(desk: Desk) -> dict[str, list[int]]:
    """List items as a whole; as published, one whose scorer failed is not among the errors."""
    passes = desk.params.exceptions == "as_published"
    found: dict[str, list[int]] = defaultdict(list)
    answered = zip(desk.items, desk.grades, strict=False)
    for item, graded in sorted(answered, key=lambda pair: pair[0].id):
        right = passes if graded.correct is None else graded.correct
        for name in groups(item):
            found[name].append(int(right))
    return dict(sorted(found.items()))
