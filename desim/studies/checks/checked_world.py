"""A world that is checked: its model, and the episodes and the record that several checks read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from desim.core.events import Decision
from desim.core.model import Model
from desim.core.result import Result
from desim.core.run import Run
from desim.episodes.driver import play
from desim.faults import RAISED
from desim.schema import codec
from desim.studies.checks.answers import FittingAnswers, ScriptedAnswers, fits
from desim.studies.checks.course import CheckedCourse, played
from desim.studies.checks.outcomes import NotChecked


@define(eq=False)
class CheckedWorld:
    """A model with the episodes that its checks share; each is played once.

    Attributes:
        model: The frozen parameters.
        seeds: The seeds of its episodes, at least one.
        folder: An empty folder for records and exports.
    """

    model: Model[Any]
    seeds: Sequence[int]
    folder: Path
    _courses: dict[tuple[int, bool], CheckedCourse] = field(factory=dict, init=False)
    _first: tuple[CheckedCourse, Result] | None = field(default=None, init=False)
    _record: Path | None = field(default=None, init=False)

    def course(self, seed: int, *, every_role: bool = True) -> CheckedCourse:
        """Return the episode of a seed, with every role asked or the default roles alone."""
        key = (seed, every_role)
        if key not in self._courses:
            self._courses[key] = self.played(seed, every_role=every_role)
        return self._courses[key]

    def played(
        self, seed: int, *, every_role: bool = True, futures: Sequence[tuple[int, int]] = ()
    ) -> CheckedCourse:
        """Play an episode that no other check reads."""
        seats = [*self.model.roles] if every_role else [*self.model.default_roles]
        return played(self.model, seed, seats, FittingAnswers(), futures)

    def played_otherwise(self, course: CheckedCourse, number: int, action: Any) -> CheckedCourse:
        """Repeat a course up to a decision, answer it otherwise, and go on to the next decisions.

        Args:
            course: The course.
            number: The number of answers that are repeated.
            action: The other answer.
        """
        role, given = course.asked[number].role, iter(course.asked[:number])
        further = FittingAnswers()

        def choose(run: Run[Any], decision: Decision) -> Any:
            if (repeated := next(given, None)) is not None:
                return codec(run.roles[decision.role].action).read(repeated.wire)
            if decision.role == role and fits(run.role_of(decision), action):
                return action
            return further(run, decision)

        most = number + 1 + len(course.seats)
        return played(self.model, course.seed, course.seats, choose, most=most)

    def courses(self) -> list[CheckedCourse]:
        """Return the episodes of all seeds; one of the default roles if some roles are optional."""
        optional = any(role.optional for role in self.model.roles.values())
        alone = [self.course(self.seeds[0], every_role=False)] if optional else []
        return [*(self.course(seed) for seed in self.seeds), *alone]

    def ended(self) -> list[CheckedCourse]:
        """Return the episodes that ended.

        Raises:
            NotChecked: None did.
        """
        found = [one for one in self.courses() if one.fault is None]
        if not found:
            raise NotChecked("no episode has come to its end; see `plays`")
        return found

    def first(self) -> tuple[CheckedCourse, Result]:
        """Return the first episode that has a result, and the result.

        Raises:
            NotChecked: None has, or the world does not repeat itself.
        """
        if self._first is not None:
            return self._first
        course = self.ended()[0]
        if course.result is None:
            raise NotChecked("no episode has a result; see `score`, `metrics` and `ledgers`")
        if course.difference(self.played(course.seed))[0]:
            raise NotChecked("two episodes of one seed differ; see `repeats`")
        self._first = course, course.result
        return self._first

    def scripts(self, course: CheckedCourse, since: int = 0) -> dict[str, ScriptedAnswers]:
        """Return by role policies that give the answers of a course from one of them on."""
        roles, asked = self.model.roles, course.asked[since:]
        return {role: ScriptedAnswers(role, asked, roles[role]) for role in course.seats}

    def make_record(self) -> Path:
        """Record the first episode, and return the file."""
        course, _ = self.first()
        file = self.folder / "record.jsonl"
        if self._record is None:
            play(self.model, self.scripts(course), course.seed, record=file)
            self._record = file
        return file

    def record(self) -> Path:
        """Return the record of the first episode.

        Raises:
            NotChecked: It cannot be made.
        """
        if self._record is None:
            try:
                return self.make_record()
            except NotChecked:
                raise
            except RAISED:
                raise NotChecked("no record can be made; see `replays`") from None
        return self._record
