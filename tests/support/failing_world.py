"""A mill whose every part can fail at a person's seat: process, score, options and tables.

Records name its model `support.failing_world:Mill`.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from desim import Model, Policy
from desim.core.roles import Option, Role
from desim.core.world import World

#: The name of the model on the command line.
MILL = "support.failing_world:Mill"


@frozen
class Day:
    """What both roles see.

    Attributes:
        day: Days completed.
        flour: Sacks ground so far.
    """

    day: int
    flour: int


@frozen
class Grind:
    """Grind some sacks; 13 breaks the mill, 99 ends its process.

    Attributes:
        sacks: How many.
    """

    sacks: int


@frozen
class Rest:
    """Grind nothing."""


@define
class Floor:
    """The state: what was ground each day."""

    ground: list[int] = field(factory=list)


@frozen
class Mill(Model[Floor]):
    """A mill with a miller and, if a policy takes it, a carter who is asked at the same tick.

    Attributes:
        days: How long it runs.
        options_fail: The days on which `options` fails.
        options_kind: How: raise, exit (SystemExit), none (returns None), text (a value that is
            none), alien (an action of no role).
        tables_fail: How `tables` fails: raise, exit, rows (of one table only); empty if it works.
        score_fails: Whether `score` raises.
    """

    days: int = 5
    options_fail: tuple[int, ...] = ()
    options_kind: str = "raise"
    tables_fail: str = ""
    score_fails: bool = False

    @property
    def roles(self) -> Mapping[str, Role]:
        """The miller, and the carter."""
        act = Grind | Rest
        return {
            "miller": Role(Day, act, self.options),
            "carter": Role(Day, act, self.options, optional=True),
        }

    def options(self, day: Day) -> Any:
        """Return three options, or fail."""
        if day.day not in self.options_fail:
            return [Option(Grind(n), float(n), f"grind {n}") for n in (1, 2, 3)]
        match self.options_kind:
            case "exit":
                sys.exit(3)
            case "none":
                return None
            case "text":
                return [Option(Grind(1), "high")]  # type: ignore[arg-type]
            case "alien":
                return [Option(day, 1.0)]
            case _:
                return [Option(Grind(1), {}[day.day])]

    def begin(self, world: World) -> Floor:
        """Start the mill."""
        floor = Floor()
        world.process(self.grind(world, floor))
        return floor

    def grind(self, world: World, floor: Floor) -> Any:
        """Ask all roles each day, and break on 13 sacks."""
        for day in range(self.days):
            seen = Day(day, sum(floor.ground))
            asked = [world.ask(role, lambda seen=seen: seen) for role in sorted(world.seats)]
            yield world.all_of(asked)
            for question in asked:
                answer = question.value
                sacks = answer.sacks if isinstance(answer, Grind) else 0
                if sacks == 99:
                    sys.exit(4)
                floor.ground.append(sacks if sacks != 13 else {}["stone"])
            yield world.timeout(1)

    def score(self, floor: Floor) -> float:
        """Return all that was ground."""
        if self.score_fails:
            raise ZeroDivisionError("no scales")
        return sum(floor.ground)

    def metrics(self, floor: Floor) -> Mapping[str, Any]:
        """Return the days."""
        return {"days": len(floor.ground)}

    def tables(self, floor: Floor, role: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return what was ground, and a table that may fail alone."""
        if self.tables_fail == "exit":
            sys.exit(5)
        if self.tables_fail == "raise":
            raise LookupError(f"no book for the {role}")
        ground = [{"day": day, "sacks": n} for day, n in enumerate(floor.ground)]
        odd: Any = [1, 2] if self.tables_fail == "rows" else []
        return {"ground": ground, "odd": odd}


class Carter(Policy):
    """Rests."""

    def decide(self, _: Day) -> Rest:
        """Rest."""
        return Rest()


class BadCarter(Policy):
    """Answers at the second question with what `how` says, and rests otherwise."""

    def __init__(self, how: str = "raise") -> None:
        self.how, self.asked = how, 0

    def decide(self, _: Day) -> Any:
        """Rest, or fail."""
        self.asked += 1
        if self.asked != 2:
            return Rest()
        match self.how:
            case "wrong":
                return {"do": "fly"}
            case "exit":
                sys.exit(6)
            case "break":
                return Grind(13)
            case _:
                raise ConnectionError("the line is dead")
