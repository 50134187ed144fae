"""Plays seeds in batches until what was asked is known as precisely as wanted."""

import math
from typing import Any

from attrs import evolve, field, frozen

from desim.errors import UsageError
from desim.jobs.plan.grid import Grid, checked_seeds, with_further
from desim.jobs.rows.comparison_table import ComparisonTable, TableLine
from desim.jobs.rows.rows import Rows
from desim.jobs.run.playing import Playing
from desim.schema.signatures import takes
from desim.short_repr import short_repr
from desim.show.labels import estimate_text
from desim.show.table import Table, Tabular
from desim.statistics.intervals import Interval, seeds_needed
from desim.studies.study_options import MAX_SEEDS, CompareOptions

#: A batch makes the number of seeds at least and at most so many times as large: every look at the
#: intervals costs a little of their coverage, and an early estimate may be far off.
_LEAST_GROWTH, _MOST_GROWTH = 1.2, 3.0


def _half_width(text: float | str) -> float:
    share = isinstance(text, str) and text.rstrip().endswith("%")
    try:
        value = float(text.rstrip(" %") if isinstance(text, str) else text)
    except (TypeError, ValueError):
        value = math.nan
    if not (value > 0 and math.isfinite(value)):
        raise UsageError(
            f"until={short_repr(text)} was given; write a share of the mean such as 5%, or half "
            "the width of an interval in the unit of the score, above 0"
        )
    return value / 100 if share else value


@frozen
class Precision:
    """The precision that a comparison must reach.

    Attributes:
        half: Half the width of the intervals: in the unit of the figure, or a share of the mean.
        of_mean: Whether it is a share of the mean; the intervals are then those of the means,
            otherwise those of the differences to the reference, if there are any.
    """

    half: float
    of_mean: bool

    @classmethod
    def read(cls, text: float | str) -> "Precision":
        """Return the precision of a text such as `5%`, or of a number.

        Raises:
            UsageError: The text or number is not a precision, or not above 0.
        """
        return cls(_half_width(text), isinstance(text, str) and "%" in text)

    def wanted(self, estimate: Interval) -> float:
        """Return half the width that an interval may have."""
        return self.half * abs(estimate.mean) if self.of_mean else self.half

    def __str__(self) -> str:
        return f"{100 * self.half:g} % of the mean" if self.of_mean else f"±{self.half:g}"


@frozen
class Comparison(Tabular):
    """The result of a comparison that plays batches of seeds.

    Attributes:
        rows: One for each episode.
        table: Groups of the policies and of the parameters that vary, compared.
        precision: The precision that was asked for.
        reached: Whether every interval is as narrow.
        seeds: How many seeds were played.
    """

    rows: Rows = field(repr=False)
    table: ComparisonTable
    precision: Precision
    reached: bool
    seeds: int

    def tables(self) -> list[Table]:
        """Return the table of the comparison, with the sentence below it."""
        return [evolve(table, notes=(*table.notes, self.sentence)) for table in self.table.tables()]

    @property
    def sentence(self) -> str:
        """A sentence on whether every interval is narrow enough."""
        if self.reached:
            return f"{self.seeds:,} seeds: every interval is within {self.precision}"
        wide = [
            f"{' and '.join(map(str, line.group))} {_interval_text(one)}"
            for line in self.table.lines
            if (one := _interval(line, self.table, self.precision)) and _needs(one, self.precision)
        ]
        why = "; ".join(wide[:3]) or "episodes have failed"
        return f"{self.seeds:,} seeds: not every interval is within {self.precision} ({why})"


@takes(CompareOptions)
def compare(options: CompareOptions) -> Comparison:
    """Play batches of seeds until every interval is as narrow as *until* states.

    With `until="5%"` half the interval of every mean is at most 5 % of the mean. With a number,
    half the interval of every difference to the reference is at most that number, in the unit of
    the figure; with one group, of its mean.

    Intervals that are looked at after every batch miss the truth a little more often than their
    level says (Law, Simulation Modeling and Analysis, 9.4.1); the first batch should therefore not
    be small.

    Raises:
        UsageError: See `sweep`, or *until*, *seeds* or *max_seeds* are wrong.
        WorkerDied, DesimError, KeyboardInterrupt: See `sweep`.
    """
    precision = Precision.read(options.until)
    count = len(first := checked_seeds(options.seeds))
    plan = options.grid(with_further(first, options.max_seeds))
    reference = options.against if options.against is not None else _first(plan)
    with options.playing(plan) as started:
        while True:
            table = _played(started, count, options.show, reference, options.level)
            more = _next_count(table, precision, count)
            if more == count or count == len(plan.seeds):
                break
            count = min(more, len(plan.seeds))
        reached = more == count and not _unknown(table, precision)
        return Comparison(started.finish(), table, precision, reached, count)


def _first(plan: Grid) -> Any:
    """Return the label of the first policy; None if there is one policy only."""
    return plan.entries[0].label if len(plan.entries) > 1 else None


def _played(started: Playing, count: int, show: str, against: Any, level: float) -> ComparisonTable:
    """Play the first seeds of every variant and policy, and compare them."""
    plan = started.plan
    blocks = range(0, len(plan), len(plan.seeds))
    started.play(index for block in blocks for index in range(block, block + count))
    rows = started.rows()
    by = [*rows.varying, "policy"]
    return rows.table(by, show, against, level)


def _next_count(table: ComparisonTable, precision: Precision, count: int) -> int:
    """Return the number of seeds to look at next; *count* where nothing more is needed."""
    needed = [
        seeds_needed(one, precision.wanted(one)) or MAX_SEEDS
        for line in table.lines
        if (one := _interval(line, table, precision)) and _needs(one, precision)
    ]
    if not needed:
        # A single seed shows nothing of the spread.
        return count if count > 1 else count + 1
    growth = min(max(*needed, _LEAST_GROWTH * count), _MOST_GROWTH * count)
    return max(count + 1, math.ceil(growth))


def _interval(line: TableLine, table: ComparisonTable, precision: Precision) -> Interval | None:
    """Return the interval of a line that must be narrow; None if it is not known."""
    if precision.of_mean or not table.against:
        return line.estimate
    return line.difference.paired if line.difference else None


def _unknown(table: ComparisonTable, precision: Precision) -> bool:
    """Return whether an interval that must be narrow is not known, as after a failure."""
    known = [line for line in table.lines if _interval(line, table, precision)]
    differences = table.against and not precision.of_mean
    return len(known) < (table.rivals if differences else len(table.lines))


def _needs(estimate: Interval, precision: Precision) -> bool:
    """Return whether an interval is wider than wanted."""
    half = estimate.half
    return half is not None and half > precision.wanted(estimate)


def _interval_text(estimate: Interval) -> str:
    half = estimate.half
    assert half is not None
    return f"{estimate_text(estimate.mean, half)} ±{estimate_text(half, half)}"
