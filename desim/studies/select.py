"""Selects the best policy or parameters with as few episodes as a guarantee or a budget allows."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from attrs import field, frozen

from desim.errors import UsageError
from desim.jobs.plan.grid import Grid, checked_seeds, with_further
from desim.jobs.rows.failures import counted
from desim.jobs.rows.groups import estimated
from desim.jobs.rows.rows import Rows
from desim.jobs.run.playing import Playing
from desim.schema.signatures import takes
from desim.show.estimates import estimate_cells, interval_head
from desim.show.table import Table, Tabular
from desim.statistics.intervals import Interval
from desim.statistics.sequential.kim_nelson import MIN_FIRST, KimNelson
from desim.statistics.sequential.ocba import allocation, chance_of_selection
from desim.studies.study_options import Procedure, SelectOptions

#: The names of the procedures.
PROCEDURES: tuple[Procedure, ...] = get_args(Procedure)

#: Further seeds of a batch, as a share of those so far.
_BATCH = 0.2

_LEVEL = 0.95


@frozen
class Candidate:
    """A policy with the parameters of its model that vary.

    Attributes:
        name: Its label, and the values of the parameters that vary.
        estimate: The mean of the figure; None after failures without a worst score.
        seeds: How many seeds were played.
        failed: How many of its episodes failed.
        selected: Whether it is the best, or one of several that may be the best.
    """

    name: str
    estimate: Interval | None
    seeds: int
    failed: int
    selected: bool


@frozen
class Choice(Tabular):
    """The result of a selection.

    Attributes:
        best: The names of those selected: one, or several where the seeds did not suffice.
        candidates: All, those selected first, then by their means.
        episodes: How many episodes were played.
        sentence: What is guaranteed, in words.
        rows: One for each episode.
    """

    best: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    episodes: int
    sentence: str
    rows: Rows = field(repr=False)

    @property
    def reached(self) -> bool:
        """Whether one is selected."""
        return len(self.best) == 1

    def tables(self) -> tuple[Table]:
        """Return the table of the candidates."""
        heads = ["candidate", "selected", "seeds", "failed", "mean", interval_head(_LEVEL)]
        cells = (
            [
                one.name,
                "yes" if one.selected else "",
                one.seeds,
                one.failed,
                *estimate_cells(one.estimate, sd=False),
            ]
            for one in self.candidates
        )
        return (Table(heads, cells, (0, 1), notes=[self.sentence]),)


@takes(SelectOptions)
def select(options: SelectOptions) -> Choice:
    """Select the best of all policies and parameters.

    The procedure "kn" plays seeds until all candidates but one are known not to be better by
    *delta*: the one selected is the best with a probability of `1 - alpha`. "ocba" gives further
    seeds to those that may still be the best, until the best has this probability, or until the
    budget is used. A higher figure is better.

    Raises:
        UsageError: See `sweep` and the procedures.
        WorkerDied, DesimError, KeyboardInterrupt: See `sweep`.
    """
    show, delta, max_seeds = options.show, options.delta, options.max_seeds
    by = options.by or ("ocba" if delta is None else "kn")
    if by not in PROCEDURES:
        raise UsageError(f"by={by!r} was given; possible: {', '.join(PROCEDURES)}")
    if by == "kn" and delta is None:
        raise UsageError("the procedure kn needs delta, the smallest difference that matters")
    begun_with = checked_seeds(options.seeds)
    first = len(begun_with)
    if first < MIN_FIRST:
        raise UsageError(f"one seed was given; a selection begins with at least {MIN_FIRST}")
    with_further(begun_with, max_seeds)
    count = len(options.grid(begun_with[:1]))
    most = max_seeds * (count if by == "ocba" else 1)
    plan = options.grid(with_further(begun_with, most))
    with options.playing(plan) as started:
        starts = range(0, len(plan), len(plan.seeds))
        race = _Race(started, show, dict(zip(_names(plan), starts, strict=True)))
        if by == "kn":
            assert delta is not None
            best, sentence = _kim_nelson(race, delta, options.alpha, first, max_seeds)
        else:
            best, sentence = _ocba(race, options.alpha, first, most)
        candidates = [race.candidate(name, selected=name in best) for name in race.blocks]
        rows = started.finish()
        return Choice(tuple(best), tuple(sorted(candidates, key=_place)), len(rows), sentence, rows)


@frozen(eq=False)
class _Race:
    """The candidates of a grid, each of which has played its first seeds.

    Attributes:
        playing: The grid, and what was played.
        show: The figure.
        blocks: By candidate, the index of its first job.
        rows: By candidate, the rows so far.
    """

    playing: Playing
    show: str
    blocks: Mapping[str, int]
    rows: dict[str, Rows] = field(factory=dict)

    def play(self, seeds: Mapping[str, int]) -> None:
        """Play the first seeds of some candidates: as many as given."""
        self.playing.play(
            index
            for name, count in seeds.items()
            for index in range(self.blocks[name], self.blocks[name] + count)
        )
        rows = self.playing.rows()
        # Rows are in the order of their jobs, and every candidate has played its first seeds.
        start = 0
        for name in self.blocks:
            count = max(len(self.rows.get(name, ())), seeds.get(name, 0))
            self.rows[name] = rows[start : start + count]
            start += count

    def values(self, name: str) -> list[float]:
        """Return the figure of every seed; none at all if an episode has none."""
        values = counted(self.rows[name], self.show)
        known = [value for value in values if value is not None]
        return known if len(known) == len(values) else []

    def known(self) -> list[str]:
        """Return the candidates that have the figure for every seed.

        Raises:
            UsageError: Every candidate has an episode without the figure.
        """
        found = [name for name in self.blocks if self.values(name)]
        if not found:
            raise UsageError(f"every candidate has episodes without a {self.show}, as they failed")
        return found

    def candidate(self, name: str, *, selected: bool) -> Candidate:
        """Return what is known of a candidate."""
        rows = self.rows[name]
        estimate = estimated(self.values(name), _LEVEL)
        return Candidate(name, estimate, len(rows), len(rows.failed), selected)


def _kim_nelson(
    race: _Race, delta: float, alpha: float, first: int, most: int
) -> tuple[list[str], str]:
    """Return the selected candidates and what is guaranteed."""
    race.play(dict.fromkeys(race.blocks, first))
    names = race.known()
    if len(names) == 1:
        return names, "all other candidates have failed episodes"
    procedure = KimNelson(names, delta, alpha, first)
    while procedure.best is None and procedure.seeds < most:
        count = len(race.rows[procedure.left[0]])
        if procedure.seeds == count:
            count = min(most, count + max(1, int(_BATCH * count)))
            race.play(dict.fromkeys(procedure.left, count))
        _screen(race, procedure)
    if procedure.best is None:
        left = len(procedure.left)
        return procedure.left, f"{most:,} seeds do not tell {left} candidates apart by {delta:g}"
    return procedure.left, (
        f"with probability {1 - alpha:g} the best, or within {delta:g} of it (Kim and Nelson)"
    )


def _screen(race: _Race, procedure: "KimNelson[str]") -> None:
    """Screen the seeds that were played and not screened yet.

    Raises:
        UsageError: An episode failed behind the first stage, so its candidate cannot be compared.
    """
    values = {name: race.values(name) for name in procedure.left}
    for name in [name for name, each in values.items() if not each]:
        raise UsageError(
            f"{name} has failed on a later seed: {race.rows[name].failed[0]['error']}; it cannot "
            "be compared with the others"
        )
    for seed in range(procedure.seeds, len(next(iter(values.values())))):
        procedure.add({name: values[name][seed] for name in procedure.left})


def _ocba(race: _Race, alpha: float, first: int, budget: int) -> tuple[list[str], str]:
    """Return the candidate with the highest mean, and how probably it is the best."""
    race.play(dict.fromkeys(race.blocks, first))
    while True:
        known = {
            name: estimate
            for name in race.known()
            if (estimate := estimated(race.values(name), _LEVEL))
        }
        used = sum(map(len, race.rows.values()))
        best = max(known, key=lambda name: known[name].mean)
        chance = chance_of_selection(known)
        if len(known) == 1 or chance >= 1 - alpha or used >= budget:
            break
        more = min(budget - used, max(len(known), int(_BATCH * used)))
        further = allocation(known, more)
        race.play({name: known[name].n + count for name, count in further.items() if count})
    return [best], (
        f"the best with a probability of about {chance:.3f} after {used:,} episodes (optimal "
        "computing budget allocation; an estimate, no guarantee)"
    )


def _names(plan: Grid) -> list[str]:
    """Return a name for each variant and policy: the parameters that vary, and the policy."""
    variants = [cell.variant for cell in plan.cells]
    seen = [{"model": v.name, "preset": v.preset, **v.params} for v in variants]
    varying = [k for k in dict.fromkeys(k for one in seen for k in one) if _varies(seen, k)]
    return [
        " ".join([*(f"{k}={one.get(k)}" for k in varying), cell.entry.label])
        for one, cell in zip(seen, plan.cells, strict=True)
    ]


def _varies(seen: Sequence[Mapping[str, Any]], key: str) -> bool:
    return len({repr(one.get(key)) for one in seen}) > 1


def _place(candidate: Candidate) -> tuple[bool, float]:
    mean = candidate.estimate.mean if candidate.estimate else float("-inf")
    return not candidate.selected, -mean
