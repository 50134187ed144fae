"""Rules by counting: for each capability and difficulty the method that was right most often.

No model is called: the least that rules written by a model should beat.
"""

from collections.abc import Iterable, Sequence

from policies.llm.router.order import grouped
from policies.llm.router.policy import Policy, Rule
from policies.llm.router.predictions import Item, methods_of

__all__ = ["tallied"]


def tallied(items: Sequence[Item], least: int = 10) -> Policy:
    """Return the policy that chooses the best method of every cell, and of all items by default.

    Of equally good methods the first by name is chosen.

    Args:
        items: Items with predictions; those without a record of every method are left out.
        least: Items that a cell needs for a rule of its own.
    """
    methods = methods_of(items)
    whole = [item for item in items if item.predictions.keys() >= set(methods)]
    if not whole:
        return Policy()
    cells = grouped(
        (item for item in whole if item.capability),
        lambda item: (item.capability, item.bucket or ""),
    )
    rules = [
        _rule(*cell, _best(cells[cell], methods), len(cells[cell]))
        for cell in sorted(cells)
        if len(cells[cell]) >= least
    ]
    return Policy(tuple(rules), _best(whole, methods))


def _rule(capability: str, bucket: str, method: str, count: int) -> Rule:
    when = {"capability": capability, "difficulty_bucket": bucket or "ALL"}
    return Rule(when, method, "high", f"right most often in {count} items")


def _best(items: Iterable[Item], methods: Sequence[str]) -> str:
    """Return the method with most right answers; max() returns the first of equal ones."""
    listed = list(items)
    return max(methods, key=lambda name: sum(item.predictions[name].correct for item in listed))
