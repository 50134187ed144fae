"""Searches the parameters of a policy or a model with the best mean score, or another figure.

A search keeps the highest of many means, so the score on the seeds of the search is biased upwards.
The result therefore always holds the scores of the best and the default parameters on held-out
seeds, and the difference between both kinds of seeds: the optimism.

Optuna proposes points, prunes them and holds the trials.
"""

import contextlib
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen

from desim.engine.grid import checked_seeds
from desim.engine.parameters import Choices, Range
from desim.engine.plan import Grid
from desim.engine.run.executors import Executor, opened_executor
from desim.engine.run.playing import Playing
from desim.engine.store import Store
from desim.errors import DesimError, UsageError
from desim.rows.notes import missing_text
from desim.schema import to_plain
from desim.schema.signatures import takes
from desim.short_repr import short_repr
from desim.show.column import Direction
from desim.show.estimates import better_note, estimate_cells, number_cell
from desim.show.labels import estimate_text
from desim.show.progress import Progress, shown_progress
from desim.show.table import Table, Tabular
from desim.statistics.intervals import Interval, interval
from desim.studies.options import TuneOptions
from desim.studies.problem import Point, Problem

#: Most episodes of a search, and largest seed of the sampler.
_MAX_BUDGET, _MAX_SAMPLER_SEED = 100_000_000, 2**32 - 1

#: Batches of the seeds; after each one a trial may be pruned.
_BATCHES = 4

#: Draws of the sampler to find a point that was not played yet and is not refused; those behind the
#: first are uniform.
_DRAWS, _FIRST_DRAWS = 1_000, 5

#: A trial is pruned if Wilcoxon's signed-rank test against the best one, paired by seed, has a
#: smaller p-value. It is below the usual 0.1 because the test is repeated after every batch.
_P_VALUE = 0.05

#: Fewest pairs with which the test can have a smaller p-value.
_LEAST_SEEDS = 5

#: Scores by place of the seed; None where an episode failed and its model declares no worst score.
Scores = tuple[float | None, ...]


@frozen
class Setting:
    """Scores of parameters, none for the defaults, on the seeds of the search and on others."""

    parameters: Mapping[str, Any]
    training: Scores = field(repr=False)
    held_out: Scores = field(repr=False)


