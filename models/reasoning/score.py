"""Score and metrics of an episode: reference SPEC sections 2 and 3.

A tagging counts by its labels in the accuracy of its task, and as a whole in the accuracy of its
capability. Confidence bounds are made of the counts where tables are made.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from attrs import define

from desim.show.column import Column
from models.reasoning.item import Item, groups, slug
from models.reasoning.scoring.grade import Graded
from models.reasoning.state import Desk

_Pair = tuple[Item, Graded]


@define
class _Count:
    """Counts of right answers and of all counted answers."""

    right: int = 0
    counted: int = 0

    def add(self, right: int, counted: int = 1) -> None:
        self.right += right
        self.counted += counted

    @property
    def accuracy(self) -> float:
        return self.right / self.counted if self.counted else 0.0


def score(desk: Desk) -> float:
    """Return the mean of the tasks' accuracies, each weighted by its items; 0 without answers.

    With one task it is that task's accuracy.
    """
    weights: dict[str, int] = defaultdict(int)
    for item, _ in _evaluated(desk):
        weights[item.task] += 1
    counts = _by_task(desk)
    total = sum(weights.values())
    if not total:
        return 0.0
    # Exact, so that a score of 1 is 1 whatever the order of the tasks.
    parts = (
        Fraction(counts[task].right * weight, counts[task].counted)
        for task, weight in weights.items()
    )
    return float(sum(parts, Fraction()) / total)


def metrics(desk: Desk) -> dict[str, Any]:
    """Return how many items were answered, and accuracies with their counts.

    `accuracy_X` is `right_X` over `counted_X`, where X is a task, a category, a capability
    (`numerical_calculation`) or a capability's bucket (`numerical_calculation_hard`). For a
    task or a category, taggings are counted by label. `by_item.X` lists 1 or 0 for each counted
    item of a capability or bucket, in the order of their ids.
    """
    answered = list(_answered(desk))
    figures: dict[str, Any] = {
        "items": len(desk.items),
        "answered": len(answered),
        "evaluated": sum(1 for _ in _evaluated(desk)),
        "right": sum(graded.correct is True for _, graded in answered),
        "raised": sum(graded.correct is None for _, graded in answered),
        "accuracy": score(desk),
    }
    counts = {**_by_category(desk), **_by_task(desk), **_by_capability(desk)}
    # Sorted, so that shuffled items give the same columns in the same order.
    for name, count in sorted(counts.items()):
        figures |= {
            f"accuracy_{slug(name)}": count.accuracy,
            f"right_{slug(name)}": count.right,
            f"counted_{slug(name)}": count.counted,
        }
    return figures | {"by_item": _by_item(desk)}


def item_results(desk: Desk) -> dict[str, tuple[float, bool]]:
    """Return by item its part of the score, whose mean is the score, and whether it was right.

    A task's accuracy is a ratio of labels. The part of an item is linear in them (delta method), so
    that the number of labels of an item adds no spread.
    """
    weights = Counter(item.task for item, _ in _evaluated(desk))
    counts = _by_task(desk)
    found = {}
    for item, graded in _evaluated(desk):
        count = counts[item.task]
        rest = graded.matched - count.accuracy * graded.labels
        part = count.accuracy + rest * weights[item.task] / count.counted
        found[item.id] = (part, bool(graded.correct))
    return found


def series(desk: Desk) -> dict[str, list[float]]:
    """Return by item: whether it was right (1, 0, or NaN where its scorer failed)."""
    outcomes = [math.nan if one.correct is None else float(one.correct) for one in desk.grades]
    return {"right": outcomes}


#: Unit and label of every series.
COLUMNS = {"right": Column("1 or 0", "Right answers", "analyst", "item")}


def ticks(desk: Desk) -> list[int]:
    """Return the tick at which each answer was graded: they take equally long, without a break."""
    return [desk.params.seconds_per_item * number for number in range(1, len(desk.grades) + 1)]


def _answered(desk: Desk) -> Iterator[_Pair]:
    yield from zip(desk.items, desk.grades, strict=False)  # the last items may be unanswered


def _evaluated(desk: Desk) -> Iterator[_Pair]:
    """Yield the items that count for the accuracy of their task."""
    drops = desk.params.exceptions == "as_published"
    return (pair for pair in _answered(desk) if not (drops and pair[1].correct is None))


def _by_task(desk: Desk) -> dict[str, _Count]:
    return _labels((item.task, graded) for item, graded in _evaluated(desk))


def _by_category(desk: Desk) -> dict[str, _Count]:
    return _labels((item.category, graded) for item, graded in _evaluated(desk))


def _labels(named: Iterable[tuple[str, Graded]]) -> dict[str, _Count]:
    counts: dict[str, _Count] = defaultdict(_Count)
    for name, graded in named:
        counts[name].add(graded.matched, graded.labels)
    return counts


def _by_capability(desk: Desk) -> dict[str, _Count]:
    return {name: _Count(sum(each), len(each)) for name, each in _by_item(desk).items()}


def _by_item(desk: Desk) -> dict[str, list[int]]:
    """List items as a whole; as published, one whose scorer failed is not among the errors."""
    passes = desk.params.exceptions == "as_published"
    found: dict[str, list[int]] = defaultdict(list)
    for item, graded in sorted(_answered(desk), key=lambda pair: pair[0].id):
        right = passes if graded.correct is None else graded.correct
        for name in groups(item):
            found[name].append(int(right))
    return dict(sorted(found.items()))
