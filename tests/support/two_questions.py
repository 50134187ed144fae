"""A workshop whose only role is asked two kinds of questions: its observation is a union.

Records and the command line name it `support.two_questions:Workshop`.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from attrs import define, field, frozen
from attrs.validators import ge, le

from desim.core.calendar import Calendar
from desim.core.model import Model
from desim.core.reported import Time
from desim.core.roles import Option, Role
from desim.core.world import World


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

    amount: int = field(validator=[ge(0), le(1_000)])


@frozen
class Repair:
    """Repair the machine."""


@define
class Till:
    """The state: the money, and what was observed."""

    cash: int = 0
    seen: list[Any] = field(factory=list)


@frozen
class Workshop(Model[Till]):
    """A workshop that closes on even days and whose lathe fails on odd days.

    Attributes:
        days: How long it runs.
        strict: Whether the till can be filled on even days alone, and the lathe must be repaired.
    """

    days: int = 4
    strict: bool = False
    deterministic: ClassVar[bool] = True
    time: ClassVar[Time] = Time(
        calendar=Calendar(dt.datetime(2024, 3, 4), dt.timedelta(days=1))  # noqa: DTZ001 (no time zones)
    )

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
            actions = None if not self.strict else Repair if day % 2 else (Save,)
            answer = yield world.ask("owner", lambda seen=seen: seen, actions=actions)
            till.cash += answer.amount if isinstance(answer, Save) else 0
            yield world.timeout(1)

    def score(self, till: Till) -> float:
        """Return the money."""
        return float(till.cash)

    def metrics(self, till: Till) -> dict[str, Any]:
        """Return the number of questions."""
        return {"questions": len(till.seen)}
