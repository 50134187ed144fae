"""The rows of a trace, before they are written in any format."""

from collections.abc import Mapping
from typing import Any

from attrs import Factory, define, frozen

from desim.tracing.ledger_watch import Posting


@define(eq=False)
class Lasting:
    """Something that lasts: a process, a shipment, the use of a resource.

    Attributes:
        part: The prefix of the part in which it is; empty without parts.
        kind: What it is, such as the function of a process.
        name: Which one it is; may be empty.
        start: Microseconds of the trace.
        end: Microseconds of the trace, above *start*; None while it lasts.
        cause: The number of the decision that caused it; None without such a decision.
        arguments: Further values, plain.
        waits: For a process: start and end of each wait, and the thing waited for.
        instants: For a process: the time and the cause of each interruption.
    """

    part: str
    kind: str
    name: str
    start: int
    end: int | None = None
    cause: int | None = None
    arguments: dict[str, Any] = Factory(dict)
    waits: list[tuple[int, int, str]] = Factory(list)
    instants: list[tuple[int, str]] = Factory(list)


@frozen
class Taken:
    """A decision.

    Attributes:
        role: The role that decided.
        time: Microseconds of the trace.
        tick: When the observation was made and the answer given; the clock stands still meanwhile.
        name: The action in short.
        arguments: The action as plain values.
    """

    role: str
    time: int
    tick: int
    name: str
    arguments: Mapping[str, Any]


@frozen
class Posted:
    """A posting with its ledger, its time and its cause."""

    ledger: str
    time: int
    tick: int
    cause: int | None
    posting: Posting


@frozen
class Instant:
    """An event of a model's own class that has happened."""

    part: str
    kind: str
    time: int
    tick: int
    cause: int | None
    arguments: Mapping[str, Any]


@frozen
class Count:
    """A number of a resource that has changed: its queue, what is in use, its level."""

    part: str
    name: str
    what: str
    time: int
    value: float
