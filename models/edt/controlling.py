"""The firm's double-entry book, its payroll, and effort, demand and risk of every step.

Agents report at their turn and controlling posts at its own, so reports of agents behind it in the
list of agents are posted one step late. Reports are kept as changes from one step to the next, in
whole units of 1e-12: sums are exact, and a steady stretch costs the same time whatever its length.
"""

from itertools import accumulate

from ledgers.book import Book
from models.edt.scenario import Consultant, Scenario

#: Steps from revenue to cash.
PAYMENT = 2

#: Decimals of the book, because rates times fractions of effort are not whole cents.
_DIGITS = 12
UNIT = int(10**_DIGITS)

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
CAPACITY = "capacity"
EFFORT = "effort"
AT_RISK = "at_risk"
DEMAND = "demand"

_PAYROLL = (SALARIES, WORKPLACES, CAPACITY)
_EARNED = (EFFORT, REVENUE, AT_RISK)


def units(amount: float) -> int:
    """Return money, or effort, in whole units of 1e-12; whole amounts are exact."""
    return int(amount) * UNIT if amount.is_integer() else round(amount * UNIT)


class Controlling:
    """The firm's book and the reports behind it.

    Attributes:
        book: Cash, receivables, three kinds of cost, and revenue; capital and payables if used.
        rank: Controlling's place in the list of agents, at which wages are paid.
        paid: The step of the last payday; 0 before the first.
        booked: The last step that is posted.
        flows: Reports by kind and step, in whole units: the amount of the step up to `paid` (wages
            and capacity) or `booked` (the rest), from then on its change against the step before.
            Step 0 is empty.
        before_last: Balances before the last posted step, which are the accumulated figures.
        fixed: Fixed cost of a step, in whole units.
    """

    def __init__(self, scenario: Scenario, opening_cash: float, *, pays_from_cash: bool) -> None:
        self.book = Book(CASH, RECEIVABLES, *COSTS, REVENUE, digits=_DIGITS)
        if opening_cash:
            self.book.add_account(CAPITAL)
            self.book.transfer(0, "capital paid in", CASH, CAPITAL, units(opening_cash))
        if pays_from_cash:
            self.book.add_account(PAYABLES)
        self.rank = 0
        self.paid = self.booked = 0
        self.before_last: dict[str, int] = self.book.balances()
        # Agents behind controlling report one step late, and end one step after that.
        kinds = (*_PAYROLL, *_EARNED, DEMAND)
        self.flows: dict[str, list[int]] = {kind: [0] * (scenario.steps + 3) for kind in kinds}
        self._payroll = [self.flows[kind] for kind in _PAYROLL]
        self._pays_from_cash = pays_from_cash
        self._dt = scenario.dt
        self.fixed = units(scenario.fixed_cost * scenario.dt)

    # -- reports -----------------------------------------------------------------------------------

    def employ(self, terms: Consultant, rank: int, step: int, sign: int = 1) -> None:
        """Put a consultant on the payroll from a step on; with sign -1 take them off it."""
        at, dt = step + (rank > self.rank), self._dt
        for kind, rate in zip(_PAYROLL, (terms.salary, terms.workplace_cost, 1.0), strict=True):
            self.flows[kind][at] += sign * units(rate * dt)

    def seek(self, seats: int, rank: int, step: int) -> None:
        """Count so many seats of demand more from a step on, or fewer if negative."""
        self.flows[DEMAND][step + (rank > self.rank)] += seats

    def earn(self, steps: range, rank: int, delivered: float, rate: float, risk: float) -> None:
        """Count the work that a project reports in some steps: the effort delivered in each."""
        late, money = rank > self.rank, delivered * rate
        reports = (units(delivered), units(money), units(money * risk))
        for kind, amount in zip(_EARNED, reports, strict=True):
            flow = self.flows[kind]
            flow[steps.start + late] += amount
            flow[steps.stop + late] -= amount

    # -- payday and settlement ---------------------------------------------------------------------

    def pay(self, step: int) -> None:
        """Pay everyone who is on the payroll at this step; the steps before it are paid."""
        self.paid = step
        for flow in self._payroll:
            flow[step] += flow[step - 1]

    def settle(self) -> None:
        """Post every step up to and with that of the last payday."""
        step, new = self.paid, slice(self.booked, self.paid + 1)
        for kind in (*_EARNED, DEMAND):
            flow = self.flows[kind]
            flow[new] = accumulate(flow[new])
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
        wages, places = self.flows[SALARIES][t], self.flows[WORKPLACES][t]
        spent = wages + places + self.fixed
        costs = {SALARIES: wages, WORKPLACES: places, FIXED_COST: self.fixed, CASH: -spent}
        if self._pays_from_cash and (short := spent - self.book.held[CASH]) > 0:
            costs |= {CASH: short - spent, PAYABLES: -short}
        self.book.post(t, "costs of the step", **costs)

    def _pay_up(self, t: int) -> None:
        """Pay the payables, as far as the cash suffices."""
        held = self.book.held
        if paid := min(-held[PAYABLES], held[CASH]):
            self.book.transfer(t, "payables paid", PAYABLES, CASH, paid)

    def posted(self, kind: str) -> list[int]:
        """Return a report by posted step: whole units of 1e-12, demand in seats."""
        return self.flows[kind][1 : self.booked + 1]
