"""Controlling: a double-entry book, and effort, capacity, demand and risk of every step.

Agents report at their turn; controlling posts at its own, so reports of agents behind it in the
list of agents are posted one step late. Reports are noted where they change, in whole units of
1e-12: sums are exact, and a steady stretch costs the same time whatever its length.
"""

from ledgers.book import Book
from models.edt.payroll import Payroll
from models.edt.scenario import Scenario
from models.edt.units import DIGITS, UNIT, units

__all__ = [
    "CASH",
    "COSTS",
    "FIXED_COST",
    "RECEIVABLES",
    "REVENUE",
    "SALARIES",
    "WORKPLACES",
    "Controlling",
]

#: Steps from revenue to cash.
PAYMENT = 2

# Accounts. A cost raises its account and lowers cash; revenue lowers its account and raises
# receivables, which become cash `PAYMENT` steps later.
CASH = "cash"
RECEIVABLES = "receivables"
SALARIES = "salaries"
WORKPLACES = "workplaces"
FIXED_COST = "fixed_cost"
REVENUE = "revenue"
COSTS = (SALARIES, WORKPLACES, FIXED_COST)

# Reports that are no accounts.
EFFORT = "effort"
AT_RISK = "at_risk"
DEMAND = "demand"

_EARNED = (EFFORT, REVENUE, AT_RISK)
_REPORTS = (*_EARNED, DEMAND)


class Controlling:
    """The firm's book and the reports behind it.

    Attributes:
        book: Cash, receivables, three kinds of cost, and revenue.
        payroll: Salaries, workplaces and capacity.
        steps: The last step.
        booked: The last step that is posted.
        flows: Reports by kind and step, in whole units; up to `booked` the amount of the step, from
            then on its change against the step before. Step 0 is empty.
        before_last: Balances before the last step was posted, which are the accumulated figures.
    """

    def __init__(self, scenario: Scenario, rank: int) -> None:
        self.book = Book(CASH, RECEIVABLES, *COSTS, REVENUE, digits=DIGITS)
        self.payroll = Payroll(scenario, rank)
        self.steps = scenario.steps
        self.booked = 0
        self.before_last: dict[str, int] = self.book.balances()
        # Agents behind controlling report one step late, and end one step after that.
        self.flows: dict[str, list[int]] = {kind: [0] * (self.steps + 3) for kind in _REPORTS}
        self._fixed = units(scenario.fixed_cost * scenario.dt)

    @property
    def rank(self) -> int:
        """Controlling's place in the list of agents."""
        return self.payroll.rank

    @rank.setter
    def rank(self, rank: int) -> None:
        self.payroll.rank = rank

    def seek(self, seats: int, rank: int, step: int) -> None:
        """Count so many seats of demand more from a step on, or fewer if negative."""
        self.flows[DEMAND][step + (rank > self.rank)] += seats

    def earn(self, steps: range, rank: int, delivered: float, rate: float, risk: float) -> None:
        """Count the work of a project in some steps.

        Args:
            steps: The steps at whose turns the project reports.
            rank: The project's place in the list of agents.
            delivered: Effort of each step.
            rate: Money per unit of effort.
            risk: Effort risk, 0 to 1.
        """
        late, money = rank > self.rank, delivered * rate
        first, end = steps.start + late, steps.stop + late
        reports = (units(delivered), units(money), units(money * risk))
        for kind, amount in zip(_EARNED, reports, strict=True):
            flow = self.flows[kind]
            flow[first] += amount
            flow[end] -= amount

    def settle(self, step: int) -> None:
        """Post every step up to and with this one."""
        for flow in self.flows.values():
            amount = flow[self.booked]
            for t in range(self.booked + 1, step + 1):
                amount += flow[t]
                flow[t] = amount
        before_end = min(step, self.steps - 1)
        self._post(range(self.booked + 1, before_end + 1))
        if step == self.steps > self.booked:
            self.before_last = self.book.balances()
            self._post(range(step, step + 1))
        self.booked = max(step, self.booked)

    def _post(self, steps: range) -> None:
        post, transfer, revenue = self.book.post, self.book.transfer, self.flows[REVENUE]
        salaries, workplaces, fixed = self.payroll.salaries, self.payroll.workplaces, self._fixed
        for t in steps:
            wages, places = salaries[t], workplaces[t]
            spent = -wages - places - fixed
            # By name, because the book keeps the dict of its keywords and would copy another.
            post(
                t,
                "costs of the step",
                salaries=wages,
                workplaces=places,
                fixed_cost=fixed,
                cash=spent,
            )
            if billed := revenue[t]:
                transfer(t, "work billed", RECEIVABLES, REVENUE, billed)
            if t > PAYMENT and (due := revenue[t - PAYMENT]):
                transfer(t, "bills paid", CASH, RECEIVABLES, due)

    def effort(self) -> list[int]:
        """Return the effort delivered by posted step, in whole units of 1e-12."""
        return self.flows[EFFORT][1 : self.booked + 1]

    def capacity(self) -> list[int]:
        """Return the consultant time by posted step, in whole units of 1e-12."""
        return self.payroll.capacity[1 : self.booked + 1]

    def at_risk(self, step: int) -> float:
        """Return the money billed in a posted step times its effort risk."""
        return self.flows[AT_RISK][step] / UNIT

    def demand(self) -> list[int]:
        """Return the seats of projects under way, by posted step."""
        return self.flows[DEMAND][1 : self.booked + 1]
