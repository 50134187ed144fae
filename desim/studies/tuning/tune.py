"""Searches the parameters of a policy or a model with the best mean score, or another figure.

A search keeps the highest of many means, so the score on the seeds of the search is biased upwards.
The result therefore always holds the scores of the best and the default parameters on held-out
seeds, and the difference between both kinds of seeds: the optimism.

Optuna proposes points, prunes them and holds the trials.
"""

import contextlib
import math
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, field

from desim.engine.grid import disjoint_seeds
from desim.engine.parameters import Choices, Range, read_ranges
from desim.engine.plan import Grid
from desim.engine.run.executors import Executor
from desim.engine.run.playing import Playing, opened_executor
from desim.engine.store import Store
from desim.errors import DesimError, UsageError
from desim.rows.failures import missing_text
from desim.schema.signatures import takes
from desim.short_repr import short_repr
from desim.show.labels import estimate_text
from desim.show.progress import Progress, shown_progress
from desim.studies.options import TuneOptions
from desim.studies.tuning.problem import PlanOf, Point, plan_of_point, probed
from desim.studies.tuning.tuned import Setting, Tuned, parameters_text

if TYPE_CHECKING:  # an extra
    import optuna

__all__ = ["Tuned", "tune"]

#: Most episodes of a search, and largest seed of the sampler.
_MAX_BUDGET, _MAX_SAMPLER_SEED = 100_000_000, 2**32 - 1

#: Batches of the seeds; after each one a trial may be pruned.
_BATCHES = 4

#: Most points in a row that the model or the policy may refuse.
_MAX_REFUSED = 100

#: Draws of the sampler to find a point that was not played yet; those behind the first are uniform.
_DRAWS, _FIRST_DRAWS = 1_000, 5

#: A trial is pruned if Wilcoxon's signed-rank test against the best one, paired by seed, has a
#: smaller p-value. It is below the usual 0.1 because the test is repeated after every batch.
_P_VALUE = 0.05

#: Fewest pairs with which the test can have a smaller p-value.
_LEAST_SEEDS = 5


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
    ranges, fixed = read_ranges({**(options.set or {}), **options.ranges})
    _check_number("sampler_seed", options.sampler_seed, 0, _MAX_SAMPLER_SEED)
    _check_number("budget", options.budget, 1, _MAX_BUDGET)
    ours, others = disjoint_seeds(options.seeds, options.held_out)
    given = options.model, options.policy, options.preset, fixed, options.limits
    plan_of = partial(plan_of_point, *given)
    plans = probed(plan_of, ranges, ours)
    sign = -1 if options.better(one.cells[0].model for one in plans) == "lower" else 1
    if all(one.cells[0].is_fixed for one in plans):
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
        pruner = optuna.pruners.WilcoxonPruner(p_threshold=_P_VALUE, n_startup_steps=_LEAST_SEEDS)
        study = optuna.create_study(direction="maximize", pruner=pruner)
        search = _Search(options, ranges, ours, sign, plan_of, study, store, players, show)
        try:
            search.run()
            return _report(search, plans[0], others)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(search.stopped_text()) from None


def _check_number(name: str, given: Any, low: int, high: int) -> None:
    if type(given) is not int or not low <= given <= high:
        raise UsageError(
            f"{name}={short_repr(given)} was given; it is a whole number from {low:,} to {high:,}"
        )


