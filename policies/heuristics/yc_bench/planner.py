"""Planner: the best that is known here from what a player can observe, by look-ahead.

At the start and on every payday it rolls the rest of the year out on its own estimate for each
plan worth a look (`forecast.py`: whom to serve, in which domain to become fast). At every stop it
gives people with room the task and the team that are worth most, with what a success teaches
valued until the horizon (`worth.py`): teams of four until all are at the cap, then everybody
alone, because each success raises the salary of all who are on it.

Seeds 1-20, preset `default`, no bankruptcy: with `rerolls=3` $6.22M on average ($5.48M at least,
8,500 commands, of which 2,900 accept a task only to have another one drawn); with `rerolls=0`,
that is without any such acceptance but one probe a client, $4.10M ($4.01M at least, 2,960
commands); `rerolls=10` gives $7.23M for 13,900 commands. So $2.1M of the default's result is
rerolling, a loophole of the published rules: accepting is free, and what is never dispatched
costs nothing.

What bounds it: eight people at the cap of 10 units an hour, 15 hours on each of 261 weekdays,
could do 313,000 units of work; about 280,000 get done (250,000 without rerolls, where several
domains must be learned), because training takes time and 5 to 10 % is lost where a task is done
before the next stop. Trust near 5 halves the work of a task, so that a replacement, $7 a listed
unit on average, pays $14 a unit done; choosing the best of all offers makes it $18, with rerolls
$24; salaries and raises take $0.6M to $0.7M. All 313,000 units at these prices would make $5.0M
and $6.9M. No choice goes beyond $60 a unit, the highest reward for the least work at full trust:
$19M a year, for an endless number of acceptances.
"""

from collections.abc import Generator, Iterable
from datetime import datetime
from heapq import nlargest, nsmallest
from math import fsum
from typing import Any

from attrs import define, field
from attrs.validators import ge, le

from desim.seating import Seat
from models.yc_bench import (
    ClientList,
    Command,
    CompanyStatus,
    Desk,
    EmployeeList,
    EndTurn,
    MarketBrowse,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskDispatch,
    TaskInspect,
)
from policies.heuristics.yc_bench.course import Course, Row, Started, rows
from policies.heuristics.yc_bench.estimate import Estimate, Offer, Person
from policies.heuristics.yc_bench.forecast import Plan, forecast, plans
from policies.heuristics.yc_bench.matching import match
from policies.heuristics.yc_bench.ruleset import Ruleset
from policies.heuristics.yc_bench.worth import Worth

__all__ = ["Planner"]

#: Commands out, desks in, something found out in the end.
Steps = Generator[Command, Desk, Any]

#: Rows of the market to ask for: all of them.
_ALL = 100_000
#: What counts as fully trained, as a share of the highest rate.
_TRAINED = 0.95
#: Worth of serving a client outside the plan, whose trust wears off again.
_STRANGER = 0.8
#: How many of the best offers set the price of work, at the trust that regular clients reach.
_BEST, _TRUSTED = 30, 4.0
#: Days of progress that a task must be done before it is due.
_SLACK = 1.0
#: Rerolling: rounds at a stop, the best offers that are left alone, acceptances in a round at most.
_ROUNDS, _KEPT, _MOST = 3, 12, 500


