"""Small companies of several models, as composites that the command line can name.

Records name them `support.groups:Town` and `support.groups:Works`.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen
from support.failing_world import Mill

from desim.composition import Composite
from desim.composition.specs import PartSpec, as_parts
from desim.core.calendar import Calendar, Months
from desim.core.model import Model
from desim.core.reported import Time
from desim.core.roles import Option, Role
from desim.core.world import World

#: Names on the command line.
TOWN, WORKS = (f"support.groups:{name}" for name in ("Town", "Works"))


@frozen
class Stay:
    """What the landlord and the cook see.

    Attributes:
        week: Weeks completed.
        guests: Guests who have asked for a room this week.
        beds: Beds there are.
    """

    week: int
    guests: int
    beds: int


@frozen
class Invest:
    """Buy beds for the weeks to come.

    Attributes:
        beds: How many; each costs what a guest pays.
    """

    beds: int


@define
class Ledger:
    """The state: the weeks so far; its own ledger."""

    beds: int = 2
    weeks: list[dict[str, Any]] = field(factory=list)

    @property
    def ledgers(self) -> Sequence["Ledger"]:
        """The ledger itself."""
        return (self,)

    def digest(self) -> str:
        """Return the weeks as text."""
        return repr(self.weeks)


@frozen
class Inn(Model[Ledger]):
    """An inn whose landlord buys beds before each week's guests come.

    Attributes:
        weeks: How long it runs.
    """

    weeks: int = 4

    @property
    def roles(self) -> Mapping[str, Role]:
        """The landlord, and a cook with a long title who may help."""
        return {
            "landlord": Role(Stay, Invest, self.options, default_action=lambda _: Invest(0)),
            "deputy_master_of_the_kitchen_and_of_the_cellars": Role(
                Stay, Invest, self.options, default_action=lambda _: Invest(0), optional=True
            ),
        }

    @property
    def time(self) -> Time:
        """Weeks from a Monday on."""
        monday = dt.datetime.fromisoformat("2025-01-06")
        return Time(calendar=Calendar(monday, dt.timedelta(weeks=1)))

    def options(self, stay: Stay) -> list[Option]:
        """Return three numbers of beds, valued by the guests of this week."""
        return [Option(Invest(n), -float(abs(stay.guests - stay.beds - n))) for n in (0, 1, 2)]

    def begin(self, world: World) -> Ledger:
        """Open the inn."""
        ledger = Ledger()
        world.process(self._run(world, ledger))
        return ledger

    def _run(self, world: World, ledger: Ledger) -> Iterator[Any]:
        guests = world.stream("guests")
        for week in range(self.weeks):
            wish = int(guests.integers(1, 7))
            stay = Stay(week, wish, ledger.beds)
            asked = [world.ask(role, lambda stay=stay: stay) for role in sorted(world.seats)]
            yield world.all_of(asked)
            bought = sum(question.value.beds for question in asked)
            row = {"week": week, "guests": wish, "beds": ledger.beds, "bought": bought}
            ledger.weeks.append(row)
            ledger.beds += bought
            yield world.timeout(1)

    def score(self, ledger: Ledger) -> float:
        """Return the guests who found a bed, less the beds bought."""
        return sum(min(r["guests"], r["beds"]) - r["bought"] for r in ledger.weeks)

    def metrics(self, ledger: Ledger) -> Mapping[str, Any]:
        """Return the beds at the end."""
        return {"beds": ledger.beds}

    def tables(self, ledger: Ledger, role: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the weeks so far to the landlord, and nothing to the cook."""
        return {"weeks": list(ledger.weeks)} if role == "landlord" else {}


@frozen
class MonthlyMill(Mill):
    """The mill whose every part can fail, with a month for its day."""

    @property
    def time(self) -> Time:
        """Months, the first of which begins at tick 0."""
        return Time(calendar=Months(dt.datetime.fromisoformat("2025-01-01")))


def _town() -> dict[str, PartSpec]:
    return as_parts({"mill": MonthlyMill(), "inn": Inn()})


@frozen(slots=False)
class Town(Composite):
    """A mill and an inn."""

    parts: Mapping[str, PartSpec] = field(factory=_town, converter=as_parts)


def _works() -> dict[str, PartSpec]:
    return as_parts({"lender": "enterprise_arena/capped", "plant": "beer_game/poisson"})


@frozen(slots=False)
class Works(Composite):
    """A lender and a plant: two shipped worlds."""

    parts: Mapping[str, PartSpec] = field(factory=_works, converter=as_parts)
