"""Plays seeds in batches until intervals that hold at every number of seeds are narrow enough."""

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from attrs import evolve, field, frozen

from desim.core.roles import knowledge_legend
from desim.errors import UsageError
from desim.rows.compare import reference_groups
from desim.rows.rows import Rows, policy_label
from desim.schema.signatures import takes
from desim.short_repr import short_repr
from desim.show.estimates import better_note, ends_cell, interval_head, number_cell
from desim.show.labels import estimate_text
from desim.show.table import Table, Tabular
from desim.statistics.sequences import ScoreRange
from desim.statistics.shape import shape, unseen
from desim.statistics.stopping import Goal, Look, look
from desim.studies.batches import Batches, batches
from desim.studies.options import CompareOptions

#: Lines that the sentence names.
_NAMED = 3

#: The text of an interval where every seed has the same episode.
EXACT = "deterministic"


def read_goal(until: float | str) -> Goal:
    """Return the width that a text such as `5%`, a share of the mean, or a number asks for."""
    share = isinstance(until, str) and until.rstrip().endswith("%")
    try:
        value = float(until.rstrip(" %") if isinstance(until, str) else until)
    except (TypeError, ValueError):
        value = math.nan
    if not (value > 0 and math.isfinite(value)):
        raise UsageError(
            f"until={short_repr(until)} was given; write a share of the mean such as 5%, or half "
            "the width of an interval in the unit of the score, above 0"
        )
    return Goal(value / 100 if share else value, share)


def _goal_text(goal: Goal) -> str:
    share = f"{100 * goal.half:g} % of the mean"
    return share if goal.is_share else f"±{estimate_text(goal.half)}"


@frozen
class ComparedLine:
    """A policy, with the parameters that vary.

    Attributes:
        mean: The mean of the figure; None if episodes have none.
        estimate: What the interval is of: the mean, or the difference to the reference.
        look: The interval of the mean, or of the difference to the reference; None for the
            reference, and where episodes have no figure.
        problem: Why the interval is not narrow enough; empty if it is, and for the reference.
    """

    group: tuple[Any, ...]
    seeds: int
    failed: int
    mean: float | None
    estimate: float | None
    look: Look | None
    problem: str

    @property
    def is_exact(self) -> bool:
        """Whether all seeds are known to have the same episode, so that nothing is estimated."""
        return self.look is not None and self.look.half == 0

    @property
    def reached(self) -> bool:
        """Whether the interval is narrow enough; true for the reference, which has none."""
        return not self.problem


@frozen(repr=False)
class Comparison(Tabular):
    """The result of a comparison that plays batches of seeds.

    Attributes:
        lines: The groups in the order of their first rows.
        against: The reference of the differences; empty where the intervals are those of means.
        level: The level at which all intervals hold together.
        bounds: The range of the figure; None if none is declared.
        minimise: The figure, if lower is better; otherwise empty.
    """

    rows: Rows = field(repr=False)
    by: tuple[str, ...]
    lines: tuple[ComparedLine, ...]
    against: str
    goal: Goal
    level: float
    bounds: ScoreRange | None
    minimise: str = ""

    @property
    def reached(self) -> bool:
        """Whether every interval is narrow enough."""
        return all(line.reached for line in self.lines)

    @property
    def seeds(self) -> int:
        """The largest number of seeds that a policy has played."""
        return max(line.seeds for line in self.lines)

    def tables(self) -> list[Table]:
        """Return the intervals, with the sentence below them."""
        table = self.rows.table(self.by)
        of_difference = ["difference"] if self.against else []
        heads = [*self.by, "seeds", "failed", "mean", *of_difference, interval_head(self.level)]
        # A reference has no interval, and is printed with as many digits as its rivals.
        halves = (line.look.half for line in self.lines if line.look)
        usual = max((half for half in halves if half), default=None)
        lines = [
            [*table.cells(its)[: len(self.by)], *self._cells(line, usual)]
            for its, line in zip(table.lines, self.lines, strict=True)
        ]
        lower = better_note(self.minimise, "lower") if self.minimise else []
        paired = [f"difference to {self.against}, paired by seed"] if self.against else []
        notes = [*lower, *paired, self.sentence]
        marks = knowledge_legend(table.knows.values())
        return [Table(heads, lines, range(len(self.by)), notes=notes, legend=marks)]

    def _cells(self, line: ComparedLine, usual: float | None) -> list[Any]:
        found = line.look
        half = (found.half if found else None) or usual
        means = [line.mean, line.estimate] if self.against else [line.mean]
        ends = ends_cell(found.low, found.high) if found else None
        numbers = (number_cell(each, half) for each in means)
        return [line.seeds, line.failed, *numbers, EXACT if line.is_exact else ends]

    @property
    def sentence(self) -> str:
        """A sentence on whether every interval is narrow enough, and what that states."""
        start, goal = f"{self.seeds:,} seeds: ", _goal_text(self.goal)
        if self.reached:
            return f"{start}within {goal}; {self._guarantee()}"
        wide = [
            f"{' and '.join(map(str, line.group))} ({line.seeds:,}: {line.problem})"
            for line in self.lines
            if not line.reached
        ]
        more = f"; and {len(wide) - _NAMED} more" * (len(wide) > _NAMED)
        return f"{start}not within {goal}: {'; '.join(wide[:_NAMED])}{more}"

    def _guarantee(self) -> str:
        """Return what holds, and on which condition."""
        counts = [line.look.seeds for line in self.lines if line.look and not line.is_exact]
        if not counts:
            return "deterministic: every seed has the same episode"
        level = f"{100 * self.level:g} %"
        if self.bounds is None:
            rare = f"{100 * unseen(min(counts)):.2g} %"
            return (
                f"together about {level} if no outcome rarer than {rare} matters that was not seen"
            )
        low, high = map(estimate_text, (self.bounds.low, self.bounds.high))
        return f"together {level} whenever one stops (values are between {low} and {high})"


