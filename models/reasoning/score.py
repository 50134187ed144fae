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

from desim.core.reported import Figures, Periods, ScoreSeries
from desim.show.column import Column, directed
from models.reasoning.desk import Desk
from models.reasoning.item import Item, groups, slug
from models.reasoning.scoring import Graded

_Pair = tuple[Item, Graded]


@define
class _Count:
    """Counts of right answers and of all counted answers."""

    right: int = 0
    counted: int = 0

    @property
    def accuracy(self) -> float:
        return self.right / self.counted if self.counted else 0.0


def score(desk: Desk) -> float:
    """Return the mean of the tasks' accuracies, each weighted by its items; 0 without answers.

    With one task it is that task's accuracy.
    """
    weights = Counter(item.task for item, _ in _evaluated(desk))
    counts = _by_task(desk)
    if not weights:
        return 0.0
    # Exact, so that a score of 1 is 1 whatever the order of the tasks.
    parts = (
        Fraction(counts[task].right * weight, counts[task].counted)
        for task, weight in weights.items()
    )
    return float(sum(parts, Fraction()) / weights.total())


def metrics(desk: Desk) -> dict[str, Any]:
    """Return how many items were answered, and accuracies with their counts.

    `accuracy_X` is `right_X` over `counted_X`, where X is a task, a category, a capability
    (`numerical_calculation`) or a capability's bucket (`numerical_calculation_hard`). For a
    task or a category, taggings are counted by label. `by_item.X` lists 1 or 0 for each counted
    item of a capability or bucket, in the order of their ids.
    """
    evaluated, by_item = list(_evaluated(desk)), _by_item(desk)
    figures: dict[str, Any] = {
        "items": len(desk.items),
        "answered": len(desk.grades),
        "evaluated": len(evaluated),
        "right": sum(graded.correct is True for graded in desk.grades),
        "raised": sum(graded.correct is None for graded in desk.grades),
        "accuracy": score(desk),
    }
    counts = {
        **_labels((item.category, graded) for item, graded in evaluated),
        **_by_task(desk),
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


def series(desk: Desk) -> dict[str, Periods]:
    """Return by item: whether it was right (1, 0, or NaN where its scorer failed)."""
    outcomes = [math.nan if one.correct is None else float(one.correct) for one in desk.grades]
    # Answers take equally long, without a break.
    ends = [desk.params.seconds_per_item * number for number in range(1, len(outcomes) + 1)]
    return {"right": Periods(outcomes, ends)}


def figures(items: Iterable[Item]) -> Figures:
    """Return directions of metrics: accuracies and right answers of all, of each task and so on.

    The score is a mean of shares of right labels. Boards show the answers for which the scorer
    raised an exception.
    """
    named = {name for i in items for name in (slug(i.task), slug(i.category), *groups(i))}
    parts = [f"{figure}_{name}" for figure in ("accuracy", "right") for name in named]
    return Figures(
        columns=directed({}, higher=("accuracy", "right", *parts), lower=("raised",)),
        series={"right": Column("1 or 0", "Right answers", "analyst", "item")},
        score_series=ScoreSeries("Right answers so far", ("right",), is_total=True),
        board=("raised",),
        score_range=(0.0, 1.0),
    )


def _evaluated(desk: Desk) -> Iterator[_Pair]:
    """Yield the items that count for the accuracy of their task."""
    drops = desk.params.exceptions == "as_published"
    # The last items may be unanswered.
    for item, graded in zip(desk.items, desk.grades, strict=False):
        if not (drops and graded.correct is None):
            yield item, graded


def _by_task(desk: Desk) -> dict[str, _Count]:
    return _labels((item.task, graded) for item, graded in _evaluated(desk))


def _labels(named: Iterable[tuple[str, Graded]]) -> dict[str, _Count]:
    counts: dict[str, _Count] = defaultdict(_Count)
    for name, graded in named:
        counts[name].right += graded.matched
        counts[name].counted += graded.labels
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