@frozen(repr=False)
class Tuned(Tabular):
    """The result of a search.

    Means are withheld (None) where an episode failed and the model declares no worst score.

    Attributes:
        ranges: The ranges as texts, by parameter.
        seeds: The seeds of the search.
        best: The parameters with the best mean on the training seeds.
        default: The policy and the model without these parameters; None if they have no defaults.
        budget: Episodes that the search might play; it played *episodes*.
        trials: How many points were played; *pruned* of them were stopped before the last seed,
            and *failed* were refused or had an episode that failed without a score.
        exhausted: Whether the search ended because it found no further point.
        edges: Parameters near an end of their range: the range may limit the result.
    """

    model: str
    policy: str
    ranges: Mapping[str, str]
    seeds: tuple[int, ...] = field(repr=False)
    held_out_seeds: tuple[int, ...] = field(repr=False)
    best: Setting
    default: Setting | None
    budget: int
    episodes: int
    trials: int
    pruned: int
    failed: int
    exhausted: bool
    edges: tuple[str, ...]
    figure: str = "score"
    better: Direction = "higher"

    @property
    def training(self) -> Interval | None:
        """The mean score of the best parameters on the training seeds; biased upwards."""
        return _mean(self.best.training)

    @property
    def held_out(self) -> Interval | None:
        """Their mean score on held-out seeds."""
        return _mean(self.best.held_out)

    @property
    def difference(self) -> Interval | None:
        """Their gain over the defaults on held-out seeds, paired by seed."""
        return _mean(self.best.held_out, self.default.held_out) if self.default else None

    @property
    def optimism(self) -> float | None:
        """Mean score on training seeds less that on held-out seeds; luck of seeds included."""
        return _less(self.training, self.held_out)

    @property
    def optimism_of_difference(self) -> float | None:
        """Difference on training seeds less that on held-out seeds: the bias of the search."""
        return _less(self._gain, self.difference)

    @property
    def _gain(self) -> Interval | None:
        return _mean(self.best.training, self.default.training) if self.default else None

    def plain(self) -> dict[str, Any]:
        """Return everything as plain values."""
        figures = ("training", "held_out", "difference", "optimism", "optimism_of_difference")
        plain: dict[str, Any] = to_plain(self)
        return {**plain, **{name: to_plain(getattr(self, name)) for name in figures}}

    def tables(self) -> tuple[Table]:
        """Return the table of the scores."""
        means = {"best, training seeds": self.training, "best, held-out seeds": self.held_out}
        biases = {"optimism: training less held out": self.optimism}
        if self.default is not None:
            means["defaults, training seeds"] = _mean(self.default.training)
            means["defaults, held-out seeds"] = _mean(self.default.held_out)
            means["best less defaults, held-out seeds, paired"] = self.difference
            biases["optimism of the difference to the defaults"] = self.optimism_of_difference
        lines = [[name, *estimate_cells(one, sd=False)] for name, one in means.items()]
        lines += [[name, number_cell(value), ""] for name, value in biases.items()]
        title = f"{self.model}, {self.policy}: best {parameters_text(self.best.parameters)}"
        heads = [self.figure, "mean", "95 % interval"]
        return (Table(heads, lines, title=title, notes=self._notes()),)

    def _notes(self) -> Iterator[str]:
        yield from better_note(self.figure, self.better)
        yield (
            f"{self.episodes:,} of {self.budget:,} episodes, {self.trials:,} points, "
            f"{self.pruned:,} of them pruned, {self.failed:,} failed; {len(self.seeds)} training "
            f"and {len(self.held_out_seeds)} held-out seeds."
        )
        if self.exhausted:
            yield "The search ended early: it found no further point in the ranges."
        if self.default is None:
            yield "The defaults were not played: some parameter has no default."
        elif self._gain and self._gain.mean * (-1 if self.better == "lower" else 1) < 0:
            yield "No point that was played is as good as the defaults on the training seeds."
        if self.edges:
            yield f"{', '.join(self.edges)}: near an end of the range, which may limit it."
        if self.held_out is None:
            yield f"An episode on a held-out seed has no {self.figure}, so there is no mean."


def _mean(scores: Scores, less: Scores = ()) -> Interval | None:
    """Return the mean of scores, less others of the same seeds; None if a score is missing."""
    others = less or (0.0,) * len(scores)
    pairs = [(a, b) for a, b in zip(scores, others, strict=True) if a is not None if b is not None]
    return interval([a - b for a, b in pairs]) if len(pairs) == len(scores) else None


def _less(one: Interval | None, other: Interval | None) -> float | None:
    return one.mean - other.mean if one and other else None


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """Return parameters as `--set` takes them.

    >>> parameters_text({"amount": 2e7, "policy.target": 18})
    'amount=20000000 policy.target=18'
    """
    return " ".join(
        f"{name}={str(value).removesuffix('.0') if isinstance(value, float) else value}"
        for name, value in parameters.items()
    )


