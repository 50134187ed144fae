"""A workshop whose only role is asked two kinds of questions: its observation is a union.

Records and the command line name it `support.two_questions:Workshop`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from desim.core.roles import Option, Role
from desim.core.world import World

#: Its name on the command line.
WORKSHOP = "support.two_questions:Workshop"


@frozen
class Closing:
    """The day is over.

    Attributes:
        day: Days so far.
        cash: Dollars in the till.
    """

    day: int
    cash: int


@frozen
class Breakdown:
    """A machine has failed.

    Attributes:
        day: Days so far.
        machine: Its name.
    """

    day: int
    machine: str


@frozen
class Save:
    """Put money in the till.

    Attributes:
        amount: Dollars.
    """

    amount: int


@frozen
class Repair:
    """Repair the machine."""


@define
class Till:
    """The state: the money, and what was observed."""

    cash: int = 0
    seen: list[Any] = field(factory=list)


@frozen
class Workshop:
    """A workshop that closes on even days and whose lathe fails on odd days.

    Attributes:
        days: How long it runs.
    """

    days: int = 4

    @property
    def roles(self) -> Mapping[str, Role]:
        """The owner."""
        return {"owner": Role(Closing | Breakdown, Save | Repair, self.options)}

    def options(self, seen: Closing | Breakdown) -> Sequence[Option]:
        """Return two sums to save, or to repair and to save nothing."""
        if isinstance(seen, Closing):
            return [Option(Save(2), 1.0), Option(Save(1), 0.5)]
        return [Option(Repair(), 1.0), Option(Save(0), 0.5)]

    def begin(self, world: World) -> Till:
        """Open the workshop."""
        till = Till()
        world.process(self._run(world, till))
        return till

    def _run(self, world: World, till: Till) -> Iterator[Any]:
        for day in range(self.days):
            seen = Breakdown(day, "lathe") if day % 2 else Closing(day, till.cash)
            till.seen.append(seen)
            answer = yield world.ask("owner", lambda seen=seen: seen)
            till.cash += answer.amount if isinstance(answer, Save) else 0
            yield world.timeout(1)

    def score(self, till: Till) -> float:
        """Return the money."""
        return float(till.cash)

    def metrics(self, till: Till) -> dict[str, Any]:
        """Return the number of questions."""
        return {"questions": len(till.seen)}
