"""What no decision can earn more than: an exhaustive argument over gates, staff and first steps.

Let C consultants be kept and a set of gates be open. Only the steps 2 to n - 1 of n count. Price
consultants as in `worth.py`. Whatever is decided, a consultant who takes a seat was free before:
at the start, or since they left another project. As prices of seats never rise with time, what is
paid for seats is at most what is paid back, plus the first price for each consultant; and busy
steps are at most the b steps from step 2 to the end of the last project that can be. Hence, the sum
being over projects with their follow-ons,

    revenue <= C * b * step + C * free[2] + sum of worths                  for any prices.

Order of projects, preferences and capacity in each step are left out of that, so it is then split
by the set of projects that are ready in step 2. There everybody is free, so the set fixes who sits
where. Those seats need no price, and whoever finds none loses that step and is free in step 3:

    revenue <= C * b * step + idle * (free[3] - step) + sum of worths with these seats.

Every set is dropped as soon as some prices show that it cannot beat the decision to beat. The
bound is the largest of what is left; it holds for all R, since R acts through the open gates alone,
and up to the rounding of doubles, for which a billionth is allowed.
"""

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate
from math import fsum

import numpy as np
from attrs import field, frozen

from models.edt.scenario import Scenario
from policies.heuristics.edt.course import Prices
from policies.heuristics.edt.fast import Firm, expenses
from policies.heuristics.edt.search import risks
from policies.heuristics.edt.worth import FIRST, Windows, Worth, worth

__all__ = ["Bound", "Case", "bound"]

#: Prices of a step that are tried, at most, with up to so many projects; with more, fewer.
PRICES, PROJECTS = 12, 20

#: How often the distance to the next prices of a step is halved.
HALVINGS = 4

#: Sets of first projects that are looked at in one case.
SETS = 20_000

#: Prices of a seat that are tried on a set, in prices of a step, and where they end, in horizons.
SEATS = ((0.75, None), (0.5, None), (1.0, None), (0.75, 0.5), (0.75, 0.25), (0.75, 0.75))

_TOLERANCE = 1e-9

#: A set of projects that are ready in step 2: seats taken by project, none where it is not ready.
_Seated = tuple[int | None, ...]


def bound(scenario: Scenario, earned: float, least: int = 1) -> float:
    """Return what no decision earns more than.

    Args:
        scenario: The firm.
        earned: What some decision earns; where nothing earns more, it is the bound.
        least: Consultants that must be kept, 0 or 1.
    """
    return Bound(Firm.of(scenario, least)).above(earned)


@frozen
class Case:
    """Decisions with the same open gates and consultants.

    Attributes:
        most: None of them earns more.
        gate: What a probability must exceed.
        consultants: How many are kept.
        step: The price of a step that shows it.
    """

    most: float
    gate: float
    consultants: int
    step: float


@frozen(eq=False)
class Bound:
    """The argument for one firm.

    Attributes:
        firm: The scenario, prepared.
    """

    firm: Firm
    _known: dict[tuple[int, bool, bool, Prices], Worth] = field(factory=dict, init=False)
    _totals: dict[tuple[float, float], float] = field(factory=dict, init=False)

    def above(self, earned: float) -> float:
        """Return what no decision earns more than, at least what one is known to earn."""
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
        """Yield all combinations of gates and consultants with their bound."""
        for risk in risks(self.firm.scenario):
            gate = 1.0 - risk
            for count in self.firm.counts:
                tried = (self.case(gate, count, step) for step in self.steps)
                yield min(tried, key=lambda one: one.most)

    def case(self, gate: float, count: int, step: float) -> Case:
        """Bound all decisions with some open gates and consultants by a price of a step."""
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
        """Prices of a step to try: what projects pay for it."""
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
        """Steps from step 2 on in which somebody may be busy, or lose a step behind a project."""
        last = FIRST - 1
        for each in self.windows:
            for count, until in ((each.count, each.last), (each.count_after, each.last_after)):
                last = max(last, int(np.max(until[count > 0] + 1, initial=last)))
        return min(last, self.firm.steps - 1) - FIRST + 1 if last >= FIRST else 0

    def total(self, gate: float, step: float) -> float:
        """Return the sum of worths at a price of a step, whatever happens in step 2."""
        if (gate, step) not in self._totals:
            worths = self.worths(gate, Prices(step))
            self._totals[gate, step] = fsum(each.most for each in worths)
        return self._totals[gate, step]

    def worths(self, gate: float, prices: Prices) -> list[Worth]:
        """Return the worth of each project."""
        return [self._worth(place, gate, prices) for place in range(len(self.firm.works))]

    def _worth(self, place: int, gate: float, prices: Prices) -> Worth:
        work = self.firm.works[place]
        terms = work.terms
        key = place, terms.extension_probability > gate, terms.follow_on_probability > gate, prices
        if key not in self._known:
            self._known[key] = worth(self.firm, work, gate, prices, self.windows[place])
        return self._known[key]

    @cached_property
    def windows(self) -> list[Windows]:
        """Windows by project; all that are decided on share theirs."""
        read = cache(lambda at: Windows.of(self.firm, self.firm.works[at]))
        fixed = [work.terms.is_follow_on for work in self.firm.works]
        return [read(at if held else fixed.index(False)) for at, held in enumerate(fixed)]

    # -- by first step -----------------------------------------------------------------------------

    def refined(self, case: Case, earned: float) -> float:
        """Return a closer bound of a case, or `earned` if it has nothing that beats that."""
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
        """Return the sets of first projects not yet excluded; none if they are too many."""
        prices = Prices(case.step)
        worths = self.worths(case.gate, prices)
        rest = [0.0, *accumulate(each.most for each in reversed(worths))][::-1]
        pool = self.pool(case.consultants, case.step) - expenses(self.firm, case.consultants)
        ways: list[tuple[float, tuple[bool, ...]]] = [(pool, ())]
        for each, later in zip(worths, rest[1:], strict=True):
            ways = [
                (sure + more, (*ready, present))
                for sure, ready in ways
                for present, more in ((False, each.absent), (True, max(each.present)))
                if sure + more + later > worst
            ]
            if len(ways) > SETS:
                return None
        found = (self.seats(case.consultants, ready) for _, ready in ways)
        return {seated: self.seated(case, seated, prices) for seated in found}

    def seats(self, consultants: int, ready: Sequence[bool]) -> _Seated:
        """Return who sits where in step 2: one on each ready project, the others from the front."""
        free, seated = consultants, list[int | None]()
        for present in ready:
            seated.append(min(1, free) if present else None)
            free -= seated[-1] or 0
        for place, work in enumerate(self.firm.works):
            if taken := seated[place]:
                joining = min(free, work.terms.consultants - taken)
                seated[place] = taken + joining
                free -= joining
        return tuple(seated)

    def seated(self, case: Case, seated: _Seated, prices: Prices) -> float:
        """Return what nothing earns more than where these seats are taken in step 2."""
        pool = self.pool(case.consultants, prices.step)
        if self.busy:
            idle = case.consultants - sum(taken or 0 for taken in seated)
            again = prices.free(np.array([FIRST + 1]), self.firm.steps)[0]
            pool += idle * (float(again) - prices.step)
        worths = self.worths(case.gate, prices)
        rest = fsum(each.by(taken) for each, taken in zip(worths, seated, strict=True))
        return pool + rest - expenses(self.firm, case.consultants)
