"""An upper bound on the earnings of any decision: all gates, all staff sizes, all first steps.

Let C consultants be kept and a set of gates be open. Only the steps 2 to n - 1 of n count.
Consultants are priced by the method of `project_value.py`. In every decision a consultant who takes
a seat was free before: at the start, or since they left another project. Prices of seats never rise
with time, so the seats cost at most what freed seats return, plus the first price for each
consultant; and busy steps are at most the b steps from step 2 to the end of the last project.
Hence, with the sum over all projects and their follow-ons,

    revenue <= C * b * step + C * free[2] + sum of project values          for any prices.

This leaves out the order of projects, preferences and the capacity of each step, so the cases are
then split by the set of projects that are ready in step 2. All consultants are free there, so the
set determines the seats that are taken. Those seats need no price, and a consultant without a seat
loses that step and is free in step 3:

    revenue <= C * b * step + idle * (free[3] - step) + sum of project values with these seats.

A set is dropped as soon as some prices show that it cannot exceed the earnings already known. The
bound is the largest one of the remaining sets. It holds for all R, because R acts through the open
gates alone, and up to the rounding of doubles, for which a billionth is allowed.
"""

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate
from math import fsum

import numpy as np
from attrs import field, frozen

from models.edt.scenario import Scenario
from policies.informed.edt.fast_play import expenses
from policies.informed.edt.prepared_firm import PreparedFirm
from policies.informed.edt.project_value import FIRST, ProjectValue, Windows, project_value
from policies.informed.edt.search import risks
from policies.informed.edt.staffing_program import Prices

#: Most prices of a step to try, for up to `PROJECTS` projects; for more projects fewer.
PRICES, PROJECTS = 12, 20

#: Number of times that the distance to the neighbouring prices of a step is halved.
HALVINGS = 4

#: Most sets of first projects in one case.
SETS = 20_000

#: Prices of a seat to try on a set, as multiples of the price of a step, and the shares of the
#: horizon after which they end.
SEATS = ((0.75, None), (0.5, None), (1.0, None), (0.75, 0.5), (0.75, 0.25), (0.75, 0.75))

_TOLERANCE = 1e-9

#: By project the seats taken in step 2; None if it is not ready then.
_Seated = tuple[int | None, ...]


def earnings_bound(scenario: Scenario, earned: float, least: int = 1) -> float:
    """Return an upper bound on the earnings of any decision, in money.

    Args:
        scenario: The scenario.
        earned: Earnings of some decision; returned if no decision earns more.
        least: The smallest number of consultants to keep, 0 or 1.
    """
    return EarningsBound(PreparedFirm.of(scenario, least)).above(earned)


@frozen
class Case:
    """All decisions with the same open gates and consultants.

    Attributes:
        most: Upper bound on their earnings, in money.
        gate: The threshold of the gates; they open for probabilities above it.
        consultants: Number of consultants kept.
        step: The price of a step from which `most` is computed.
    """

    most: float
    gate: float
    consultants: int
    step: float


