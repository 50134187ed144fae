"""Scoring a router on stored predictions, compared with every single method and the oracle.

Source: reference SPEC of FirmBench, section 6, "Evaluation": only items count for which all methods
have a record. Section 8: the paper's rules were learned and scored on the same test items.
`compare` learns on these and on others, and scores both on the same items; their difference is the
leakage.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from statistics import fmean

from attrs import define, evolve, frozen

from desim.errors import UsageError, possible
from desim.show.table import Table
from desim.statistics import Interval, interval
from desim.statistics.proportions import share
from policies.llm.router.predictions import Item, grouped, methods_of, require_disjoint
from policies.llm.router.routing import Chooser


@define(frozen=True, slots=False)  # cached properties need a __dict__
class Evaluation:
    """A router's choices on items, and what they were worth.

    Attributes:
        items: The items scored, each with a record of every method.
        chosen: The method chosen for each of them, in their order.
        methods: The methods compared, sorted.
        left_out: Items without a record of every method; they are in no figure.
    """

    items: tuple[Item, ...]
    chosen: tuple[str, ...]
    methods: tuple[str, ...]
    left_out: int = 0

    @cached_property
    def right(self) -> tuple[bool, ...]:
        """Whether each choice was right; a method without records is wrong."""
        pairs = zip(self.items, self.chosen, strict=True)
        return tuple(_is_right(item, method) for item, method in pairs)

    @cached_property
    def oracle_right(self) -> tuple[bool, ...]:
        """Whether any method was right on each item, which is the most that a router can reach."""
        return tuple(any(each.correct for each in item.predictions.values()) for item in self.items)

    @cached_property
    def best_method(self) -> str:
        """The single method with most right answers; of equal methods, the first by name."""
        return max(self.methods, key=lambda name: sum(self.method_right(name)))

    @property
    def choices(self) -> dict[str, int]:
        """The number of choices by method, the most frequent first."""
        return dict(sorted(Counter(self.chosen).items(), key=lambda each: (-each[1], each[0])))

    def method_right(self, method: str) -> tuple[bool, ...]:
        """Return whether a single method was right, item by item."""
        return tuple(_is_right(item, method) for item in self.items)

    def accuracy(self, right: Sequence[bool] | None = None) -> Interval:
        """Return the share of right answers, the router's by default, with its 95 % interval."""
        return share(self.right if right is None else right)

    def gain(self) -> Interval:
        """Return the router's accuracy less the best single method's, paired by item.

        The mean is from -1 to 1; the 95 % interval is Student's, which a few items may exceed.
        """
        best = self.method_right(self.best_method)
        return interval([float(a) - float(b) for a, b in zip(self.right, best, strict=True)])

    def cell_mean(self, right: Sequence[bool] | None = None) -> float:
        """Return the plain mean over cells of their accuracy, from 0 to 1.

        A cell is a capability and a difficulty. The paper's overall figures are such means, as far
        as its Table 1 shows. See `accuracy` for the argument.
        """
        pairs = zip(self.items, self.right if right is None else right, strict=True)
        cells = grouped(pairs, lambda pair: (pair[0].capability, pair[0].bucket or ""))
        return fmean(fmean(right for _, right in cells[cell]) for cell in sorted(cells))


def evaluate(items: Sequence[Item], chooser: Chooser, methods: Sequence[str] = ()) -> Evaluation:
    """Let a router choose a method for every item and look up whether that method was right.

    Args:
        items: Items with predictions.
        chooser: The router; it sees neither predictions nor gold answers.
        methods: The methods compared; all that have a record where empty.

    Raises:
        UsageError: No item has a record of every method, or a method has no record at all.
    """
    known = methods_of(items)
    for name in methods:
        if name not in known:
            raise UsageError(f"no item has a prediction of {name!r}; {possible(name, known)}")
    compared = tuple(sorted(set(methods or known)))
    whole = tuple(item for item in items if compared and item.predictions.keys() >= set(compared))
    if not whole:
        raise UsageError(
            f"none of {len(items)} items has a prediction of every method; an evaluation needs one"
        )
    scored = tuple(
        evolve(item, predictions={name: item.predictions[name] for name in compared})
        for item in whole
    )
    chosen = tuple(chooser.choose(item.situation) for item in scored)
    return Evaluation(scored, chosen, compared, len(items) - len(whole))


def _is_right(item: Item, method: str) -> bool:
    return method in item.predictions and item.predictions[method].correct


#: Makes a chooser of items with predictions.
Learner = Callable[[Sequence[Item]], Chooser]


@frozen
class Comparison:
    """Two evaluations on the same items.

    Attributes:
        as_published: Learned on the items scored.
        leakage_free: Learned on other items.
        learned_on: The number of those.
    """

    as_published: Evaluation
    leakage_free: Evaluation
    learned_on: int


def compare(
    learner: Learner, learn: Sequence[Item], test: Sequence[Item], methods: Sequence[str] = ()
) -> Comparison:
    """Learn on either side, first on the test items, and score both routers on the test items.

    Raises:
        UsageError: An item is on both sides, or the test items cannot be scored.
    """
    require_disjoint(learn, test)
    as_published = evaluate(test, learner(test), methods)
    leakage_free = evaluate(test, learner(learn), methods)
    return Comparison(as_published, leakage_free, len(learn))


#: The heads of the columns, in the order of `router_lines`.
HEADS = (
    "answers of",
    *("as published", "95 % interval", "mean of cells"),
    *("leakage-free", "95 % interval", "mean of cells"),
)


def router_table(comparison: Comparison) -> Table:
    """Return the table for a console to print: accuracies from 0 to 1.

    Under `as published` the router has learned from the items scored, under `leakage-free` from
    others. Single methods, the best one first, and the oracle learn nothing, so both are the same.
    """
    free = comparison.leakage_free
    left_out = f", {free.left_out:,} without every method left out" if free.left_out else ""
    scored = f"{len(free.items):,} items scored{left_out}"
    title = f"{scored}; leakage-free: learned on {comparison.learned_on:,} others"
    return Table(HEADS, router_lines(comparison), title=title)


def router_lines(comparison: Comparison) -> list[list[str]]:
    """Return the lines of the table as texts, one for each of `HEADS`."""
    both = (comparison.as_published, comparison.leakage_free)
    columns = [list(_columns(each)) for each in both]
    return [[name, *cells, *others] for (name, cells), (_, others) in zip(*columns, strict=True)]


def _columns(scored: Evaluation) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each line and its three cells."""
    yield "router", _cells(scored, scored.right)
    best_first = sorted(scored.methods, key=lambda name: (-sum(scored.method_right(name)), name))
    for method in best_first:
        yield method, _cells(scored, scored.method_right(method))
    yield "oracle", _cells(scored, scored.oracle_right)
    yield f"router - {scored.best_method}", [*_estimate(scored.gain(), sign="+"), ""]


def _cells(scored: Evaluation, right: Sequence[bool]) -> list[str]:
    return [*_estimate(scored.accuracy(right)), f"{scored.cell_mean(right):.3f}"]


def _estimate(estimate: Interval, sign: str = "") -> list[str]:
    """Return a mean and its interval; accuracies have three decimals in the paper."""
    low, high = estimate.low, estimate.high
    ends = "—" if low is None or high is None else f"[{low:{sign}.3f}, {high:{sign}.3f}]"
    return [f"{estimate.mean:{sign}.3f}", ends]
