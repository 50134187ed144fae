"""Selects the best policy or parameters with as few episodes as a guarantee or a budget allows."""

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

from attrs import field, frozen

from desim.errors import UsageError
from desim.rows.rows import Rows
from desim.schema.signatures import takes
from desim.show.column import Direction
from desim.show.estimates import better_note, number_cell
from desim.show.labels import estimate_text
from desim.show.table import Table, Tabular
from desim.statistics.elimination import Elimination, check_delta
from desim.statistics.intervals import interval
from desim.statistics.ocba import allocation
from desim.statistics.shape import differences, shape, unseen
from desim.studies.batches import Batches, batches
from desim.studies.options import SelectOptions

#: Further episodes of a batch of a budget, as a share of those so far.
_BATCH = 0.2

#: Seeds from which a variance is estimated, at least.
_FEWEST_SEEDS = 2

#: The cells that are selected, and what is guaranteed.
_Found = tuple[Sequence[int], str]


@frozen
class Candidate:
    """A policy with the parameters that vary; *mean* is None after failures without a worst score.

    *selected* is the best, or each of several that may be the best.
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
        sentence: What is guaranteed, in words.
    """

    best: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    sentence: str
    rows: Rows = field(repr=False)
    figure: str = "score"
    better: Direction = "higher"

    @property
    def episodes(self) -> int:
        """The number of episodes played."""
        return len(self.rows)

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

    With *delta*, candidates that are worse for certain are dropped, by confidence sequences of
    paired differences, until one is left or known to be within *delta* of the best: with
    probability `1 - alpha`, for any distribution where a range of the figure is declared, otherwise
    if no outcome matters that is too rare to be seen. A *budget* is given to those that may be the
    best (optimal computing budget allocation).

    Raises:
        UsageError: See `sweep`; or not one of *delta* and *budget* was given, or it is too small.
        WorkerDied, DesimError, KeyboardInterrupt: See `sweep`.
    """
    if (options.delta is None) == (options.budget is None):
        raise UsageError(
            "a selection takes one of delta, the smallest difference that matters, and budget, the "
            "number of episodes of all candidates together"
        )
    if options.delta is not None:
        check_delta(options.delta)
    if not 0 < options.alpha < 1:
        raise UsageError(f"alpha={options.alpha:g} was given; it is above 0 and below 1")
    better = options.better(options.grid([0]).models)
    sign = -1 if better == "lower" else 1
    with batches(options, sign, any_first=options.budget is not None) as played:
        best, sentence = _selected(played, options)
        candidates = [
            Candidate(played.name(at), played.mean(at), len(of), len(of.failed), at in best)
            for at, of in played.rows.items()
        ]
        candidates.sort(key=lambda c: (not c.selected, c.mean is None, -sign * (c.mean or 0)))
        names, rows = tuple(map(played.name, best)), played.playing.finish()
        return Choice(names, tuple(candidates), sentence, rows, options.figure, better)


def _selected(played: Batches, options: SelectOptions) -> _Found:
    """Play the first batch, then as many seeds as the procedure needs."""
    count, budget = len(played.cells), options.budget
    if count < 2:  # noqa: PLR2004 (a choice needs two candidates)
        raise UsageError("one candidate was given; a selection is among at least 2")
    if budget is not None and budget < played.first * count:
        raise UsageError(
            f"budget={budget} was given, but the first batch has {played.first} seeds of {count} "
            "candidates"
        )
    if budget is not None and played.first < _FEWEST_SEEDS:
        raise UsageError(f"one seed was given; a budget begins with at least {_FEWEST_SEEDS}")
    played.play(dict.fromkeys(played.cells, played.first))
    known = [cell for cell in played.cells if played.values(cell)]
    out = [cell for cell in played.cells if cell not in known]
    texts = ", ".join(f"{played.name(cell)} ({played.problem(cell)})" for cell in out)
    if not known:
        raise UsageError(f"every candidate has episodes without a {options.figure}: {texts}")
    if len(known) == 1:
        found: _Found = known, "no other candidate has a mean"
    elif played.is_fixed(*played.cells):
        best = max(known, key=lambda cell: played.values(cell)[0])
        found = [best], "deterministic: every seed has the same episode"
    elif budget is not None:
        found = _by_budget(played, known, budget)
    else:
        assert options.delta is not None
        found = _eliminated(played, known, options.delta, options.alpha)
    return found[0], found[1] + f"; left out: {texts}" * bool(out)


def _eliminated(played: Batches, known: list[int], delta: float, alpha: float) -> _Found:
    """Drop candidates that are worse for certain until one can be chosen."""
    procedure = Elimination(len(known), delta, played.bounds, alpha)
    for count in played.looks():
        played.play({known[place]: count for place in procedure.left})
        values = [played.known(cell) for cell in known]
        procedure.look(values)
        if procedure.chosen is not None:
            within, rare = estimate_text(float(delta)), 100 * unseen(procedure.seeds_of_sentence)
            sentence = f"with probability {1 - alpha:g} the best, or within {within} of it"
            if not played.bounds:
                sentence += f", if no outcome rarer than {rare:.2g} % matters that was not seen"
            return [known[procedure.chosen]], sentence
        pairs = combinations([values[place] for place in procedure.left], 2)
        constant = not played.bounds and all(shape(differences(*each)).constant for each in pairs)
        if constant:
            break
    cells, apart = [known[place] for place in procedure.left], estimate_text(float(delta))
    sentence = f"{procedure.seeds:,} seeds do not tell {len(cells)} candidates apart by {apart}"
    if constant:
        sentence += (
            "; their differences are the same on every seed, and outcomes of up to "
            f"{100 * unseen(procedure.seeds):.2g} % may be unseen, which a range of the figure "
            "would bound"
        )
    return cells, sentence


def _by_budget(played: Batches, known: list[int], budget: int) -> _Found:
    """Allocate episodes to the candidates; return the one with the best mean."""
    most = len(played.playing.plan.seeds)
    while (used := sum(map(len, played.rows.values()))) < budget:
        estimates = {cell: interval(played.known(cell)) for cell in known}
        further = allocation(estimates, min(budget - used, max(len(known), int(_BATCH * used))))
        counts = {cell: len(played.rows[cell]) for cell in known}
        wanted = {cell: min(most, counts[cell] + more) for cell, more in further.items()}
        if all(counts[cell] == count for cell, count in wanted.items()):
            break
        played.play(wanted)
    best = max(known, key=lambda cell: fmean(played.known(cell)))
    end = "highest" if played.sign > 0 else "lowest"
    return [best], (
        f"{end} mean of {len(known)} after {used:,} episodes (optimal computing budget "
        "allocation); no guarantee"
    )