@frozen(eq=False)
class EarningsBound:
    """The upper bound for one scenario.

    Attributes:
        firm: The prepared scenario.
    """

    firm: PreparedFirm
    _known: dict[tuple[int, bool, bool, Prices], ProjectValue] = field(factory=dict, init=False)
    _totals: dict[tuple[float, float], float] = field(factory=dict, init=False)

    def above(self, earned: float) -> float:
        """Return the upper bound; it is at least *earned*, the earnings of some decision."""
        worst = earned
        for case in sorted(self.cases(), key=lambda one: -one.most):
            if case.most <= self._beaten(worst):
                break
            closer = self.sharpened(case)
            worst = max(worst, min(closer.most, self.refined(closer, worst)))
        return worst

    def _beaten(self, earned: float) -> float:
        return earned + _TOLERANCE * max(1.0, abs(earned))

    # -- all decisions -----------------------------------------------------------------------------

    def cases(self) -> Iterator[Case]:
        """Yield all combinations of gates and consultants with their bounds."""
        for risk in risks(self.firm.scenario):
            gate = 1.0 - risk
            for count in self.firm.counts:
                tried = (self.case(gate, count, step) for step in self.steps)
                yield min(tried, key=lambda one: one.most)

    def case(self, gate: float, count: int, step: float) -> Case:
        """Return the bound of a case for a price of a step."""
        most = self.pool(count, step) + self.total(gate, step) - expenses(self.firm, count)
        return Case(most, gate, count, step)

    def sharpened(self, case: Case) -> Case:
        """Return a case with the best price near its own; the bound is convex in the price."""
        around = [0.0, *self.steps, 2 * self.steps[-1]]
        at = around.index(case.step, 1)
        low, high = around[at - 1], around[at + 1]
        for _ in range(HALVINGS):
            middles = [(low + case.step) / 2, (case.step + high) / 2]
            line = [low, middles[0], case.step, middles[1], high]
            cases = [case, *(self.case(case.gate, case.consultants, one) for one in middles)]
            case = min(cases, key=lambda one: one.most)
            at = line.index(case.step, 1)
            low, high = line[at - 1], line[at + 1]
        return case

    @cached_property
    def steps(self) -> Sequence[float]:
        """Prices of a step to try: billing rates of the projects."""
        scenario = self.firm.scenario
        rates = sorted({0.0, *(project.billing_rate for project in scenario.projects)})
        tried = max(3, min(PRICES, len(rates), PROJECTS * PRICES // max(1, len(scenario.projects))))
        places = np.linspace(0, len(rates) - 1, tried)
        return [rates[round(place)] * scenario.dt for place in places]

    def pool(self, consultants: int, step: float) -> float:
        """Return the price of all steps in which consultants can work."""
        return consultants * self.busy * step

    @cached_property
    def busy(self) -> int:
        """Number of steps from step 2 on in which a consultant may be busy or lose a step."""
        last = FIRST - 1
        for each in self.windows:
            for count, until in ((each.count, each.last), (each.count_after, each.last_after)):
                last = max(last, int(np.max(until[count > 0] + 1, initial=last)))
        return min(last, self.firm.steps - 1) - FIRST + 1 if last >= FIRST else 0

    def total(self, gate: float, step: float) -> float:
        """Return the sum of all project values at a price of a step, whatever happens in step 2."""
        if (gate, step) not in self._totals:
            values = self.values(gate, Prices(step))
            self._totals[gate, step] = fsum(each.most for each in values)
        return self._totals[gate, step]

    def values(self, gate: float, prices: Prices) -> list[ProjectValue]:
        """Return the value of each project."""
        return [
            self._project_value(place, gate, prices) for place in range(len(self.firm.projects))
        ]

    def _project_value(self, place: int, gate: float, prices: Prices) -> ProjectValue:
        project = self.firm.projects[place]
        terms = project.terms
        key = place, terms.extension_probability > gate, terms.follow_on_probability > gate, prices
        if key not in self._known:
            self._known[key] = project_value(self.firm, project, gate, prices, self.windows[place])
        return self._known[key]

    @cached_property
    def windows(self) -> list[Windows]:
        """Windows by project; projects that are decided on have the same ones."""
        read = cache(lambda at: Windows.of(self.firm, self.firm.projects[at]))
        fixed = [project.terms.is_follow_on for project in self.firm.projects]
        return [read(at if held else fixed.index(False)) for at, held in enumerate(fixed)]

    # -- by first step -----------------------------------------------------------------------------

    def refined(self, case: Case, earned: float) -> float:
        """Return a closer bound of a case, or *earned* if no set exceeds that."""
        worst = self._beaten(earned)
        left = self.sets(case, worst)
        if left is None:
            return case.most
        for prices in self._tries(case):
            left = {seated: most for seated, most in left.items() if most > worst}
            if not left:
                break
            left = {
                seated: min(most, self.seated(case, seated, prices))
                for seated, most in left.items()
            }
        most = max(left.values(), default=earned)
        return most if most > worst else earned

    def _tries(self, case: Case) -> Iterator[Prices]:
        for share, end in SEATS:
            until = None if end is None else round(end * self.firm.steps)
            yield Prices(case.step, share * case.step, until)

    def sets(self, case: Case, worst: float) -> dict[_Seated, float] | None:
        """Return the bounds of all sets not yet excluded; None if there are too many sets."""
        prices = Prices(case.step)
        values = self.values(case.gate, prices)
        rest = [0.0, *accumulate(each.most for each in reversed(values))][::-1]
        pool = self.pool(case.consultants, case.step) - expenses(self.firm, case.consultants)
        ways: list[tuple[float, tuple[bool, ...]]] = [(pool, ())]
        for each, later in zip(values, rest[1:], strict=True):
            ways = [
                (sure + more, (*ready, present))
                for sure, ready in ways
                for present, more in ((False, each.absent), (True, max(each.present)))
                if sure + more + later > worst
            ]
            if len(ways) > SETS:
                return None
        every = (self.seats(case.consultants, ready) for _, ready in ways)
        return {seated: self.seated(case, seated, prices) for seated in every}

    def seats(self, consultants: int, ready: Sequence[bool]) -> _Seated:
        """Return the seats taken in step 2: one on each ready project, then the others."""
        free, seated = consultants, list[int | None]()
        for present in ready:
            seated.append(min(1, free) if present else None)
            free -= seated[-1] or 0
        for place, project in enumerate(self.firm.projects):
            if taken := seated[place]:
                joining = min(free, project.terms.consultants - taken)
                seated[place] = taken + joining
                free -= joining
        return tuple(seated)

    def seated(self, case: Case, seated: _Seated, prices: Prices) -> float:
        """Return the bound of a case where these seats are taken in step 2."""
        pool = self.pool(case.consultants, prices.step)
        if self.busy:
            idle = case.consultants - sum(taken or 0 for taken in seated)
            again = prices.free(np.array([FIRST + 1]), self.firm.steps)[0]
            pool += idle * (float(again) - prices.step)
        values = self.values(case.gate, prices)
        rest = fsum(each.by(taken) for each, taken in zip(values, seated, strict=True))
        return pool + rest - expenses(self.firm, case.consultants)