@contextlib.contextmanager
def _silent_optuna() -> Iterator[Any]:
    """Import Optuna, with its logging and its warnings of experimental parts silenced.

    Raises:
        UsageError: Optuna is not installed.
    """
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

    The sampler is seeded anew for every trial, so the same trials lead to the same points: a search
    that is continued finds the episodes of its earlier points in the store, and proposes them
    again.

    Attributes:
        options: The arguments of `tune`.
        ranges: By parameter.
        seeds: Those that every point plays.
        sign: 1, or -1 where lower is better: trials then hold negated values.
        plan_of: Returns the plan of a point on some seeds.
        study: Holds the trials, also those of points that were proposed again and not played.
        store: Keeps the results of episodes.
        players: The executor.
        progress: Receives the number of episodes so far and the budget, and failures.
        points: Those that were played or refused.
        episodes: How many were played.
        exhausted: Whether no further point was found.
        pruned: How many points were stopped early.
        failed: How many were refused, or had an episode without the figure.
        error: The first error of an episode or a point.
    """

    options: TuneOptions
    ranges: Mapping[str, Range | Choices]
    seeds: tuple[int, ...]
    sign: int
    plan_of: PlanOf
    study: "optuna.Study"
    store: Store
    players: Executor
    progress: Progress
    points: list[Point] = field(factory=list)
    episodes: int = 0
    exhausted: bool = False
    pruned: int = 0
    failed: int = 0
    error: str = ""

    def run(self) -> None:
        """Play points until the budget is used or no further point is found.

        Raises:
            DesimError: Too many points in a row were refused.
        """
        refused, budget = 0, self.options.budget
        while budget - self.episodes >= len(self.seeds):
            before = self.episodes
            self.progress(before, budget)
            proposed = self._proposed()
            if proposed is None:
                self.exhausted = True
                break
            fault = self._played(*proposed)
            self.points.append(proposed[1])
            self.error = self.error or fault
            refused = refused + 1 if self.episodes == before else 0
            if refused == _MAX_REFUSED:
                raise DesimError(f"{refused} points in a row were refused: {fault}")
        self.progress(budget, budget)

    @property
    def best(self) -> "optuna.trial.FrozenTrial | None":
        """The trial with the highest mean, the first of equal ones."""
        try:
            return self.study.best_trial
        except ValueError:  # none has played all seeds
            return None

    def point_of(self, trial: "optuna.Trial | optuna.trial.FrozenTrial") -> Point:
        """Return the values that a trial plays."""
        return {name: one.rounded(trial.params[name]) for name, one in self.ranges.items()}

    def natural(self, trial: "optuna.trial.FrozenTrial") -> tuple[float, ...]:
        """Return the figure of each seed that a trial has played."""
        return tuple(self.sign * score for score in trial.intermediate_values.values())

    def scores(self, plan: Grid) -> tuple[tuple[float | None, ...], str]:
        """Play the plan of a point; return the figure of each seed and the first error.

        Raises:
            UsageError: Kept episodes of the point are of other code or files.
        """
        frames = [cell.frame() for cell in plan.cells]
        kept = self.store.of(plan)
        failures = Progress(say=self.progress.say)  # points have counts of their own
        started = Playing(plan, kept, self.players, failures, frames=frames)
        started.play(range(len(plan)))
        rows = started.rows()
        errors = [row["error"] for row in rows if row["error"] is not None]
        return tuple(rows.counted(self.options.figure)), errors[0] if errors else ""

    def stopped_text(self) -> str:
        """Return the message of an interrupted search."""
        so_far = "no point has played all seeds"
        if best := self.best:
            mean = estimate_text(self.sign * (best.value or 0.0))
            point = parameters_text(self.point_of(best))
            so_far = f"best so far {point}, mean {mean} on training seeds"
        goes_on = "with --out it could be continued"
        if self.options.out is not None:
            goes_on = "the same command goes on"
        played = f"{self.episodes:,} of {self.options.budget:,} episodes"
        return f"stopped after {played}; {so_far}; {goes_on}"

    def _proposed(self) -> "tuple[optuna.Trial, Point] | None":
        """Return a trial of a point that has not been played; None if all draws were played."""
        from optuna.samplers import RandomSampler, TPESampler
        from optuna.trial import TrialState

        distributions = {name: _distribution(one) for name, one in self.ranges.items()}
        for attempt in range(_DRAWS):
            # The seed depends on the points so far alone.
            words = np.random.SeedSequence([self.options.sampler_seed, len(self.points), attempt])
            sampler = TPESampler if attempt < _FIRST_DRAWS else RandomSampler
            self.study.sampler = sampler(seed=int(words.generate_state(1)[0]))
            trial = self.study.ask(distributions)
            if (point := self.point_of(trial)) not in self.points:
                return trial, point
            self.study.tell(trial, state=TrialState.FAIL)
        return None

    def _played(self, trial: "optuna.Trial", point: Point) -> str:
        """Play the seeds of a point in batches until it is pruned or fails; return its error."""
        from optuna.trial import TrialState

        scores: list[float] = []
        error = ""
        size = math.ceil(len(self.seeds) / _BATCHES)
        for start in range(0, len(self.seeds), size):
            batch = self.seeds[start : start + size]
            try:
                plan = self.plan_of(point, batch)
            except UsageError as fault:
                return self._failed(trial, str(fault))
            found, why = self.scores(plan)
            error = error or why
            self.episodes += len(batch)
            self.progress(self.episodes, self.options.budget)
            known = [self.sign * score for score in found if score is not None]
            if missing := len(batch) - len(known):
                return self._failed(trial, error or missing_text(missing, len(batch)))
            for place, score in enumerate(known, start):
                trial.report(score, place)
            scores += known
            if len(scores) < len(self.seeds) and trial.should_prune():
                self.pruned += 1
                self.study.tell(trial, state=TrialState.PRUNED)
                return error
        self.study.tell(trial, sum(scores) / len(scores))
        return error

    def _failed(self, trial: "optuna.Trial", error: str) -> str:
        from optuna.trial import TrialState

        self.failed += 1
        self.study.tell(trial, state=TrialState.FAIL)
        return error


def _distribution(one: Range | Choices) -> "optuna.distributions.BaseDistribution":
    from optuna import distributions as kinds

    if isinstance(one, Choices):
        return kinds.CategoricalDistribution(one.values)
    if one.scale == "int":
        return kinds.IntDistribution(int(one.low), int(one.high))
    return kinds.FloatDistribution(one.low, one.high, log=one.scale == "log")


def _report(search: _Search, plan: Grid, held_out: tuple[int, ...]) -> Tuned:
    """Play the best and the default parameters on held-out seeds.

    Args:
        search: The finished search.
        plan: The plan of a point that is not refused.
        held_out: The seeds.

    Raises:
        DesimError: No point was played on all seeds.
    """
    best, cell = search.best, plan.cells[0]
    if best is None:
        why = search.error or "every one was pruned"
        raise DesimError(f"no point of the ranges was played to the last seed: {why}")
    point = search.point_of(best)
    unseen, _ = search.scores(search.plan_of(point, held_out))
    label, default = _default(search, held_out)
    return Tuned(
        model=f"{cell.name}/{cell.preset}",
        policy=label or cell.entry.label.partition(",")[0],
        ranges={name: str(one) for name, one in search.ranges.items()},
        seeds=search.seeds,
        held_out_seeds=held_out,
        best=Setting(point, search.natural(best), unseen),
        default=default,
        budget=search.options.budget,
        episodes=search.episodes,
        trials=len(search.points),
        pruned=search.pruned,
        failed=search.failed,
        exhausted=search.exhausted,
        edges=tuple(name for name, one in search.ranges.items() if one.on_edge(point[name])),
        figure=search.options.figure,
        better="lower" if search.sign < 0 else "higher",
    )


def _default(search: _Search, held_out: tuple[int, ...]) -> tuple[str, Setting | None]:
    """Play the policy and the model without the parameters that are searched.

    Returns:
        The policy's label and the scores; "" and None if some parameter has no default.
    """
    try:
        plan = search.plan_of({}, search.seeds)
    except UsageError:
        return "", None
    label = plan.cells[0].entry.label
    known, _ = search.scores(plan)
    if all(score is None for score in known):
        return label, None
    unseen, _ = search.scores(search.plan_of({}, held_out))
    return label, Setting({}, known, unseen)
