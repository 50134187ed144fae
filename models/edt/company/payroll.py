"""The payroll: the consultants paid in each step.

The payday of step t falls on controlling's place in the list of agents. Consultants before that
place are paid for step t there, those behind it for step t - 1, as published.

The book's unit is 1e-12 of money, because rates times fractions of effort are not whole cents.
"""

from models.edt.scenario import Consultant, Scenario

#: Decimals of the book.
DIGITS = 12


UNIT = int(10**DIGITS)


def units(money: float) -> int:
    """Return an amount of money, or of effort, in whole units; whole amounts are exact."""
    return int(money) * UNIT if money.is_integer() else round(money * UNIT)


class Payroll:
    """Salaries, workplaces and capacity of the consultants on the payroll.

    Attributes:
        rank: Controlling's place in the list of agents, at which wages are paid.
        paid: The step of the last payday; 0 before the first.
        salaries: By step: up to the last payday the salaries paid, from then on the change against
            the step before, in the book's units. Step 0 is empty.
        workplaces: The same for the cost of workplaces.
        capacity: The same for consultant time, in whole units of 1e-12.
    """

    def __init__(self, scenario: Scenario, rank: int) -> None:
        self.rank = rank
        self.paid = 0
        # Agents behind controlling are paid one step late, and end one step after that.
        size = scenario.steps + 3
        self.salaries, self.workplaces, self.capacity = [0] * size, [0] * size, [0] * size
        self._dt = scenario.dt
        self._time = units(scenario.dt)

    def employ(self, terms: Consultant, rank: int, step: int, sign: int = 1) -> None:
        """Put a consultant on the payroll from a step on; with sign -1 take them off it."""
        at = step + (rank > self.rank)
        self.salaries[at] += sign * units(terms.salary * self._dt)
        self.workplaces[at] += sign * units(terms.workplace_cost * self._dt)
        self.capacity[at] += sign * self._time

    def pay(self, step: int) -> None:
        """Pay everyone who is on the payroll at this step; the steps before it are paid."""
        self.paid = step
        self.salaries[step] += self.salaries[step - 1]
        self.workplaces[step] += self.workplaces[step - 1]
        self.capacity[step] += self.capacity[step - 1]
