"""A stall that keeps every promise of a world, or breaks those that its parameter names.

The command line names it `support.faulty_world:Stall`, and with all faults at once
`support.faulty_world:faulty`.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar

from attrs import define, evolve, field, frozen
from attrs.validators import ge, le
from numpy.random import default_rng

from desim.core.calendar import Calendar
from desim.core.model import Model
from desim.core.reported import Figures, Texts, Time
from desim.core.roles import Option, Role
from desim.core.world import World
from ledgers.book import Book

#: Its names on the command line.
STALL, FAULTY = "support.faulty_world:Stall", "support.faulty_world:faulty"

#: Days that the stall is open.
_DAYS = 8

#: The faults that can be switched on, with what is found; and the checks of other names.
FAULTS = {
    "plays": "the model's metrics are no JSON values",
    "repeats": "two episodes of seed 0 differ: decision ",
    "seeds": "all seeds have the same episode",
    "observations": "the observation of 'helper' at t=0 changes after it was handed out",
    "options": "Bake(loaves=2.5)",
    "futures": "changes when the future is redrawn, so it shows a later draw: $.wanted was ",
    "score": "outside of the declared 0 to 1",
    "series": "the series 'left' has 7 values for 8 periods",
    "ledgers": "the balances of crumbs sum to 1, not to zero",
}


CHECK_OF = {"score": "results", "series": "results", "options": "plays"}


@frozen
class Morning:
    """The morning of a day.

    Attributes:
        day: Days so far.
        wanted: Loaves that customers want today.
        sold: Loaves sold on each day so far.
        refusal: Why the last action was refused; empty if it was carried out.
    """

    day: int
    wanted: int
    sold: list[int]
    refusal: str = ""


@frozen
class Bake:
    """Bake loaves.

    Attributes:
        loaves: How many.
    """

    loaves: int = field(validator=[ge(-1), le(1_000)])


@define
class Crumbs:
    """A ledger whose balances do not sum to zero."""

    name: str = "crumbs"
    held: Mapping[str, int] = field(factory=lambda: {"bag": 3, "floor": -2})

    def digest(self) -> str:
        """Return a fingerprint of the balances."""
        return str(self.held)


@define(eq=False)
class Counter:
    """The state: demand of all days, sales so far, and the books."""

    demand: list[int]
    book: Book
    further: tuple[Any, ...]
    day: int = 0
    sold: list[int] = field(factory=list)

    @property
    def ledgers(self) -> Sequence[Any]:
        """The ledgers that enter the digest."""
        return (self.book, *self.further)


@frozen
class RigidStall(Model[Counter]):
    """A stall that bakes bread for eight days; its demand is drawn before the first.

    Attributes:
        faults: Names of checks that the stall does not pass.
    """

    faults: tuple[str, ...] = ()

    @property
    def roles(self) -> Mapping[str, Role]:
        """The seller, and a helper whom the model plays otherwise."""
        return {
            "seller": Role(Morning, Bake, self._options),
            "helper": Role(Morning, Bake, self._options, optional=True),
        }

    def _options(self, morning: Morning) -> Sequence[Option]:
        """Return to bake what is wanted, and two smaller numbers."""
        odd = [Option(Bake(2.5), 0.0)] if "options" in self.faults else []  # type: ignore[arg-type]
        return [Option(Bake(morning.wanted // part), 1 / part) for part in (1, 2, 3)] + odd

    @property
    def time(self) -> Time:
        """Days from the first of January on."""
        return Time(calendar=Calendar(datetime(2025, 1, 1), timedelta(days=1)))  # noqa: DTZ001 (no time zone)

    def texts(self, role: str) -> Texts:
        """Return the rules of the stall."""
        return Texts(f"You are the {role} of a stall that sells loaves for 3 dollars each.")

    @property
    def figures(self) -> Figures:
        """From nothing to what could be sold in all."""
        return Figures(score_range=(0.0, 1.0 if "score" in self.faults else 3.0 * 9 * _DAYS))

    def begin(self, world: World) -> Counter:
        """Draw the demand and open the stall."""
        draws = default_rng(7) if "seeds" in self.faults else world.stream("demand")
        draws = default_rng() if "repeats" in self.faults else draws
        demand = [int(wanted) for wanted in draws.integers(4, 10, _DAYS + 1)]
        crumbs = (Crumbs(),) if "ledgers" in self.faults else ()
        counter = Counter(demand, Book("cash", "sales"), crumbs)
        world.process(self._days(world, counter))
        return counter

    def _days(self, world: World, counter: Counter) -> Iterator[Any]:
        for _ in range(_DAYS):
            baked = 0
            for role in sorted(world.seats):
                bake = yield world.ask(role, partial(self._observed, counter))
                baked += bake.loaves
            sold = min(baked, counter.demand[counter.day])
            counter.sold.append(sold)
            counter.book.post(world.now, "day", cash=300 * sold, sales=-300 * sold)
            counter.day += 1
            yield world.timeout(1)
        world.end("closed")

    def _observed(self, counter: Counter) -> Morning:
        wanted = counter.demand[counter.day + ("futures" in self.faults)]
        held = counter.sold if "observations" in self.faults else [*counter.sold]
        return Morning(counter.day, wanted, held)

    def score(self, counter: Counter) -> float:
        """Return the sales in dollars."""
        return counter.book.balance("cash") / 100

    def metrics(self, counter: Counter) -> Mapping[str, Any]:
        """Return the loaves that were sold."""
        book = {"book": counter.book} if "plays" in self.faults else {}
        return {"sold": sum(counter.sold), **book}

    def series(self, counter: Counter) -> Mapping[str, Sequence[float]]:
        """Return what was sold and what was left to sell, day by day."""
        days = len(counter.sold) - ("series" in self.faults)
        return {"sold": counter.sold, "left": counter.demand[:days]}


@frozen
class Stall(RigidStall):
    """A stall whose demand is drawn anew in other futures, from tomorrow on."""

    kept: ClassVar[tuple[str, ...]] = ()

    def redraw(self, world: World, counter: Counter) -> None:
        """Draw the demand from tomorrow on anew."""
        draws = world.stream("demand").integers(4, 10, _DAYS - counter.day)
        counter.demand[counter.day + 1 :] = [int(wanted) for wanted in draws]


class LooseStall(Stall):
    """A stall whose parameters can be changed."""

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


@frozen
class BrokenStall(Stall):
    """A stall whose oven breaks on the third day."""

    def _observed(self, counter: Counter) -> Morning:
        if counter.day == 2:
            raise RuntimeError("the oven is cold")
        return super()._observed(counter)


@frozen
class BurningStall(Stall):
    """A stall that one of its own options breaks."""

    def _options(self, morning: Morning) -> Sequence[Option]:
        burning = [Option(Bake(-1), 0.0)] if morning.day == 0 else []
        return [*burning, *super()._options(morning)]

    def _days(self, world: World, counter: Counter) -> Iterator[Any]:
        bake = yield world.ask("seller", partial(self._observed, counter))
        if bake.loaves < 0:
            raise ValueError("the oven burns")
        yield from super()._days(world, counter)


@frozen
class RefusingStall(Stall):
    """A stall that bakes nothing on the second day."""

    def _observed(self, counter: Counter) -> Morning:
        refused = "no flour" if counter.day == 2 else ""
        return evolve(super()._observed(counter), refusal=refused)


@frozen
class SmallStall(Stall):
    """A stall whose oven takes a hundred loaves."""

    def _days(self, world: World, counter: Counter) -> Iterator[Any]:
        bake = yield world.ask("seller", partial(self._observed, counter))
        if bake.loaves > 100:
            raise ValueError("the oven is full")
        yield from super()._days(world, counter)


@frozen
class SilentStall(Stall):
    """A stall whose action has no description."""

    @property
    def roles(self) -> Mapping[str, Role]:
        """The seller alone, who may also rest."""
        return {"seller": Role(Morning, Bake | Rest, self._options)}


@frozen
class Rest:
    """Bake nothing."""

    why: str = ""

    @property
    def loaves(self) -> int:
        """None."""
        return 0


def faulty() -> Stall:
    """Return a stall with all faults at once, but those that leave no episode to check."""
    return Stall(tuple(fault for fault in FAULTS if fault not in ("plays", "options")))
