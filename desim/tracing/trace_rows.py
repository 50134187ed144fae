"""The rows of a trace, before they are written in any format; times are its microseconds."""

from typing import Any

from attrs import Factory, define, frozen


@define(eq=False)
class Lasting:
    """Something that lasts: a process, the wait for a resource, its use.

    Attributes:
        part: The prefix of the part in which it is; empty without parts.
        kind: What it is, such as the function of a process.
        name: Which one it is; may be empty.
        start: When it starts.
        end: Above *start*; None while it lasts.
        arguments: Further values, plain.
        waits: For a process: start and end of each wait, and the thing waited for.
        instants: For a process: the time and the cause of each interruption.
    """

    part: str
    kind: str
    name: str
    start: int
    end: int | None = None
    arguments: dict[str, Any] = Factory(dict)
    waits: list[tuple[int, int, str]] = Factory(list)
    instants: list[tuple[int, str]] = Factory(list)


@frozen
class Taken:
    """A decision.

    Attributes:
        role: The role that decided.
        time: When the observation was made and the answer given; the clock stands still meanwhile.
        tick: The same on the model's clock.
        name: The action in short.
        action: The action as a plain value.
    """

    role: str
    time: int
    tick: int
    name: str
    action: Any


@frozen
class Count:
    """A number that has changed: a resource's queue, its units in use, its level; a balance."""

    part: str
    name: str
    what: str
    time: int
    value: float
