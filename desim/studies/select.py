"""Selects the best policy or parameters with as few episodes as a guarantee or a budget allows."""

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean
from typing import get_args

from attrs import field, frozen

from desim.errors import UsageError
from desim.rows.rows import Rows
from desim.schema.signatures import takes
from desim.show.column import Direction
from desim.show.estimates import better_note, number_cell
from desim.show.labels import estimate_text
from desim.show.table import Table, Tabular
from desim.statistics.elimination import Elimination
from desim.statistics.intervals import interval
from desim.statistics.ocba import allocation
from desim.statistics.shape import differences, shape, unseen
from desim.studies.batches import Batches, PlayedCells, batches
from desim.studies.options import Procedure, SelectOptions

#: Further episodes of a batch of a budget, as a share of those so far.
_BATCH = 0.2

#: Seeds from which a variance is estimated, at least.
_FEWEST_SEEDS = 2

#: Candidates by cell, those selected, and what is guaranteed.
_Found = tuple[Sequence[int], str]


@frozen
class Candidate:
    """A policy with the parameters of its model that vary.

    Attributes:
        name: Its label, and the values of the parameters that vary.
        mean: The mean of the figure; None after failures without a worst score.
        seeds: How many seeds were played.
        failed: How many of its episodes failed.
        selected: Whether it is the best, or one of several that may be the best.
    """

    name: str
    mean: float | None
    seeds: int
    failed: int
    selected: bool


@frozen(repr=False)
class Choice(Tabular):
    """The result of a selection.

    Attributes:
        best: The names of those selected: one, or several where the seeds did not suffice.
        candidates: All, those selected first, then by their means.
        episodes: How many episodes were played.
        sentence: What is guaranteed, in words.
        rows: One for each episode.
        figure: What the means are of.
        better: Whether higher or lower means are better.
    """

    best: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    episodes: int
    sentence: str
    rows: Rows = field(repr=False)
    figure: str = "score"
    better: Direction = "higher"

    @property
    def reached(self) -> bool:
        """Whether one is selected."""
        return len(self.best) == 1

    def tables(self) -> tuple[Table]:
        """Return the table of the candidates."""
        heads = ["candidate", "selected", "seeds", "failed", "mean"]
        cells = (
            [one.name, "yes" * one.selected, one.seeds, one.failed, number_cell(one.mean)]
            for one in self.candidates
        )
        notes = [*better_note(self.figure, self.better), self.sentence]
        return (Table(heads, cells, (0, 1), notes=notes),)


@takes(SelectOptions)
def select(options: SelectOptions) -> Choice:
    """Select the best of all policies and parameters, by the highest or the lowest mean.

    A higher score is better. Of another figure the model declares in `figures` which values
    are better, or *minimise* names it.

    "elimination" drops candidates that are worse for certain, by confidence sequences of paired
    differences, until one is left or known to be within *delta* of the best: with probability
    `1 - alpha`, for any distribution where a range of the figure is declared, otherwise if no
    outcome matters that is too rare to be seen. "ocba" gives a budget to those that may be the
    best.

    Raises:
        UsageError: See `sweep` and the procedures.
        WorkerDied, DesimError, KeyboardInterrupt: See `sweep`.
    """
    procedures: tuple[str, ...] = get_args(Procedure)
    if options.by not in procedures:
        raise UsageError(f"by={options.by!r} was given; possible: {', '.join(procedures)}")
    plan = options.grid([0])
    if len(plan.cells) < 2:  # noqa: PLR2004 (a choice needs two candidates)
        raise UsageError("one candidate was given; a selection is among at least 2")
    _check_goal(options)
    if not 0 < options.alpha < 1:
        raise UsageError(f"alpha={options.alpha:g} was given; it is above 0 and below 1")
    better = options.better(plan.models)
    made, sign = _batches(options), -1 if better == "lower" else 1
    with options.playing(made.plan) as started:
        played = PlayedCells(started, options.figure, made, sign)
        best, sentence = _selected(played, options)
        candidates = sorted(
            (
                Candidate(made.name(cell), played.mean(cell), len(of), len(of.failed), cell in best)
                for cell, of in played.rows.items()
            ),
            key=lambda one: (not one.selected, one.mean is None, -sign * (one.mean or 0)),
        )
        rows = started.finish()
        names = tuple(made.name(cell) for cell in best)
        count, found = len(rows), tuple(candidates)
        return Choice(names, found, count, sentence, rows, options.figure, better)


def _check_goal(options: SelectOptions) -> None:
    """Refuse a selection without its goal: a difference that matters, or a budget.

    Raises:
        UsageError: The goal is missing, or that of the other procedures is given.
    """
    if options.by != "ocba":
        if options.delta is None:
            raise UsageError(
                f"{options.by} needs delta, the smallest difference that matters; or choose ocba, "
                "which needs a budget and guarantees nothing"
            )
        if options.budget is not None:
            raise UsageError(f"budget={options.budget} was given; only ocba has a budget")
        return
    if options.delta is not None:
        raise UsageError(f"delta={options.delta:g} was given; ocba uses its budget and no delta")
    if options.budget is None:
        raise UsageError("ocba needs a budget, the number of episodes of all candidates together")


