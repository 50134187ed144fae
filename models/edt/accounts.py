"""What controlling keeps: a double-entry book, and per step effort, capacity, demand and risk.

Agents report at their turn; controlling books at its own. Who stands behind controlling in the list
of agents is therefore booked one step late. Reports are noted where they change, in whole units
of 1e-12, so that nothing drifts and a steady stretch costs the same however long it is.
"""

from typing import TYPE_CHECKING

from ledgers.book import Book

if TYPE_CHECKING:
    from models.edt.scenario import Consultant, Scenario

__all__ = ["COSTS", "DIGITS", "UNIT", "Accounts", "units"]

#: Amounts are booked in 1e-12 of the money unit: rates times fractions of effort are no cents.
DIGITS = 12
UNIT = int(10**DIGITS)

#: Steps from revenue to cash.
PAYMENT = 2

COSTS = ("salaries", "workplaces", "fixed_cost")

_EARNED = ("effort", "revenue", "at_risk")
_OF_PROJECTS = (*_EARNED, "demand")


def units(money: float) -> int:
    """Return an amount of money in the book's units; whole amounts exactly."""
    return int(money) * UNIT if money.is_integer() else round(money * UNIT)


class Accounts:
    """The firm's books.

    Attributes:
        book: Cash, receivables, three kinds of cost, revenue. A cost raises its account and lowers
            cash; revenue lowers its account and raises receivables, which become cash two steps
            later.
        rank: Controlling's place in the list of agents.
        steps: The last step.
        booked: The last step that is booked.
        flows: What was reported for each booked step, by kind, in whole units; step 0 is empty.
        before_last: Balances before the last step was booked, which accumulated figures are.
    """

    def __init__(self, scenario: "Scenario", rank: int) -> None:
        self.book = Book("cash", "receivables", *COSTS, "revenue", digits=DIGITS)
        self.rank = rank
        self.dt = scenario.dt
        self.steps = scenario.steps
        self.booked = 0
        self.before_last: dict[str, int] = self.book.balances()
        # Somebody behind controlling reports one step later, and stops one later than that.
        self.flows: dict[str, list[int]] = {
            kind: [0] * (self.steps + 3)
            for kind in ("salaries", "workplaces", "capacity", *_OF_PROJECTS)
        }
        self._fixed = units(scenario.fixed_cost * scenario.dt)
        self._dt = units(scenario.dt)

    def employ(self, who: "Consultant", rank: int, step: int, sign: int = 1) -> None:
        """Let somebody report from a step on; with sign -1 no more."""
        at, flows = step + (rank > self.rank), self.flows
        flows["salaries"][at] += sign * units(who.salary * self.dt)
        flows["workplaces"][at] += sign * units(who.workplace_cost * self.dt)
        flows["capacity"][at] += sign * self._dt

    def seek(self, seats: int, rank: int, step: int) -> None:
        """Let a project report so many seats more from a step on, or fewer."""
        self.flows["demand"][step + (rank > self.rank)] += seats

    def earn(self, steps: range, rank: int, delivered: float, rate: float, risk: float) -> None:
        """Take a project's reports of effort delivered in each of some steps, at its turns."""
        late, money = rank > self.rank, delivered * rate
        first, behind = steps.start + late, steps.stop + late
        reports = (units(delivered), units(money), units(money * risk))
        for kind, amount in zip(_EARNED, reports, strict=True):
            flow = self.flows[kind]
            flow[first] += amount
            flow[behind] -= amount

    def settle(self, step: int) -> None:
        """Book every step up to and with this one: changes become flows, and flows entries."""
        for flow in self.flows.values():
            amount = flow[self.booked]
            for t in range(self.booked + 1, step + 1):
                amount += flow[t]
                flow[t] = amount
        for t in range(self.booked + 1, step + 1):
            if t == self.steps:
                self.before_last = self.book.balances()
            self._post(t)
        self.booked = max(step, self.booked)

    def _post(self, t: int) -> None:
        post, flows, fixed = self.book.post, self.flows, self._fixed
        salaries, workplaces, revenue = (
            flows["salaries"][t],
            flows["workplaces"][t],
            flows["revenue"],
        )
        post(
            t,
            "costs of the step",
            salaries=salaries,
            workplaces=workplaces,
            fixed_cost=fixed,
            cash=-salaries - workplaces - fixed,
        )
        if billed := revenue[t]:
            post(t, "work billed", receivables=billed, revenue=-billed)
        if t > PAYMENT and (due := revenue[t - PAYMENT]):
            post(t, "bills paid", cash=due, receivables=-due)

    def effort(self) -> list[int]:
        """Effort delivered by booked step, from the first on, in whole units of 1e-12."""
        return self.flows["effort"][1 : self.booked + 1]

    def capacity(self) -> list[int]:
        """Consultant time by booked step, from the first on, in whole units of 1e-12."""
        return self.flows["capacity"][1 : self.booked + 1]

    def at_risk(self) -> list[float]:
        """Money billed times its effort risk, by booked step, from the first on."""
        return [amount / UNIT for amount in self.flows["at_risk"][1 : self.booked + 1]]

    def demand(self) -> list[int]:
        """Seats of projects under way by booked step, from the first on."""
        return self.flows["demand"][1 : self.booked + 1]
