"""A decision found by local search: simulated annealing over consultants, gates and windows."""

import math
from functools import cache
from random import Random

from attrs import define, field, frozen

from models.edt.decision import Plan, Window
from models.edt.scenario import Scenario
from policies.heuristics.edt.fast import Firm, earnings

__all__ = ["Found", "best_found", "risks"]

#: Decisions looked at between a random start and the end of cooling; more budget, more starts.
DESCENT = 5_000

#: Temperature at the start and at the end, in steps of the best paid consultant.
HOT, COLD = 10.0, 0.2


@frozen
class Found:
    """A decision and what it brings.

    Attributes:
        plan: The decision.
        earnings: Accumulated earnings at the last step.
    """

    plan: Plan
    earnings: float


@cache
def best_found(scenario: Scenario, evaluations: int, seed: int, least: int = 1) -> Found:
    """Search for the decision that earns most; the same each time for the same arguments.

    Args:
        scenario: The firm.
        evaluations: Decisions to look at, at least 1.
        seed: Of the search, at least 0.
        least: Consultants that must be kept, 0 or 1.
    """
    firm, rng = Firm.of(scenario, least), Random(seed)  # noqa: S311
    starts = max(1, evaluations // DESCENT)
    budgets = [(evaluations + at) // starts for at in range(starts)]
    found = [_Annealing(firm, rng, budget).run() for budget in budgets]
    return max(found, key=lambda one: one.earnings)


def risks(scenario: Scenario) -> list[float]:
    """Return one risk level for each set of gates that a risk level can open, the closed first.

    R acts through `probability > 1 - R` alone, so levels between two probabilities are alike.
    """
    levels = {p.extension_probability for p in scenario.projects}
    levels |= {p.follow_on_probability for p in scenario.projects}
    steps = sorted(levels - {0.0} | {1.0}, reverse=True)
    between = [(high + low) / 2 for high, low in zip(steps, [*steps[1:], 0.0], strict=True)]
    opened = [1.0 - middle for middle in between]
    return [0.0, *opened] if steps[0] in levels else [0.0, *opened[1:]]


@define
class _Annealing:
    """One descent from a random decision.

    Attributes:
        firm: The scenario, prepared.
        rng: Draws starts and neighbours.
        budget: Decisions to look at.
    """

    firm: Firm
    rng: Random
    budget: int
    risks: list[float] = field(init=False)
    unit: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        scenario = self.firm.scenario
        self.risks = risks(scenario)
        rates = [project.billing_rate for project in scenario.projects]
        self.unit = max(1e-9, *rates, 0.0) * scenario.dt

    def run(self) -> Found:
        """Return the best decision seen."""
        plan = self.start()
        best = now = Found(plan, earnings(self.firm, plan))
        for count in range(1, self.budget):
            plan = self.neighbour(now.plan)
            other = Found(plan, earnings(self.firm, plan))
            if self.accepted(other.earnings - now.earnings, count / self.budget):
                now = other
            if other.earnings > best.earnings:
                best = other
        return best

    def accepted(self, gain: float, elapsed: float) -> bool:
        """Whether to go on from a neighbour: always if it is no worse, else by chance."""
        heat = self.unit * HOT * (COLD / HOT) ** elapsed
        return gain >= 0 or self.rng.random() < math.exp(gain / heat)

    def start(self) -> Plan:
        """Draw a decision: most projects, much of the horizon."""
        firm, rng = self.firm, self.rng
        windows = [self.window() if rng.random() < 0.7 else None for _ in firm.limits.windows]  # noqa: PLR2004
        return self.sensible(firm.counts[-1], rng.choice(self.risks), windows)

    def sensible(self, count: int, risk: float, windows: list[Window | None]) -> Plan:
        """Keep at least one project, as the published repair would add all of them."""
        if windows and not any(windows):
            windows[self.rng.randrange(len(windows))] = self.window()
        return Plan(count, risk, tuple(windows))

    def window(self) -> Window:
        """Draw a window; the ends of the horizon are likely."""
        rng, end = self.rng, self.firm.limits.horizon
        first = rng.choice((0, 0, rng.randint(0, end)))
        return Window(first, rng.choice((end, end, rng.randint(first, end))))

    def neighbour(self, plan: Plan) -> Plan:
        """Change a thing or a few."""
        rng, counts = self.rng, self.firm.counts
        count, risk, windows = plan.consultants, plan.revenue_risk, list(plan.projects)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            draw = rng.random()
            if draw < 0.05 or not windows:  # noqa: PLR2004
                count = min(counts[-1], max(counts[0], count + rng.choice((-1, 1))))
            elif draw < 0.1:  # noqa: PLR2004
                risk = rng.choice(self.risks)
            else:
                at = rng.randrange(len(windows))
                windows[at] = self.moved(windows[at])
        return self.sensible(count, risk, windows)

    def moved(self, window: Window | None) -> Window | None:
        """Shift a window or one of its ends, draw it anew, or drop the project."""
        rng, end = self.rng, self.firm.limits.horizon
        change = rng.choices(("start", "end", "both", "new", "none"), (35, 30, 15, 15, 5))[0]
        if window is None or change == "new":
            return self.window()
        if change == "none":
            return None
        by = rng.choice((1, 1, 2, 3, 5, 8, 13, 25)) * rng.choice((-1, 1))
        first = window.start + by * (change != "end")
        first = min(end, max(0, first))
        return Window(first, min(end, max(first, window.deadline + by * (change != "start"))))
