"""Checks of redrawn futures: what was observed stays, and what comes is drawn anew."""

from typing import Any

import msgspec

from desim.core.events import Decision
from desim.core.model import kept_facts
from desim.core.run import Run
from desim.episodes.replay import first_difference
from desim.schema import encode_observation
from desim.studies.checks.answers import FittingAnswers
from desim.studies.checks.checked_world import CheckedWorld
from desim.studies.checks.course import CheckedCourse, played
from desim.studies.checks.outcomes import CheckAdvice, CheckFailed, NotChecked
from desim.studies.checks.wording import counted

#: Decisions of an episode at which the future is redrawn, about.
_REDRAWS = 40

#: Futures that are compared.
_FUTURES = (1, 2, 3)


def redraws(world: CheckedWorld) -> str:
    """An open question shows nothing that a redraw of the future replaces."""
    course = world.ended()[0]
    every = max(1, len(course.asked) // _REDRAWS)
    redraw = _RedrawingAnswers(every)
    again = played(world.model, course.seed, course.seats, redraw)
    if again.fault is not None:
        raise again.fault
    if redraw.changing:
        raise NotChecked("an observation that is made twice differs, so it cannot be compared")
    return f"{counted(redraw.count, 'observation')}: the same after a redraw of the future"


class _RedrawingAnswers:
    """Redraws the future at every so many decisions, and compares what they observe then.

    Attributes:
        count: The decisions that were compared.
        changing: The decisions whose observation differs where nothing was redrawn.
    """

    def __init__(self, every: int) -> None:
        self._answers, self._every, self._number = FittingAnswers(), every, 0
        self.count = self.changing = 0

    def __call__(self, run: Run[Any], decision: Decision) -> Any:
        """Return the answer to an open decision.

        Raises:
            CheckFailed: The observation differs after the redraw.
        """
        self._number += 1
        if not self.changing and (self._number - 1) % self._every == 0:
            self._compare(run, decision)
        return self._answers(run, decision)

    def _compare(self, run: Run[Any], decision: Decision) -> None:
        kind = run.roles[decision.role].observation
        before = encode_observation(decision.observation, kind)
        if encode_observation(decision.observe(), kind) != before:
            self.changing += 1
            return
        run.redraw(self._number)
        self.count += 1
        after = encode_observation(decision.observe(), kind)
        if after != before:
            decode = msgspec.json.decode
            text = first_difference(decode(before), decode(after))
            where = f"what {decision.role!r} observes at t={run.world.now}"
            raise CheckFailed(
                f"{where} changes when the future is redrawn, so it shows a later draw: {text}",
                decision.observe,
            )


def futures(world: CheckedWorld) -> str:
    """Futures have the past of the episode, and differ from it unless nothing is left to draw."""
    course, _ = world.first()
    model, at = world.model, len(course.asked) // 3
    twins = [world.played(course.seed, futures=[(at, future)]) for future in _FUTURES]
    for future, twin in zip(_FUTURES, twins, strict=True):
        _check_past(course, twin, at, future)
    kept = kept_facts(model)
    if any(fact != fact.strip() or not fact for fact in kept) or len(set(kept)) < len(kept):
        raise CheckFailed(f"`kept` names facts that are empty or twice there: {kept}", type(model))
    others = [one for one in twins if one.difference(course)[0]]
    where = f"after decision {at} of {len(course.asked)}"
    if others:
        return f"{len(others)} of {len(twins)} futures differ {where}; kept: {_listed(kept)}"
    if model.deterministic:
        return "the model is declared deterministic, and futures are equal"
    if model.kept is not None:
        return f"nothing is left to draw {where}; kept: {_listed(kept)}"
    text = f"futures {where} do not differ: what was drawn ahead stays, and the model has no"
    raise CheckAdvice(f"{text} `redraw` and `kept`", type(model).begin)


def _check_past(course: CheckedCourse, twin: CheckedCourse, at: int, future: int) -> None:
    if twin.fault is not None:
        raise CheckFailed(f"future {future}: {twin.fault}") from twin.fault
    for one, two in zip(course.asked[: at + 1], twin.asked, strict=False):
        if (one.t, one.role, one.seen) != (two.t, two.role, two.seen):
            text = f"future {future} has another past: {one.role!r} at t={one.t} observed "
            found = first_difference(one.plain, two.plain)
            raise CheckFailed(f"{text}something else: {found}", one.observe)


def _listed(facts: tuple[str, ...]) -> str:
    return ", ".join(facts) or "nothing"
