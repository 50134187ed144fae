"""The study of a tuning: Optuna proposes points from the finished trials.

The sampler is seeded anew for every trial, so the same trials lead to the same points: a tuning
that is continued finds the episodes of its earlier points in the store, and proposes them again.
"""

import contextlib
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from desim.engine.parameters import Choices, Range
from desim.errors import UsageError

if TYPE_CHECKING:  # an extra
    import optuna


#: A value by parameter.
Point = Mapping[str, Any]

#: Draws of the sampler, and then uniform random draws, to find a point that was not played yet.
_DRAWS, _RANDOM_DRAWS = 5, 1_000

#: A trial is pruned if Wilcoxon's signed-rank test against the best one, paired by seed, has a
#: smaller p-value. It is below the usual 0.1 because the test is repeated after every batch.
_P_VALUE = 0.05

#: Fewest pairs with which the test can have a smaller p-value.
_LEAST_SEEDS = 5


@frozen
class Trial:
    """A finished trial.

    Attributes:
        point: The point that was played.
        scores: The scores of the training seeds that were played, in the seeds' order.
        state: `complete`, `pruned`, or `failed` if an episode failed that has no score.
        error: The error of a failed trial, or of an episode that counts with the worst score; or
            empty.
    """

    point: Point
    scores: tuple[float, ...]
    state: Literal["complete", "pruned", "failed"]
    episodes: int
    error: str = ""


class Study:
    """Proposes points; used inside `silent_optuna`.

    Args:
        ranges: By parameter.
        seed: The seed of the sampler.

    Attributes:
        trials: The finished ones, in order.
    """

    def __init__(self, ranges: Mapping[str, Range | Choices], seed: int) -> None:
        import optuna

        self._ranges, self._seed = ranges, seed
        self._study = optuna.create_study(direction="maximize", pruner=optuna.pruners.NopPruner())
        self._distributions = {name: self._distribution(one) for name, one in ranges.items()}
        self.trials: list[Trial] = []

    def propose(self) -> "tuple[optuna.Trial, Point] | None":
        """Return a point that has not been played; None if all draws were played."""
        from optuna.samplers import TPESampler
        from optuna.trial import TrialState

        played = [trial.point for trial in self.trials]
        for attempt in range(_DRAWS):
            self._study.sampler = TPESampler(seed=self._seed_of(attempt))
            trial = self._study.ask(self._distributions)
            if (point := self._point(trial.params)) not in played:
                return trial, point
            self._study.tell(trial, state=TrialState.FAIL)
        return self._by_chance(played)

    def pruned(self, trial: "optuna.Trial", scores: Sequence[float]) -> bool:
        """Report the scores so far; return whether the best trial is clearly better."""
        # The sampler ranks pruned trials by the last score.
        trial.report(scores[-1], len(scores) - 1)
        best = best_of(self.trials)
        if best is None or len(scores) < _LEAST_SEEDS or fmean(best.scores) <= fmean(scores):
            return False
        from scipy.stats import wilcoxon  # its import takes a second

        less = [one - other for one, other in zip(scores, best.scores, strict=False)]
        found = wilcoxon(less, zero_method="zsplit", alternative="less")
        return bool(found.pvalue < _P_VALUE)

    def finish(self, trial: "optuna.Trial", done: Trial) -> None:
        """Add a finished trial."""
        from optuna.trial import TrialState as States

        mean = sum(done.scores) / len(done.scores) if done.state == "complete" else None
        state = {"complete": States.COMPLETE, "pruned": States.PRUNED, "failed": States.FAIL}
        self._study.tell(trial, mean, state[done.state])
        self.trials.append(done)

    def _by_chance(self, played: Sequence[Point]) -> "tuple[optuna.Trial, Point] | None":
        rng = random.Random(self._seed_of(_DRAWS))  # noqa: S311 (a search, no secret)
        for _ in range(_RANDOM_DRAWS):
            drawn = {name: _drawn(one, rng) for name, one in self._ranges.items()}
            if (point := self._point(drawn)) not in played:
                self._study.enqueue_trial(drawn)
                return self._study.ask(self._distributions), point
        return None

    def _seed_of(self, attempt: int) -> int:
        """Return the seed of a draw, which depends on the finished trials alone."""
        import numpy as np

        words = np.random.SeedSequence([self._seed, len(self.trials), attempt])
        return int(words.generate_state(1)[0])

    def _point(self, drawn: Mapping[str, Any]) -> Point:
        return {name: one.rounded(drawn[name]) for name, one in self._ranges.items()}

    def _distribution(self, one: Range | Choices) -> "optuna.distributions.BaseDistribution":
        from optuna import distributions as kinds

        if isinstance(one, Choices):
            return kinds.CategoricalDistribution(one.values)
        if one.scale == "int":
            return kinds.IntDistribution(int(one.low), int(one.high))
        return kinds.FloatDistribution(one.low, one.high, log=one.scale == "log")


def best_of(trials: Iterable[Trial]) -> Trial | None:
    """Return the complete trial with the highest mean, the first of equal ones."""
    complete = [trial for trial in trials if trial.state == "complete"]
    return max(complete, key=lambda one: math.fsum(one.scores), default=None)


@contextlib.contextmanager
def silent_optuna() -> Iterator[None]:
    """Import Optuna, with its logging silenced.

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
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _drawn(one: Range | Choices, rng: random.Random) -> Any:
    if isinstance(one, Choices):
        return rng.choice(one.values)
    if one.scale == "int":
        return rng.randint(int(one.low), int(one.high))
    if one.scale == "float":
        return rng.uniform(one.low, one.high)
    return min(one.high, math.exp(rng.uniform(math.log(one.low), math.log(one.high))))
