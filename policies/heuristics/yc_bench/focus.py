"""Focus: a few tasks at a time for honest clients, each with four people (`bots.md`).

`focus` is the reference rule: it knows by name which clients of the published worlds are
adversarial. `learning_focus` finds out from what it observes, and spreads its people.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import ClassVar

from attrs import define, field
from attrs.validators import ge

from models.yc_bench.actions import (
    ClientHistory,
    ClientList,
    Command,
    CompanyStatus,
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
from models.yc_bench.desk import FounderDesk
from policies.heuristics.yc_bench.generator_policy import (
    Commands,
    GeneratorPolicy,
    Row,
    Steps,
    pay,
    reply,
    rows,
    work,
)

#: The two adversarial clients of the published worlds.
_ADVERSARIAL = ("Vanguard ML", "Equinox Labs")
#: Rows of the first look at the market; all of them, where none of these is wanted.
_ROWS, _ALL = 40, 100_000
_TEAM, _TRUST = 4, 5


@define
class LearningFocus(GeneratorPolicy):
    """Focus that learns which clients to avoid, and gives each task people of its own.

    An accepted task is inspected before anybody works on it. One that has grown shows that its
    client is adversarial: it is left planned, which costs nothing, and the client is avoided from
    then on, also in further episodes.

    Attributes:
        tasks: How many to keep open; 0 for one for every four employees. Each has the four with the
            fewest tasks, of these the fastest.
    """

    #: Up to so many tasks each have the four fastest, who may be the same people.
    SHARED: ClassVar[int] = 0

    tasks: int = field(default=0, validator=ge(0))
    #: Clients whose tasks are not taken.
    _avoided: set[str] = field(factory=set, init=False, repr=False)
    _trust: Mapping[str, float] = field(factory=dict, init=False, repr=False)
    #: Titles of tasks left planned for good; such a task goes when its client does.
    _abandoned: set[str] = field(factory=set, init=False, repr=False)

    def commands(self, desk: FounderDesk) -> Commands:
        """Look as often as the reference run does, start tasks, resume."""
        assert desk.status is not None
        many = self.tasks or max(1, desk.status.employees // _TEAM)
        self._trust, self._abandoned = {}, set()
        for turn in count(1):
            for look in _looks(turn):
                desk = yield look
                if type(look) is ClientList:
                    self._trust = {c["name"]: c["trust_level"] for c in rows(desk, "clients")}
            while self._open(desk) < many:
                row = yield from self._choose()
                if row is None:
                    break
                desk = yield EmployeeList()
                team = _team(rows(desk, "employees"), row, free=many > self.SHARED)
                desk = yield from self._start(row, team)
            yield SimResume()
            desk = yield EndTurn()

    def _open(self, desk: FounderDesk) -> int:
        return len(desk.active) + sum(title not in self._abandoned for title in desk.planned)

    def _choose(self) -> Steps:
        """Return the row with the best pay a unit, or none if the whole market has none."""
        for limit in (_ROWS, _ALL):
            listed = rows((yield MarketBrowse(limit=limit)), "tasks")
            wanted = [row for row in listed if row["client_name"] not in self._avoided]
            if wanted or len(listed) < limit:
                break
        return max(wanted, key=self._worth, default=None)

    def _worth(self, row: Row) -> float:
        return pay(row) * (1 + self._trust.get(row["client_name"], 0.0) / _TRUST)

    def _start(self, row: Row, team: tuple[str, ...]) -> Steps:
        """Take a task and return the desk that follows."""
        task = row["task_id"]
        yield TaskAccept(task)
        desk = yield TaskInspect(task)
        if work(reply(desk)) > work(row):
            self._avoided.add(row["client_name"])
            self._abandoned.add(task)
            return desk
        yield TaskAssign(task, team)
        return (yield TaskDispatch(task))


@define
class Focus(LearningFocus):
    """Keep a few tasks open: the best paid a unit, weighted by trust, each with four people.

    Attributes:
        tasks: How many to keep open; 0 for one for every four employees. One or two of them, as in
            the reference run, each have the four fastest, who then share their time; with more
            tasks, each has the four with the fewest tasks.
        avoid: Clients whose tasks are never taken, with `+` between them; by default the two
            adversarial ones of the published worlds, which no report reveals.
    """

    knows = "state"
    SHARED = 2

    avoid: str = "+".join(_ADVERSARIAL)

    def __attrs_post_init__(self) -> None:
        self._avoided.update(self.avoid.split("+"))

    def _start(self, row: Row, team: tuple[str, ...]) -> Steps:
        task = row["task_id"]
        yield TaskAccept(task)
        yield TaskAssign(task, team)
        yield TaskDispatch(task)
        return (yield TaskInspect(task))


def _looks(turn: int) -> Iterator[Command]:
    if turn > 1 and turn % 5 == 1:
        yield CompanyStatus()
    yield TaskList()
    if turn % 7 == 1:
        yield ClientList()
    if turn % 25 == 0:
        yield ClientHistory()
        yield FinanceLedger()


def _team(staff: Sequence[Row], row: Row, *, free: bool) -> tuple[str, ...]:
    """Return the four fastest at a task; *free*: of those with the fewest tasks."""
    rates = {who["name"]: _rate(who, row) for who in staff}
    loads = {who["name"]: len(who["active_tasks"]) if free else 0 for who in staff}
    return tuple(sorted(rates, key=lambda name: (loads[name], -rates[name], name))[:_TEAM])


def _rate(who: Row, row: Row) -> float:
    return min(float(who["skill_rates"][need["domain"]]) for need in row["requirements"])
