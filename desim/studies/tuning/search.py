"""Plays the points that a study proposes, batch by batch, until a budget of episodes is used."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import field, frozen

from desim.engine.keep.store import Store
from desim.engine.plan import Grid
from desim.engine.run.executors import Executor
from desim.engine.run.playing import Playing
from desim.errors import DesimError, UsageError
from desim.rows.failures import missing_text
from desim.show.labels import estimate_text
from desim.show.progress import Progress
from desim.studies.tuning.optuna_study import Point, Study, Trial, best_of
from desim.studies.tuning.tuned import Scores, parameters_text

if TYPE_CHECKING:  # an extra
    import optuna


#: Batches of the seeds; after each one a trial may be pruned.
_BATCHES = 4

#: Most points in a row that the model or the policy may refuse.
_MAX_REFUSED = 100


@frozen(eq=False)
class Search:
    """Plays points until the budget is used.

    Attributes:
        study: Proposes points and keeps trials.
        plan_of: Returns the grid of a point on some seeds.
        seeds: The seeds of the search.
        budget: Most episodes.
        players: The executor.
        store: Keeps the results of episodes.
        progress: Receives the number of episodes so far and the budget, and failures.
        exhausted: Holds True once the study has found no further point.
        samples: Scores of the report by point and seeds.
        figure: What is searched.
        sign: 1, or -1 where lower is better: trials then hold negated values.
    """

    study: Study
    plan_of: Callable[[Point, Sequence[int]], Grid]
    seeds: tuple[int, ...]
    budget: int
    players: Executor
    store: Store
    progress: Progress
    exhausted: list[bool] = field(factory=list)
    samples: dict[str, tuple[float | None, ...]] = field(factory=dict)
    figure: str = "score"
    sign: int = 1

    def run(self) -> None:
        """Play points until the budget is used or the study finds no further point.

        Raises:
            DesimError: Too many points in a row were refused.
        """
        refused = 0
        while self.budget - self.episodes >= len(self.seeds):
            self.progress(self.episodes, self.budget)
            proposed = self.study.propose()
            if proposed is None:
                self.exhausted.append(True)
                break
            done = self._played(*proposed)
            self.study.finish(proposed[0], done)
            refused = 0 if done.episodes else refused + 1
            if refused == _MAX_REFUSED:
                raise DesimError(f"{refused} points in a row were refused: {done.error}")
        self.progress(self.budget, self.budget)

    @property
    def episodes(self) -> int:
        """The number of episodes that have been played."""
        return sum(trial.episodes for trial in self.study.trials)

    @property
    def trials(self) -> list[Trial]:
        """The trials within the budget; a continued study may hold more."""
        return self.within(self.budget)

    def within(self, episodes: int) -> list[Trial]:
        """Return the first trials that together have played at most so many episodes."""
        found, total = [], 0
        for trial in self.study.trials:
            total += trial.episodes
            if total > episodes:
                break
            found.append(trial)
        return found

    def scores(self, plan: Grid) -> tuple[Scores, str]:
        """Play the grid of a point; return the figure of each seed and the first error.

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
        return rows.counted(self.figure), errors[0] if errors else ""

    def natural(self, scores: Sequence[float]) -> tuple[float, ...]:
        """Return the figure of the seeds of a trial."""
        return tuple(self.sign * score for score in scores)

    def stopped_text(self, *, resumable: bool) -> str:
        """Return the message of an interrupted search."""
        best = best_of(self.study.trials)
        so_far = "no point has played all seeds"
        if best:
            mean = estimate_text(self.sign * sum(best.scores) / len(best.scores))
            so_far = f"best so far {parameters_text(best.point)}, mean {mean} on training seeds"
        goes_on = "the same command goes on" if resumable else "with --out it could be continued"
        return f"stopped after {self.episodes:,} of {self.budget:,} episodes; {so_far}; {goes_on}"

    def _played(self, trial: "optuna.Trial", point: Point) -> Trial:
        """Play the seeds of a point in batches until it is pruned or fails."""
        scores: list[float] = []
        error, before = "", self.episodes
        for batch in _batches(self.seeds):
            try:
                plan = self.plan_of(point, batch)
            except UsageError as fault:
                return Trial(point, tuple(scores), "failed", len(scores), str(fault))
            found, why = self.scores(plan)
            error, played = error or why, len(scores) + len(batch)
            known = [self.sign * score for score in found if score is not None]
            self.progress(before + played, self.budget)
            if len(known) < len(batch):
                why = error or missing_text(len(batch) - len(known), len(batch))
                return Trial(point, tuple(scores), "failed", played, why)
            scores += known
            if self.study.pruned(trial, scores) and played < len(self.seeds):
                return Trial(point, tuple(scores), "pruned", played, error)
        return Trial(point, tuple(scores), "complete", len(scores), error)


def _batches(seeds: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the seeds in `_BATCHES` parts of about the same size."""
    size = math.ceil(len(seeds) / _BATCHES)
    return (seeds[start : start + size] for start in range(0, len(seeds), size))
