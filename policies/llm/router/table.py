"""The table of a comparison: router, single methods and oracle, with both ways of learning."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from desim.statistics import Interval
from policies.llm.router.evaluation import Evaluation, Share
from policies.llm.router.leakage import Comparison

if TYPE_CHECKING:  # `import desim` must not load rich
    from rich.table import Table

__all__ = ["router_lines", "router_table"]

#: The heads of the columns, in the order of `router_lines`.
HEADS = (
    "answers of",
    *("as published", "95 % interval", "mean of cells"),
    *("leakage-free", "95 % interval", "mean of cells"),
)


def router_table(comparison: Comparison) -> "Table":
    """Return the table for a console to print: accuracies from 0 to 1.

    Under `as published` the router has learned from the items scored, under `leakage-free` from
    others. Single methods, the best one first, and the oracle learn nothing, so both are the same.
    """
    from desim.jobs.rows.comparison_table import rich_table

    free = comparison.leakage_free
    left_out = f", {free.left_out:,} without every method left out" if free.left_out else ""
    scored = f"{len(free.items):,} items scored{left_out}"
    title = f"{scored}; leakage-free: learned on {comparison.learned_on:,} others"
    return rich_table(HEADS, router_lines(comparison), {0: 0}, title)


def router_lines(comparison: Comparison) -> list[list[str]]:
    """Return the lines of the table as texts, one for each of `HEADS`."""
    both = (comparison.as_published, comparison.leakage_free)
    columns = [list(_columns(each)) for each in both]
    return [[name, *cells, *others] for (name, cells), (_, others) in zip(*columns, strict=True)]


def _columns(scored: Evaluation) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each line and its three cells."""
    yield "router", _cells(scored, scored.right)
    for method in sorted(scored.methods, key=_by_accuracy(scored)):
        yield method, _cells(scored, scored.method_right(method))
    yield "oracle", _cells(scored, scored.oracle_right)
    yield f"router - {scored.best_method}", [*_estimate(scored.gain(), sign="+"), ""]


def _by_accuracy(scored: Evaluation) -> Callable[[str], tuple[int, str]]:
    return lambda method: (-sum(scored.method_right(method)), method)


def _cells(scored: Evaluation, right: Sequence[bool]) -> list[str]:
    return [*_estimate(scored.accuracy(right)), f"{scored.cell_mean(right):.3f}"]


def _estimate(estimate: Interval | Share, sign: str = "") -> list[str]:
    """Return a mean and its interval; accuracies have three decimals in the paper."""
    low, high = estimate.low, estimate.high
    ends = "—" if low is None or high is None else f"[{low:{sign}.3f}, {high:{sign}.3f}]"
    return [f"{estimate.mean:{sign}.3f}", ends]
