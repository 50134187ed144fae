"""One pass over a record, from whose decisions other courses of the episode are played."""

from functools import partial
from typing import Any, Self

from desim.collector import rare_collections
from desim.core.run import Run
from desim.core.streams import seed_globals
from desim.core.world import Decision
from desim.episodes.ahead.child_process import FasterWay, in_child
from desim.episodes.futures.past import Arm, Past
from desim.episodes.futures.what_if import Course, outcome
from desim.episodes.prefix import move_on


class RecordPass:
    """Plays other courses of a record; those of later decisions continue one repetition of it.

    The scores are those of `outcome`, which repeats the record for each of them. A run that has
    repeated the record up to a decision plays every course of that decision in a child process,
    once that takes less time. With limits, which count the repeated part of each course, or
    redraws on record, every course repeats the record.

    Args:
        past: The record.

    Attributes:
        past: As given.
    """

    def __init__(self, past: Past) -> None:
        self.past = past
        self._way = FasterWay()
        self._run: Run[Any] | None = None
        #: The decisions that the run has repeated, with their ticks.
        self._repeated: list[tuple[int, Decision]] = []

    def __reduce__(self) -> tuple[type[Self], tuple[Past]]:
        # A worker begins a pass of its own; a run cannot be pickled.
        return type(self), (self.past,)

    def outcome(self, arm: Arm, future: int | None) -> float:
        """Return the score of a course; see `what_if.outcome`."""
        repeated = partial(outcome, self.past, arm, future)
        if not self._can_continue(arm):
            return repeated()
        return self._way.score(arm.at, repeated, partial(self._in_child, arm, future))

    def _can_continue(self, arm: Arm) -> bool:
        past = self.past
        return not past.limits and not past.header.futures and arm.at < len(past.moments)

    def _in_child(self, arm: Arm, future: int | None) -> float | None:
        run = self._run_at(arm.at)
        return None if run.is_observed else in_child(partial(self._continued, run, arm, future))

    def _run_at(self, at: int) -> Run[Any]:
        """Return a run in which the instant of a decision is open, and no answer is given."""
        run = self._run
        if run is None or run.decisions > at:
            header = self.past.header
            run = self._run = Run(self.past.model, header.seed, [*header.policies])
            move_on(run)
            self._repeated.clear()
        with rare_collections():
            while run.decisions + len(run.handed_out) <= at:
                self._repeat_instant(run)
        return run

    def _repeat_instant(self, run: Run[Any]) -> None:
        for number, decision in enumerate(run.open, run.decisions):
            past = self.past.moments[number]
            run.answer(decision, past.action, past.delay)
            self._repeated.append((run.world.now, decision))
        move_on(run)

    def _continued(self, run: Run[Any], arm: Arm, future: int | None) -> float:
        """Return the score of a course that goes on in a run; for a child process."""
        seed_globals(self.past.header.seed)
        if future is not None:
            run.redraw(future)
        course = Course.of(self.past, arm, future)
        for t, decision in self._repeated:
            course.observe(t, decision)
        return course.play(run)
