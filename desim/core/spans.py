"""What lasted in an episode, as a model reports it for a trace."""

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from attrs import frozen

__all__ = ["HasSpans", "Span"]


@frozen
class Span:
    """Something that was under way: a project, a task, a journey.

    Attributes:
        kind: What it is; those of one kind are shown together.
        name: Which one it is.
        start: Its first tick.
        end: Its last tick, at least *start*; None where it was under way at the end.
        phases: From which tick on it was in which phase, in order; may be empty.
    """

    kind: str
    name: str
    start: int
    end: int | None = None
    phases: tuple[tuple[int, str], ...] = ()


# Asked for once, behind the episode, so that an episode without a trace pays nothing for it.
@runtime_checkable
class HasSpans(Protocol):
    """A model that says what was under way, where this is more than the life of a process."""

    def trace_spans(self, state: Any) -> Iterable[Span]:
        """Yield what was under way in an episode, which may have been cut or have failed."""
        ...