def _batches(options: SelectOptions) -> Batches:
    """Return the seeds.

    Raises:
        UsageError: See `batches`; or the first batch is too small, or larger than the budget.
    """
    if options.by == "elimination":
        return batches(options)
    made = batches(options, any_first=True)
    if options.budget is not None and options.budget < made.first * len(made.plan.cells):
        raise UsageError(
            f"budget={options.budget} was given, but the first batch has {made.first} seeds of "
            f"{len(made.plan.cells)} candidates"
        )
    if made.first < _FEWEST_SEEDS:
        raise UsageError(f"one seed was given; ocba begins with at least {_FEWEST_SEEDS}")
    return made


def _selected(played: PlayedCells, options: SelectOptions) -> _Found:
    """Play the first batch, then as many seeds as the procedure needs."""
    made = played.batches
    played.play(dict.fromkeys(range(len(made.plan.cells)), made.first))
    known = [cell for cell in range(len(made.plan.cells)) if played.values(cell)]
    out = [cell for cell in range(len(made.plan.cells)) if cell not in known]
    texts = ", ".join(f"{made.name(cell)} ({played.problem(cell)})" for cell in out)
    if not known:
        raise UsageError(f"every candidate has episodes without a {options.figure}: {texts}")
    best, sentence = _best_of(played, options, known)
    return best, sentence + f"; left out: {texts}" * bool(out)


def _best_of(played: PlayedCells, options: SelectOptions, known: list[int]) -> _Found:
    """Select among the candidates that have a figure."""
    if len(known) == 1:
        return known, "no other candidate has a mean"
    if played.batches.is_fixed():
        best = max(known, key=lambda cell: played.values(cell)[0])
        return [best], "deterministic: every seed has the same episode"
    if options.by == "ocba":
        assert options.budget is not None
        return _by_budget(played, known, options.budget)
    assert options.delta is not None
    return _eliminated(played, known, options.delta, options.alpha)


def _eliminated(played: PlayedCells, known: list[int], delta: float, alpha: float) -> _Found:
    """Drop candidates that are worse for certain until one can be chosen."""
    bounds = played.batches.bounds
    if bounds and played.sign < 0:
        bounds = bounds.negated
    procedure = Elimination(len(known), delta, bounds, alpha)
    for count in played.batches.looks():
        played.play({known[place]: count for place in procedure.left})
        _refuse_failures(played, [known[place] for place in procedure.left])
        values = [played.values(cell) for cell in known]
        procedure.look(values)
        if procedure.chosen is not None:
            within, rare = estimate_text(float(delta)), 100 * unseen(procedure.seeds_of_sentence)
            sentence = f"with probability {1 - alpha:g} the best, or within {within} of it"
            if not bounds:
                sentence += f", if no outcome rarer than {rare:.2g} % matters that was not seen"
            return [known[procedure.chosen]], sentence
        if bounds is None and _are_constant([values[place] for place in procedure.left]):
            break
    cells = [known[place] for place in procedure.left]
    seeds, left = len(played.rows[cells[0]]), [played.values(cell) for cell in cells]
    if bounds is not None or not _are_constant(left):
        apart = estimate_text(float(delta))
        return cells, f"{seeds:,} seeds do not tell {len(cells)} candidates apart by {apart}"
    same = "are equal" if left.count(left[0]) == len(left) else "differ by the same"
    return cells, (
        f"{seeds:,} seeds: {len(cells)} candidates {same} on every seed; outcomes of up to "
        f"{100 * unseen(procedure.seeds):.2g} % may be unseen, which a range of the figure would "
        "bound"
    )


def _are_constant(values: Sequence[Sequence[float]]) -> bool:
    """Return whether the differences of all alternatives are the same on every seed."""
    return all(shape(differences(*pair)).constant for pair in combinations(values, 2))


def _refuse_failures(played: PlayedCells, cells: Sequence[int]) -> None:
    """Refuse candidates that have failed behind the first batch.

    Raises:
        UsageError: A candidate has an episode without the figure.
    """
    for cell in cells:
        if not played.values(cell):
            failed = played.rows[cell].failed
            why = f", the first: {failed[0]['error']}" if failed else ""
            raise UsageError(
                f"{played.batches.name(cell)} cannot be compared with the others: "
                f"{played.problem(cell)}{why}"
            )


def _by_budget(played: PlayedCells, known: list[int], budget: int) -> _Found:
    """Allocate episodes to the candidates; return the one with the best mean."""
    most = len(played.batches.plan.seeds)
    while (used := sum(map(len, played.rows.values()))) < budget:
        estimates = {cell: interval(played.values(cell)) for cell in known}
        further = allocation(estimates, min(budget - used, max(len(known), int(_BATCH * used))))
        counts = {cell: len(played.rows[cell]) for cell in known}
        wanted = {cell: min(most, counts[cell] + more) for cell, more in further.items()}
        if all(counts[cell] == count for cell, count in wanted.items()):
            break
        played.play(wanted)
        _refuse_failures(played, known)
    best = max(known, key=lambda cell: fmean(played.values(cell)))
    end = "highest" if played.sign > 0 else "lowest"
    return [best], (
        f"{end} mean of {len(known)} after {used:,} episodes (optimal computing budget "
        "allocation); no guarantee"
    )
