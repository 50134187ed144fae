"""A check of waits of random length: a redraw of the future draws their rest anew."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import simpy
from simpy.events import Timeout

from desim.core.events import Wait
from desim.core.world import World
from desim.faults import process_place
from desim.schema import encode_observation
from desim.studies.checks.answers import FittingAnswers
from desim.studies.checks.checked_world import CheckedWorld
from desim.studies.checks.course import CheckedCourse, played
from desim.studies.checks.outcomes import CheckAdvice, NotChecked
from desim.studies.checks.wording import counted

#: Other seeds and futures that are compared.
_OTHERS = (1, 2, 3)


class WaitPlace(NamedTuple):
    """A place in a model where processes wait, and the tick at which they began to.

    Attributes:
        place: The generator function with file and line.
        start: The tick.
    """

    place: str
    start: int


#: By place and start the ticks at which waits end.
Waits = Mapping[WaitPlace, Sequence[int]]


def waits(world: CheckedWorld) -> str:
    """Waits whose end is drawn, differs between futures, is observed, or is named by `kept`."""
    if world.model.models:
        raise NotChecked("the model is made of parts, which are checked by their own names")
    if world.model.kept is None:
        raise NotChecked("the model has no `redraw` and `kept`; see `futures`")
    if kept := tuple(world.model.kept):
        return f"the model names what a redraw keeps: {', '.join(kept)}"
    course, compared = world.ended()[0], 0
    for at in sorted({len(course.asked) * share // 4 for share in range(3)}):
        mine = _opened(world, course, at)
        others = [waits_of(_opened(world, course, at, seed=course.seed + n)) for n in _OTHERS]
        futures = [waits_of(_opened(world, course, at, future=n)) for n in _OTHERS]
        own = waits_of(mine)
        compared += len(own)
        for waiting, ends in own.items():
            drawn = any(other.get(waiting, ends) != ends for other in others)
            if drawn and all(future.get(waiting) == ends for future in futures):
                _check_observed(mine, waiting, ends)
    return f"{counted(compared, 'wait')}: none has a drawn end that no role observes"


def waits_of(course: CheckedCourse) -> Waits:
    """Return the waits that are under way in a course."""
    found: dict[WaitPlace, list[int]] = defaultdict(list)
    world = None if course.run is None else course.run.world
    for tick, event in pending(world) if world else ():
        for callback in event.callbacks or ():
            process = getattr(callback, "__self__", None)
            if isinstance(process, simpy.Process):
                found[WaitPlace(process_place(process), tick - int(event._delay))].append(tick)  # noqa: SLF001
    return {waiting: sorted(ends) for waiting, ends in found.items()}


def pending(world: World) -> Iterator[tuple[int, Timeout]]:
    """Yield the timeouts after the present tick that the world does not redraw itself."""
    for tick, _, event in world.scheduled():
        if tick > world.now and isinstance(event, Timeout) and not isinstance(event, Wait):
            yield tick, event


def _opened(
    world: CheckedWorld, course: CheckedCourse, at: int, *, seed: int | None = None, future: int = 0
) -> CheckedCourse:
    """Return an episode in which the question after *at* decisions is open."""
    futures = [(at, future)] if future else []
    number = course.seed if seed is None else seed
    return played(world.model, number, course.seats, FittingAnswers(), futures, most=at)


def _check_observed(course: CheckedCourse, waiting: WaitPlace, ends: Sequence[int]) -> None:
    """Raise the advice for waits whose ends appear in no open question."""
    assert course.run is not None
    now, seen = course.run.world.now, set[float]()
    for decision in course.run.open:
        kind = course.run.roles[decision.role].observation
        seen |= set(_numbers(json.loads(encode_observation(decision.observation, kind))))
    for end in ends:
        if not {end, end - now, end - waiting.start} & seen:
            advice = CheckAdvice(
                f"a wait from t={waiting.start} on has a drawn end, which is t={end} in every "
                f"future from t={now} on; `world.delay` draws its rest anew, or `kept` names it"
            )
            advice.place = waiting.place
            raise advice


def _numbers(plain: Any) -> Iterator[float]:
    match plain:
        case dict():
            for value in plain.values():
                yield from _numbers(value)
        case list():
            for value in plain:
                yield from _numbers(value)
        case int() | float():
            yield plain
