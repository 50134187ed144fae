"""An episode that a check plays: every question, every answer, and how it ended."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from attrs import define, field, frozen

from desim.core.events import Decision
from desim.core.limits import Limits
from desim.core.model import Model
from desim.core.result import Result
from desim.core.roles import Role
from desim.core.run import Run
from desim.episodes.replay import first_difference, open_decisions
from desim.faults import RAISED
from desim.schema import encode_observation, to_plain

#: Limits of the episodes of checks, without a limit of time: the same world has the same findings.
LIMITS = Limits(events=2_000_000, decisions=10_000)

Choose = Callable[[Run[Any], Decision], Any]


@frozen
class Asked:
    """A question of a course, and its answer.

    Attributes:
        t: The tick.
        role: The role.
        observation: What it observed.
        seen: The observation as JSON, made when the question was handed out.
        wire: The answer as a tagged JSON object.
        observe: The function of the model that made the observation.
        spec: The role, with the actions that the question takes.
    """

    t: int
    role: str
    observation: Any = field(repr=False)
    seen: bytes
    wire: bytes
    observe: Callable[[], Any] = field(repr=False)
    spec: Role = field(repr=False)

    @property
    def plain(self) -> dict[str, Any]:
        """The question and the answer as plain values."""
        decode = msgspec.json.decode
        return {
            "t": self.t,
            "role": self.role,
            "observation": decode(self.seen),
            "action": decode(self.wire),
        }


@define(eq=False)
class CheckedCourse:
    """An episode of a check.

    Attributes:
        seed: Its seed.
        seats: The roles that were asked.
        run: The run; None if the model did not begin.
        asked: The questions that were answered.
        fault: The exception that ended it; None for an episode that the model has ended.
        result: Its result; None if it has none.
        result_fault: The exception of its result.
    """

    seed: int
    seats: Sequence[str]
    run: Run[Any] | None = None
    asked: list[Asked] = field(factory=list)
    fault: BaseException | None = None
    result: Result | None = None
    result_fault: BaseException | None = None

    @property
    def state(self) -> Any:
        """The state of the model; of an episode that has begun."""
        assert self.run is not None
        return self.run.state

    def difference(self, other: "CheckedCourse") -> tuple[str, Any]:
        """Return the first place where another course differs, and the function that observed it.

        Both are empty or None for equal courses.
        """
        for number, (one, two) in enumerate(zip(self.asked, other.asked, strict=False), 1):
            if (one.t, one.role, one.seen, one.wire) != (two.t, two.role, two.seen, two.wire):
                text = first_difference(one.plain, two.plain)
                return f"decision {number} (t={one.t}, {one.role!r}): {text}", two.observe
        if len(self.asked) != len(other.asked):
            return f"{len(self.asked)} decisions, then {len(other.asked)}", None
        ends = [str(one.fault) if one.fault else to_plain(one.result) for one in (self, other)]
        text = "" if ends[0] == ends[1] else first_difference(ends[0], ends[1], "result")
        return text, None


def played(
    model: Model[Any],
    seed: int,
    seats: Sequence[str],
    choose: Choose,
    futures: Iterable[tuple[int, int]] = (),
    most: int | None = None,
) -> CheckedCourse:
    """Play a model until it ends or fails, and return the course.

    Args:
        model: The model.
        seed: The seed.
        seats: The roles that are asked.
        choose: Returns the answer to an open decision; a finding that it raises ends the episode.
        futures: See `Run`.
        most: The last decision that is answered, counted from 1; None for all.
    """
    course = CheckedCourse(seed, seats)
    try:
        run = course.run = Run(model, seed, seats, LIMITS, futures)
        for decision in open_decisions(run):
            if len(course.asked) == most:
                return course
            _answer(course, run, decision, choose(run, decision))
    except RAISED as fault:
        course.fault = fault
        return course
    try:
        course.result = run.result()
    except RAISED as fault:
        course.result_fault = fault
    return course


def _answer(course: CheckedCourse, run: Run[Any], decision: Decision, action: Any) -> None:
    role, seen, spec = decision.role, decision.observation, run.role_of(decision)
    # Encoded before the answer, which may change what an observation refers to.
    shown = encode_observation(seen, spec.observation)
    run.answer(decision, action)
    now = run.world.now
    course.asked.append(Asked(now, role, seen, shown, decision.wire, decision.observe, spec))