@takes(CompareOptions)
def compare(options: CompareOptions) -> Comparison:
    """Play batches of seeds until every interval is as narrow as *until* states.

    With `until="5%"` half the interval of every mean is at most 5 % of any mean that it leaves
    possible. With a number, half the interval of every difference to the reference is at most that
    number, in the unit of the figure; with one group, of its mean.

    The intervals are confidence sequences, which hold at every number of seeds. With a range of the
    figure they hold for any distribution (betting); without one (t sequence) about, for outcomes
    that are not too rare to be seen, and not before there are enough seeds for the skewness. Where
    all values are equal and no range is declared nothing is known of the spread: no interval.
    Of seeds that share a case, the first is played.

    Raises:
        UsageError: See `sweep`; or *until*, *seeds*, *max_seeds* or the range is wrong,
            a value is outside the range, or seeds share so few cases that none can be added.
        WorkerDied, DesimError, KeyboardInterrupt: See `sweep`.
    """
    goal = read_goal(options.until)
    if goal.is_share and options.against is not None:
        raise UsageError(
            f"against={short_repr(options.against)} and until={_goal_text(goal)} were given; a "
            "share is one of each mean, so give a number, or leave out against"
        )
    with batches(options) as played:
        played.play(dict.fromkeys(played.cells, played.first))
        rows = played.playing.rows()
        by = (*rows.varying, "policy")
        keys = list(rows.groups(*by))
        against, entries = policy_label(options.against), played.playing.plan.entries
        if against is None and not goal.is_share and len(entries) > 1:
            against = entries[0].label
        pairs = reference_groups(keys, by, against)
        others = {keys.index(key): keys.index(other) for key, other in pairs.items()}
        measured: Mapping[int, int | None] = others or dict.fromkeys(played.cells)
        declared = bounds = played.bounds
        if bounds and others:
            bounds = bounds.of_differences()
        of_each = evolve(goal, alpha=(1 - options.level) / len(measured), bounds=bounds)
        found: dict[int, ComparedLine] = {}
        going = list(measured)
        for count in played.looks():
            references = [other for cell in going if (other := measured[cell]) is not None]
            played.play(dict.fromkeys([*going, *references], count))
            for cell in {*going, *references}:
                if declared and (values := played.values(cell)):
                    declared.scaled(values)  # differences may lie within, where values do not
            for cell in going:
                found[cell] = _compared_line(played, cell, keys[cell], of_each, measured[cell])
            # Further seeds of a constant would be played in vain if it is one.
            looks = {cell: look for cell in going if (look := found[cell].look)}
            going = [cell for cell, look in looks.items() if look.reason != "constant"]
            if all(found[cell].reached for cell in going):
                break
        lines = tuple(found.get(at) or _compared_line(played, at, keys[at]) for at in played.cells)
        rows, text = played.playing.finish(), str(against) if others else ""
        how = goal, options.level, played.bounds, options.minimise
        return Comparison(rows, by, lines, text, *how)


def _compared_line(
    played: Batches,
    cell: int,
    group: tuple[Any, ...],
    goal: Goal | None = None,
    other: int | None = None,
) -> ComparedLine:
    """Return a policy with its interval; without a goal it is the reference."""
    rows, found, problem = played.rows[cell], None, ""
    values = played.values(cell, other) if goal else []
    if goal and not values:
        problem = played.problem(cell, other)
    elif goal and played.is_fixed(cell, other):
        found = Look(len(values), values[0], values[0], "", shape(values[:1]))
    elif goal:
        found = look(values, goal)
        problem = "" if found.reached else _problem(found)
    estimate = fmean(values) if values else None
    counts = len(rows), len(rows.failed)
    return ComparedLine(group, *counts, played.mean(cell), estimate, found, problem)


def _problem(found: Look) -> str:
    """Return why an interval is not narrow enough."""
    described, half = found.shape, found.half
    if found.reason == "constant":
        text = f"all {estimate_text(described.atom)}; no interval; outcomes of up to"
        return f"{text} {100 * described.unseen:.2g} % may be unseen"
    width = "no interval yet" if half is None else f"±{estimate_text(half, half)}"
    skewed = f"; skewed, {described.needed:,} seeds would be needed"
    return width + skewed * described.is_skewed
