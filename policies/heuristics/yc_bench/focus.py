"""Focus: one or two tasks at a time for honest clients, with the four best people (`bots.md`)."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from attrs import define, field
from attrs.validators import ge

from models.yc_bench import (
    ClientHistory,
    ClientList,
    Command,
    CompanyStatus,
    Desk,
    EmployeeList,
    EndTurn,
    FinanceLedger,
    MarketBrowse,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskDispatch,
    TaskInspect,
    TaskList,
)
from policies.heuristics.yc_bench.course import Course, Row, Started, rows

__all__ = ["Focus"]

#: The two adversarial clients of the published worlds.
_ADVERSARIAL = ("Vanguard ML", "Equinox Labs")
_ROWS, _TEAM, _TRUST = 40, 4, 5


@define
class Focus(Started):
    """Keep a few tasks open: the best paid by the unit, trust counted in, the four best on each.

    Attributes:
        tasks: How many to keep open, at least 1.
        avoid: Clients whose tasks are never taken, with `+` between them; by default the two
            adversarial ones of the published worlds, whom no report tells apart.
    """

    tasks: int = field(default=2, validator=ge(1))
    avoid: str = "+".join(_ADVERSARIAL)
    _course: Course | None = field(default=None, init=False, repr=False)

    def course(self, desk: Desk) -> Course:
        """Look around as often as the reference run does, fill up, resume."""
        trust: Mapping[str, float] = {}
        for turn in count(1):
            for look in _looks(turn):
                desk = yield look
                if type(look) is ClientList:
                    trust = {c["name"]: c["trust_level"] for c in rows(desk, "clients")}
            while len(desk.planned) + len(desk.active) < self.tasks:
                desk = yield MarketBrowse(limit=_ROWS)
                row = self.choose(rows(desk, "tasks"), trust)
                if row is None:
                    break
                desk = yield EmployeeList()
                task, team = row["task_id"], _best(rows(desk, "employees"), row)
                yield TaskAccept(task)
                yield TaskAssign(task, team)
                yield TaskDispatch(task)
                desk = yield TaskInspect(task)
            yield SimResume()
            desk = yield EndTurn()

    def choose(self, listed: Any, trust: Mapping[str, float]) -> Row | None:
        """Return the best paid row by the unit, or none."""
        avoided = self.avoid.split("+")
        free = [row for row in listed if row["client_name"] not in avoided]
        return max(free, key=lambda row: _worth(row, trust), default=None)


def _looks(turn: int) -> Iterator[Command]:
    if turn > 1 and turn % 5 == 1:
        yield CompanyStatus()
    yield TaskList()
    if turn % 7 == 1:
        yield ClientList()
    if turn % 25 == 0:
        yield ClientHistory()
        yield FinanceLedger()


def _worth(row: Row, trust: Mapping[str, float]) -> float:
    pay: float = row["reward_funds_cents"] / row["requirements"][0]["required_qty"]
    return pay * (1 + trust.get(row["client_name"], 0.0) / _TRUST)


def _best(staff: Any, row: Row) -> tuple[str, ...]:
    domain = row["requirements"][0]["domain"]
    ranked = sorted(staff, key=lambda who: (-who["skill_rates"][domain], who["name"]))
    return tuple(who["name"] for who in ranked[:_TEAM])
