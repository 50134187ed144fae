"""A policy written as a course: a generator that yields commands and is sent desks."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from models.yc_bench import Command, Desk

__all__ = ["EVERYBODY", "Course", "Row", "Started", "rows"]

#: Commands out, desks in.
Course = Generator[Command, Desk, None]

#: A row of a reply, as the console prints it.
Row = Mapping[str, Any]

#: The published staff.
EVERYBODY = tuple(f"Emp_{i}" for i in range(1, 9))


class Started:
    """Answers desk after desk along a course, which a subclass writes."""

    _course: Course | None = None

    def course(self, desk: Desk) -> Course:
        """Yield commands; each yield returns the desk that follows."""
        raise NotImplementedError

    def decide(self, desk: Desk) -> Command:
        """Send the desk to the course and return its next command."""
        if self._course is None:
            self._course = self.course(desk)
            return next(self._course)
        return self._course.send(desk)


def rows(desk: Desk, key: str) -> Sequence[Row]:
    """Return the rows of the last reply."""
    assert desk.reply is not None
    listed: Sequence[Row] = desk.reply.out[key]
    return listed
