"""Plays the recorded action of a decision and its alternatives; for `regret`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from attrs import frozen

from desim.engine.policies import inside, players
from desim.engine.run.play_job import in_time
from desim.episodes.counterfactual import Arm, Past, outcome
from desim.errors import DesimError
from desim.short_repr import short_repr
from desim.studies.decisions.questions import Question


@frozen
class Judged:
    """The scores of a question's recorded action and of its best alternative.

    Attributes:
        best: The index of the best other action among the actions; 0 without other actions.
        recorded: Scores of the recorded action, one for each future on which they are compared.
        others: Scores of the best other action.
    """

    best: int
    recorded: tuple[float, ...]
    others: tuple[float, ...]


@frozen
class Judge:
    """Plays the continuations of some questions; a worker receives one.

    Attributes:
        past: The record, without observations.
        then: The policies of all roles, which play on after the action.
        fresh: Roles whose policies observe nothing before they decide.
        seeds: The seeds of the futures; None for the true one.
    """

    past: Past
    then: Mapping[str, Any]
    fresh: frozenset[str]
    seeds: tuple[int | None, ...]

    def __call__(self, questions: Sequence[Question]) -> Iterator[bytes]:
        """Yield the scores of some questions as JSON of a `Judged`; see `in_time`."""
        return in_time(questions, self._judged_to_json, lambda _: self)

    def parts(self) -> Iterator[Any]:
        """Yield the classes and functions of the model and the policies, whose files are noted."""
        yield from inside(self.past.model)
        yield from players(self.past.model, self.then)

    def _judged_to_json(self, question: Question) -> bytes:
        return msgspec.json.encode(self.judged(question))

    def episodes(self, question: Question) -> int:
        """Return how many episodes a question takes."""
        others = len(question.actions) - 1
        choosing, estimating = parted(self.seeds, others)
        return len(choosing) * others + 2 * len(estimating) if others else 0

    def judged(self, question: Question) -> Judged:
        """Choose the best other action on some futures, and compare it on the others.

        The best of several means is biased upwards on the futures that chose it, so these futures
        are not used for the estimate.
        """
        others = range(1, len(question.actions))
        if not others:
            return Judged(0, (), ())
        choosing, estimating = parted(self.seeds, len(others))
        means = [sum(row) for row in self.scores(question, others, choosing)] if choosing else [0.0]
        # Ties go to the first option, so that the result does not depend on chance.
        best = 1 + means.index(max(means))
        recorded, other = self.scores(question, (0, best), estimating)
        return Judged(best, recorded, other)

    def scores(
        self, question: Question, numbers: Sequence[int], seeds: Sequence[int | None]
    ) -> list[tuple[float, ...]]:
        """Return the scores of some actions, future by future."""
        actions = [question.actions[number] for number in numbers]
        arms = [Arm(question.at, action, self.then, self.fresh) for action in actions]
        return [tuple(self._one_by_one(arm, seeds)) for arm in arms]

    def _one_by_one(self, arm: Arm, seeds: Sequence[int | None]) -> Iterator[float]:
        try:
            yield from (outcome(self.past, arm, seed) for seed in seeds)
        except DesimError as fault:
            what = f"decision {arm.at + 1} answered with {short_repr(arm.action)}"
            raise type(fault)(f"{what}: {fault}") from fault


def parted(
    seeds: Sequence[int | None], others: int
) -> tuple[Sequence[int | None], Sequence[int | None]]:
    """Return the futures on which the best of some other actions is chosen, and the rest.

    With one other action nothing is chosen. A single future serves for both.

    >>> parted((0, 1, 2), 4), parted((0, 1, 2), 1), parted((None,), 2)
    (((0,), (1, 2)), ((), (0, 1, 2)), ((None,), (None,)))
    """
    if others <= 1:
        return seeds[:0], seeds
    half = len(seeds) // 2
    return (seeds[:half], seeds[half:]) if half else (seeds, seeds)