@define
class Planner(Started):
    """Specialise, train everybody, then let each work alone on the best paid tasks.

    Attributes:
        rerolls: Acceptances that only replace a poor offer by a new one, for every task to start;
            0 to 100. They cost nothing and are never dispatched.
        load: Tasks at a time of somebody who is trained, 1 to 10: work on several loses less when
            one of them is done before its planned time.
        rules: The published ones of the world.
    """

    rerolls: int = field(default=3, validator=[ge(0), le(100)])
    load: int = field(default=2, validator=[ge(1), le(10)])
    rules: Ruleset = field(factory=Ruleset, kw_only=True)
    _course: Course | None = field(default=None, init=False, repr=False)
    _known: Estimate = field(init=False, repr=False)
    _plan: Plan = field(init=False, repr=False)
    _pool: dict[str, Offer] = field(factory=dict, init=False, repr=False)
    _teams: dict[str, str] = field(factory=dict, init=False, repr=False)

    @classmethod
    def seated(cls, seat: Seat, rerolls: int = 3, load: int = 2) -> "Planner":
        """Learn the rules of the house; the state of the company must be looked up."""
        return cls(rerolls, load, rules=Ruleset.of(seat.model))

    def course(self, desk: Desk) -> Course:
        """Find out whom to serve, then employ everybody at every stop."""
        assert desk.status is not None
        now, horizon = (datetime.fromisoformat(t) for t in (desk.time, desk.status.horizon_end))
        self._known = Estimate(self.rules, horizon, now)
        yield from self._look()
        yield from self._browse()
        yield from self._scout()
        self._choose_plan()
        while True:
            yield from self._employ()
            desk = yield SimResume()
            paid = any(event["type"] == "monthly_payroll" for event in _events(desk))
            desk = yield EndTurn()
            yield from self._look()
            if paid:
                self._choose_plan()
                yield from self._hasten(desk)

    # -- looking -----------------------------------------------------------------------------------

    def _look(self) -> Steps:
        """Look at the staff, the clients and, where it matters, prestige."""
        known = self._known
        desk = yield EmployeeList()
        known.now = datetime.fromisoformat(desk.time)
        known.read_staff(rows(desk, "employees"))
        desk = yield ClientList()
        known.read_clients(rows(desk, "clients"))
        if self.rules.payout_prestige != "required":
            desk = yield CompanyStatus()
            assert desk.reply is not None
            known.prestige = desk.reply.out["prestige"]

    def _browse(self) -> Steps:
        """Look at the market; of equal titles none can be told apart, so none is kept."""
        desk = yield MarketBrowse(limit=_ALL)
        listed = rows(desk, "tasks")
        titles = [row["task_id"] for row in listed]
        several = {title for title in titles if titles.count(title) > 1} if _repeats(titles) else ()
        self._pool = {
            row["task_id"]: self._known.offer(row)
            for row in listed
            if row["client_name"] not in self._known.adversarial and row["task_id"] not in several
        }

    def _scout(self) -> Steps:
        """Accept each client's cheapest task, to see whether it swells."""
        cheapest = {offer.client: offer for offer in self._pool.values()}
        for offer in cheapest.values():
            yield from self._accept(offer)
        yield from self._browse()

    def _choose_plan(self) -> None:
        """Look ahead: take the plan that would earn most."""
        offers, draws = list(self._pool.values()), 1.0 + self.rerolls
        options = plans(self._known)
        self._plan = max(options, key=lambda plan: forecast(self._known, plan, offers, draws))

    # -- acting ------------------------------------------------------------------------------------

    def _employ(self) -> Steps:
        """Give work to everybody who has room for it."""
        self._make_room()
        rooms = sum(who.free for who in self._known.people.values())
        if not rooms:
            return
        yield from self._browse()
        yield from self._reroll(rooms * self.rerolls)
        worth = self._worth()
        ranked = nlargest(len(self._pool), self._pool.values(), key=self._ranking(worth))
        while pair := match(worth, self._still(ranked), self._favour, self.rules):
            yield from self._start(*pair)
        if not any(who.load for who in self._known.people.values()):
            yield from self._pass_time()

    def _make_room(self) -> None:
        """Let those who are trained work on several tasks at a time."""
        enough = _TRAINED * self.rules.skill_rate_max
        for who in self._known.people.values():
            focus = self._plan.focus
            skill = who.rates[focus] if focus else max(who.rates.values())
            who.room = self.load if skill >= enough else 1

    def _reroll(self, budget: int) -> Steps:
        """Accept the poorest offers of the clients to serve, so that others come in their place."""
        for _ in range(_ROUNDS):
            poor = [offer for offer in self._pool.values() if offer.client in self._plan.serve]
            many = min(budget, len(poor) - _KEPT, _MOST)
            if many <= 0:
                return
            for offer in nsmallest(many, poor, key=self._worth().best):
                yield TaskAccept(offer.title)
            budget -= many
            yield from self._browse()

    def _start(self, offer: Offer, team: list[Person]) -> Steps:
        """Accept, assign and dispatch; return whether the work has begun."""
        if not (yield from self._accept(offer)):
            return False
        yield TaskAssign(offer.title, tuple([who.name for who in team]))
        desk = yield TaskDispatch(offer.title)
        if _refused(desk):
            return False
        self._teams[offer.title] = team[0].name
        for who in team:
            who.jobs.append(offer.title)
        return True

    def _accept(self, offer: Offer) -> Steps:
        """Accept a task and return whether it is what it seemed; a swollen one tells its client."""
        self._pool.pop(offer.title, None)
        desk = yield TaskAccept(offer.title)
        if _refused(desk):
            return False
        desk = yield TaskInspect(offer.title)
        assert desk.reply is not None
        task = desk.reply.out
        if task["status"] != "planned":  # another task bears the same title
            return False
        if task["requirements"][0]["required_qty"] <= offer.listed:
            return True
        self._known.adversarial.add(offer.client)
        return False

    def _hasten(self, desk: Desk) -> Steps:
        """Name people again on what they are on already, so that it is planned anew."""
        if self.rules.reassignment_replans:
            for title in desk.active:
                if title in self._teams:
                    yield TaskAssign(title, (self._teams[title],))

    def _pass_time(self) -> Steps:
        """Start anything, however late it will be: without a task under way no time passes."""
        offers = sorted(self._pool.values(), key=lambda offer: -offer.quantity)
        for offer in offers:
            slowest = min(self._known.people.values(), key=lambda who: who.rates[offer.domain])
            if (yield from self._start(offer, [slowest])):
                return

    # -- judging -----------------------------------------------------------------------------------

    def _worth(self) -> Worth:
        return Worth.of(self._known, self._price(), self._plan.mix, _SLACK)

    def _price(self) -> float:
        """Return cents a unit of work is expected to earn."""
        agreed, trust = self.rules.agreed, self._known.trust
        paid = [
            offer.reward / agreed(offer.listed, max(_TRUSTED, trust[offer.client]))
            for offer in self._pool.values()
            if offer.client in self._plan.serve
        ]
        best = nlargest(_BEST, paid)
        return fsum(best) / max(1, len(best))

    def _favour(self, offer: Offer) -> float:
        return 1.0 if offer.client in self._plan.serve else _STRANGER

    def _ranking(self, worth: Worth) -> Any:
        return lambda offer: worth.best(offer) * self._favour(offer)

    def _still(self, ranked: Iterable[Offer]) -> list[Offer]:
        return [offer for offer in ranked if offer.title in self._pool]


def _events(desk: Desk) -> Iterable[Row]:
    """Return what a resume reported, nothing if it was refused."""
    assert desk.reply is not None
    events: Iterable[Row] = desk.reply.out.get("wake_events", ())
    return events


def _refused(desk: Desk) -> bool:
    return desk.reply is None or desk.reply.exit_code != 0


def _repeats(titles: list[str]) -> bool:
    return len(set(titles)) < len(titles)
