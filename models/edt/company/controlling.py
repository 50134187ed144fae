"""Controlling: a double-entry book, and effort, capacity, demand and risk of every step.

Agents report at their turn; controlling posts at its own, so reports of agents behind it in the
list of agents are posted one step late. Reports are noted where they change, in whole units of
1e-12: sums are exact, and a steady stretch costs the same time whatever its length.
"""

from ledgers.book import Book
from models.edt.company.payroll import DIGITS, UNIT, Payroll, units
from models.edt.scenario import Scenario

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
# Capital paid in and costs that wait for cash. The published firm has neither: its cash begins at
# zero and may fall below it.
CAPITAL = "capital"
PAYABLES = "payables"

# Reports without an account.
EFFORT = "effort"
AT_RISK = "at_risk"
DEMAND = "demand"

_EARNED = (EFFORT, REVENUE, AT_RISK)
_REPORTS = (*_EARNED, DEMAND)


class Controlling:
    """The firm's book and the reports behind it.

    Attributes:
        book: Cash, receivables, three kinds of cost, and revenue; capital and payables if used.
        payroll: Salaries, workplaces and capacity.
        booked: The last step that is posted.
        flows: Reports by kind and step, in whole units; up to `booked` the amount of the step, from
            then on its change against the step before. Step 0 is empty.
        before_last: Balances before the last posted step, which are the accumulated figures.

    Args:
        scenario: The firm.
        rank: Controlling's place in the list of agents.
        opening_cash: Cash in hand at tick 0, in the book's units.
        pays_from_cash: Whether costs beyond the cash become payables.
    """

    def __init__(
        self,
        scenario: Scenario,
        rank: int,
        opening_cash: int = 0,
        *,
        pays_from_cash: bool = False,
    ) -> None:
        self.book = Book(CASH, RECEIVABLES, *COSTS, REVENUE, digits=DIGITS)
        self.payroll = Payroll(scenario, rank)
        if opening_cash:
            self.book.add_account(CAPITAL)
            self.book.transfer(0, "capital paid in", CASH, CAPITAL, opening_cash)
        if pays_from_cash:
            self.book.add_account(PAYABLES)
        self.booked = 0
        self.before_last: dict[str, int] = self.book.balances()
        # Agents behind controlling report one step late, and end one step after that.
        self.flows: dict[str, list[int]] = {kind: [0] * (scenario.steps + 3) for kind in _REPORTS}
        self._pays_from_cash = pays_from_cash
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
        """Post every step behind the booked ones up to and with this one, whose payday is over."""
        for flow in self.flows.values():
            amount = flow[self.booked]
            for t in range(self.booked + 1, step + 1):
                amount += flow[t]
                flow[t] = amount
        self._post(range(self.booked + 1, step))
        self.before_last = self.book.balances()
        self._post(range(step, step + 1))
        self.booked = step

    def _post(self, steps: range) -> None:
        transfer, revenue = self.book.transfer, self.flows[REVENUE]
        for t in steps:
            self._post_costs(t)
            if billed := revenue[t]:
                transfer(t, "work billed", RECEIVABLES, REVENUE, billed)
            if t > PAYMENT and (due := revenue[t - PAYMENT]):
                transfer(t, "bills paid", CASH, RECEIVABLES, due)
            if self._pays_from_cash:
                self._pay_up(t)

    def _post_costs(self, t: int) -> None:
        wages, places = self.payroll.salaries[t], self.payroll.workplaces[t]
        spent = wages + places + self._fixed
        short = spent - self.book.held[CASH] if self._pays_from_cash else 0
        # By name, because the book keeps the dict of its keywords and would copy another.
        if short <= 0:
            self.book.post(
                t,
                "costs of the step",
                salaries=wages,
                workplaces=places,
                fixed_cost=self._fixed,
                cash=-spent,
            )
        else:
            self.book.post(
                t,
                "costs of the step",
                salaries=wages,
                workplaces=places,
                fixed_cost=self._fixed,
                cash=short - spent,
                payables=-short,
            )

    def _pay_up(self, t: int) -> None:
        """Pay the payables, as far as the cash suffices."""
        held = self.book.held
        if paid := min(-held[PAYABLES], held[CASH]):
            self.book.transfer(t, "payables paid", PAYABLES, CASH, paid)

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