@takes(TuneOptions)
def tune(options: TuneOptions) -> Tuned:
    """Search ranges for the parameters with the best mean, with Optuna.

    A higher score is better. Of another figure the model declares in `figures` which values
    are better, or *minimise* names it.

    Points are proposed by a tree-structured Parzen estimator (Bergstra et al. 2011). All of them
    play the same seeds. After every quarter of the seeds a point is pruned if the best one so far
    is better by Wilcoxon's signed-rank test of the pairs that share a seed. A failed episode counts
    with the declared worst score of its model; without one the point fails. One point is played
    after the other, and its seeds in parallel, so the result does not depend on *jobs*.

    If model and policy are deterministic, the first seed alone is played.

    Raises:
        UsageError: An argument is wrong, Optuna is not installed, *out* holds episodes of other
            code, or a name does not exist.
        DesimError: No point was played on all seeds without a failure; also as `sweep`.
        KeyboardInterrupt: On Ctrl-C; its text holds the best parameters so far.
    """
    _check_number("sampler_seed", options.sampler_seed, 0, _MAX_SAMPLER_SEED)
    _check_number("budget", options.budget, 1, _MAX_BUDGET)
    ours, held_out = checked_seeds(options.seeds), options.held_out
    after = max(ours) + 1
    others = checked_seeds(range(after, after + len(ours)) if held_out is None else held_out)
    if shared := {*ours} & {*others}:
        raise UsageError(
            f"seed {min(shared)} is in both training and held-out seeds; they must differ"
        )
    searched = Problem(
        options.model,
        options.policy,
        {**(options.set or {}), **options.ranges},
        seeds=ours,
        preset=options.preset,
        limits=options.limits,
    )
    cells = [plan.cells[0] for plan in searched.probed()]
    better = options.better(cell.model for cell in cells)
    if all(cell.is_fixed for cell in cells):
        ours, others = ours[:1], others[:1]
    if options.budget < len(ours):
        raise UsageError(
            f"a budget of {options.budget:,} episodes was given; one point alone plays "
            f"{len(ours):,} seeds"
        )
    with (
        _silent_optuna() as optuna,
        Store(options.out) as store,
        opened_executor(options.executor, options.jobs, len(ours)) as players,
        shown_progress(options.progress) as show,
    ):
        study = optuna.create_study(
            direction="minimize" if better == "lower" else "maximize",
            pruner=optuna.pruners.WilcoxonPruner(
                p_threshold=_P_VALUE, n_startup_steps=_LEAST_SEEDS
            ),
        )
        search = _Search(options, searched, ours, optuna, study, store, players, show)
        try:
            exhausted = search.run()
            best = search.best
            if best is None:
                why = search.error or "every one was pruned"
                raise DesimError(f"no point of the ranges was played to the last seed: {why}")
            point, known = search.point_of(best), tuple(best.intermediate_values.values())
            unseen = search.scores(searched.plan(point, others))
            label, default = search.default(others)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(search.stopped_text()) from None
    ranges, cell = searched.ranges, cells[0]
    return Tuned(
        model=f"{cell.name}/{cell.preset}",
        policy=label or cell.entry.label.partition(",")[0],
        ranges={name: str(one) for name, one in ranges.items()},
        seeds=ours,
        held_out_seeds=others,
        best=Setting(point, known, unseen),
        default=default,
        budget=options.budget,
        episodes=search.episodes,
        trials=len(search.points),
        pruned=search.pruned,
        failed=search.failed,
        exhausted=exhausted,
        edges=tuple(name for name, one in ranges.items() if one.on_edge(point[name])),
        figure=options.figure,
        better=better,
    )


def _check_number(name: str, given: Any, low: int, high: int) -> None:
    if type(given) is not int or not low <= given <= high:
        raise UsageError(
            f"{name}={short_repr(given)} was given; it is a whole number from {low:,} to {high:,}"
        )


@contextlib.contextmanager
def _silent_optuna() -> Iterator[Any]:
    """Import Optuna, with its logging and its warnings of experimental parts silenced."""
    try:
        import optuna
    except ImportError:
        raise UsageError("tuning needs Optuna: pip install 'desim[tune]'") from None
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield optuna
    finally:
        optuna.logging.set_verbosity(before)


