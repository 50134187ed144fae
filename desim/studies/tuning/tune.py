"""Searches the parameters of a policy or a model with the best mean score, or another figure.

A search keeps the highest of many means, so the score on the seeds of the search is biased upwards.
The result therefore always holds the scores of the best and the default parameters on held-out
seeds, and the difference between both kinds of seeds: the optimism.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from desim.engine.grid import disjoint_seeds
from desim.engine.keep.store import Store
from desim.engine.parameters import Choices, Range, read_ranges
from desim.engine.plan import Grid
from desim.engine.run.playing import opened_executor
from desim.errors import DesimError, UsageError
from desim.schema.signatures import takes
from desim.short_repr import short_repr
from desim.show.progress import shown_progress
from desim.studies.options import TuneOptions
from desim.studies.tuning.optuna_study import Point, Study, best_of, silent_optuna
from desim.studies.tuning.problem import plan_of_point, probed
from desim.studies.tuning.search import Search
from desim.studies.tuning.tuned import Bought, Setting, Tuned, mean_of, parameters_text

__all__ = ["SHARES", "Tuned", "tune"]

#: The parts of the budget for which the result holds the best point so far.
SHARES = (0.1, 0.3, 1.0)

#: Most episodes of a search, and largest seed of the sampler.
_MAX_BUDGET, _MAX_SAMPLER_SEED = 100_000_000, 2**32 - 1


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
    budget, sampler_seed = options.budget, options.sampler_seed
    found, fixed = read_ranges({**(options.set or {}), **options.ranges})
    _check_number("sampler_seed", sampler_seed, 0, _MAX_SAMPLER_SEED)
    _check_number("budget", budget, 1, _MAX_BUDGET)
    ours, others = disjoint_seeds(options.seeds, options.held_out)
    given = options.model, options.policy, options.preset, fixed, options.limits
    plan_of = partial(plan_of_point, *given)
    plans = probed(plan_of, found, ours)
    sign = -1 if options.better(one.cells[0].model for one in plans) == "lower" else 1
    if all(one.cells[0].is_fixed for one in plans):
        ours, others = ours[:1], others[:1]
    if budget < len(ours):
        raise UsageError(
            f"a budget of {budget:,} episodes was given; one point alone plays {len(ours):,} seeds"
        )
    with (
        silent_optuna(),
        Store(options.out) as store,
        opened_executor(options.executor, options.jobs, len(ours)) as players,
        shown_progress(options.progress) as show,
    ):
        study = Study(found, sampler_seed)
        search = Search(
            study, plan_of, ours, budget, players, store, show, figure=options.figure, sign=sign
        )
        try:
            search.run()
            return _report(search, plans[0], found, others)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                search.stopped_text(resumable=options.out is not None)
            ) from None


def _report(
    search: Search, plan: Grid, ranges: Mapping[str, Range | Choices], held_out: tuple[int, ...]
) -> Tuned:
    """Play the best and the default parameters on held-out seeds.

    Raises:
        DesimError: No trial is complete.
    """
    trials = search.trials
    best = best_of(trials)
    if best is None:
        why = next((trial.error for trial in trials if trial.error), "every one was pruned")
        raise DesimError(f"no point of the ranges was played to the last seed: {why}")
    cell = plan.cells[0]
    return Tuned(
        model=f"{cell.name}/{cell.preset}",
        policy=_label(search),
        ranges={name: str(one) for name, one in ranges.items()},
        seeds=search.seeds,
        held_out_seeds=held_out,
        best=Setting(
            best.point, search.natural(best.scores), _kept_scores(search, best.point, held_out)
        ),
        default=_default(search, held_out),
        bought=tuple(_bought(search, share, held_out) for share in SHARES),
        budget=search.budget,
        episodes=sum(trial.episodes for trial in trials),
        trials=len(trials),
        pruned=sum(trial.state == "pruned" for trial in trials),
        failed=sum(trial.state == "failed" for trial in trials),
        exhausted=bool(search.exhausted),
        edges=tuple(name for name, one in ranges.items() if one.on_edge(best.point[name])),
        figure=search.figure,
        better="lower" if search.sign < 0 else "higher",
    )


def _default(search: Search, held_out: tuple[int, ...]) -> Setting | None:
    """Play the defaults; None if some parameter has no default."""
    try:
        search.plan_of({}, search.seeds)
    except UsageError:
        return None
    known = _kept_scores(search, {}, search.seeds)
    if all(score is None for score in known):
        return None
    return Setting({}, known, _kept_scores(search, {}, held_out))


def _bought(search: Search, share: float, held_out: tuple[int, ...]) -> Bought:
    trials = search.within(int(share * search.budget))
    played = sum(trial.episodes for trial in trials)
    best = best_of(trials)
    if best is None:
        return Bought(share, played, None, None, None)
    unseen = _kept_scores(search, best.point, held_out)
    known = search.natural(best.scores)
    return Bought(share, played, best.point, mean_of(known), mean_of(unseen))


def _kept_scores(search: Search, point: Point, seeds: tuple[int, ...]) -> tuple[float | None, ...]:
    """Return the scores of a point; each sample is played once."""
    name = f"{parameters_text(point) or 'defaults'} on {seeds[0]}"
    if name not in search.samples:
        search.samples[name] = tuple(search.scores(search.plan_of(point, seeds))[0])
    return search.samples[name]


def _label(search: Search) -> str:
    """Return the name of the policy without the parameters that are searched."""
    try:
        return search.plan_of({}, search.seeds).cells[0].entry.label
    except UsageError:
        entry = search.plan_of(search.trials[0].point, search.seeds).cells[0].entry
        return entry.label.partition(",")[0]


def _check_number(name: str, given: Any, low: int, high: int) -> None:
    if type(given) is not int or not low <= given <= high:
        raise UsageError(
            f"{name}={short_repr(given)} was given; it is a whole number from {low:,} to {high:,}"
        )