@define
class _Search:
    """Plays the points that Optuna proposes until the budget is used.

    The sampler is seeded anew for every trial, so that a search that is continued proposes its
    earlier points again, whose episodes are in the store.
    """

    options: TuneOptions
    problem: Problem
    seeds: tuple[int, ...]
    optuna: Any
    study: Any
    store: Store
    players: Executor
    progress: Progress
    points: list[Point] = field(factory=list)
    episodes: int = 0
    pruned: int = 0
    failed: int = 0
    error: str = ""

    def run(self) -> bool:
        """Play points; return whether no further point was found before the budget was used."""
        budget, exhausted = self.options.budget, False
        while not exhausted and budget - self.episodes >= len(self.seeds):
            self.progress(self.episodes, budget)
            trial = self._proposed()
            exhausted = trial is None
            if trial is not None:
                self._play(trial)
        self.progress(budget, budget)
        return exhausted

    @property
    def best(self) -> Any:
        """The trial with the best mean, the first of equal ones."""
        try:
            return self.study.best_trial
        except ValueError:  # none has played all seeds
            return None

    def point_of(self, trial: Any) -> Point:
        """Return the values that a trial plays."""
        return {n: one.rounded(trial.params[n]) for n, one in self.problem.ranges.items()}

    def scores(self, plan: Grid) -> Scores:
        """Play the plan of a point; return the figure of each seed."""
        failures = Progress(say=self.progress.say)  # points have counts of their own
        started = Playing(plan, self.store.of(plan), self.players, failures)
        started.play(range(len(plan)))
        rows = started.rows()
        self.error = self.error or next((row["error"] for row in rows if row["error"]), "")
        return tuple(rows.counted(self.options.figure))

    def stopped_text(self) -> str:
        """Return the message of an interrupted search."""
        so_far, goes_on = "no point has played all seeds", "the same command goes on"
        if best := self.best:
            mean, point = estimate_text(best.value or 0.0), parameters_text(self.point_of(best))
            so_far = f"best so far {point}, mean {mean} on training seeds"
        if self.options.out is None:
            goes_on = "with --out it could be continued"
        played = f"{self.episodes:,} of {self.options.budget:,} episodes"
        return f"stopped after {played}; {so_far}; {goes_on}"

    def _proposed(self) -> Any:
        """Return a trial of a new point that is not refused; None if all draws are known."""
        ranges, samplers = self.problem.ranges, self.optuna.samplers
        for attempt in range(_DRAWS):
            # The seed depends on the points so far alone.
            words = np.random.SeedSequence([self.options.sampler_seed, len(self.points), attempt])
            by_chance = attempt >= _FIRST_DRAWS
            sampler = samplers.RandomSampler if by_chance else samplers.TPESampler
            self.study.sampler = sampler(seed=int(words.generate_state(1)[0]))
            trial = self.study.ask({n: self._distribution(r) for n, r in ranges.items()})
            if (point := self.point_of(trial)) not in self.points:
                self.points.append(point)
                try:
                    self.problem.plan(point, self.seeds)
                except UsageError as fault:
                    self.error = self.error or str(fault)
                    self.failed += 1
                else:
                    return trial
            self.study.tell(trial, state=self.optuna.trial.TrialState.FAIL)
        return None

    def _play(self, trial: Any) -> None:
        """Play the seeds of a point in batches until it is pruned or an episode has no figure."""
        states = self.optuna.trial.TrialState
        scores: list[float] = []
        size = math.ceil(len(self.seeds) / _BATCHES)
        for start in range(0, len(self.seeds), size):
            batch = self.seeds[start : start + size]
            found = self.scores(self.problem.plan(self.point_of(trial), batch))
            self.episodes += len(batch)
            self.progress(self.episodes, self.options.budget)
            known = [score for score in found if score is not None]
            if missing := len(batch) - len(known):
                self.error = self.error or missing_text(missing, len(batch))
                self.failed += 1
                self.study.tell(trial, state=states.FAIL)
                return
            for place, score in enumerate(known, start):
                trial.report(score, place)
            scores += known
            if len(scores) < len(self.seeds) and trial.should_prune():
                self.pruned += 1
                self.study.tell(trial, state=states.PRUNED)
                return
        self.study.tell(trial, sum(scores) / len(scores))

    def _distribution(self, one: Range | Choices) -> Any:
        kinds = self.optuna.distributions
        if isinstance(one, Choices):
            return kinds.CategoricalDistribution(one.values)
        if one.scale == "int":
            return kinds.IntDistribution(int(one.low), int(one.high))
        return kinds.FloatDistribution(one.low, one.high, log=one.scale == "log")

    def default(self, held_out: Sequence[int]) -> tuple[str, Setting | None]:
        """Play without the parameters that are searched; "" and None if one has no default."""
        try:
            plan = self.problem.plan({}, self.seeds)
        except UsageError:
            return "", None
        known, setting = self.scores(plan), None
        if any(score is not None for score in known):
            setting = Setting({}, known, self.scores(self.problem.plan({}, held_out)))
        return plan.cells[0].entry.label, setting
