"""A local search for a decision: simulated annealing, climbs from its ends, and a descent.

Annealing visits consultants, gates and windows. A window often has to begin or end when another one
does, because consultants are free then; moves that align two windows find such decisions.
"""

import math
from collections.abc import Iterator
from functools import cache
from random import Random

from attrs import define, field, frozen

from models.edt.actions import Decide, Window
from models.edt.scenario import Scenario
from policies.heuristics.edt.fast_play import FastPlay
from policies.heuristics.edt.prepared_firm import PreparedFirm

#: Decisions from a random start to the end of cooling; a larger budget allows more starts.
DESCENT = 10_000

#: Shares of the budget for annealing and for climbs; the rest is for the descent at the end.
ANNEALING, CLIMBS = 0.5, 0.42

#: Temperature at the start and at the end, in steps of the best paid consultant.
HOT, COLD = 10.0, 0.2

#: Steps between the windows that the descent tries for a project that is left out.
COARSE = 6

#: Most steps between two ends of windows that are moved together.
NEAR = 2

#: The least relative gain of a descent: smaller ones come from the order of additions alone.
_GAIN = 1e-12

#: A window as its first and its last step, None for a project that is left out.
_Window = tuple[int, int] | None

#: Consultants, number of the risk level, and windows.
_Decision = tuple[int, int, list[_Window]]


@frozen
class RatedPlan:
    """A decision with its earnings.

    Attributes:
        plan: The decision.
        earnings: Accumulated earnings at the last step, in money.
    """

    plan: Decide
    earnings: float


@cache
def best_found(scenario: Scenario, evaluations: int, seed: int, least: int = 1) -> RatedPlan:
    """Return the best decision of a search; equal arguments give equal results.

    Args:
        scenario: The scenario.
        evaluations: Number of decisions to evaluate, at least 1.
        seed: Seed of the search, at least 0.
        least: The smallest number of consultants to keep, 0 or 1.
    """
    search = _Search(PreparedFirm.of(scenario, least), Random(seed), evaluations)  # noqa: S311
    annealing = max(1, int(evaluations * ANNEALING))
    starts = max(1, annealing // DESCENT)
    ends = [search.annealed((annealing + at) // starts) for at in range(starts)]
    # A climb crosses plateaus, on which annealing ends anywhere. One begins at the plain decision.
    each = int(evaluations * CLIMBS) // (starts + 1)
    ends += [search.climbed(*end, each) for end in ends]
    if each:
        plain = search.plain()
        ends.append(search.climbed(search.earned(plain), plain, each - 1))
    best = max(ends, key=lambda one: one[0])
    found, decision = search.descended(*best)
    return RatedPlan(search.plan(decision), found)


def risks(scenario: Scenario) -> list[float]:
    """Return one risk level for each set of gates that some level opens, the empty set first.

    R acts through `probability > 1 - R` alone, so levels between two probabilities are equivalent.
    """
    levels = {p.extension_probability for p in scenario.projects}
    levels |= {p.follow_on_probability for p in scenario.projects}
    steps = sorted(levels - {0.0} | {1.0}, reverse=True)
    between = [(high + low) / 2 for high, low in zip(steps, [*steps[1:], 0.0], strict=True)]
    opened = [1.0 - middle for middle in between]
    return [0.0, *opened] if steps[0] in levels else [0.0, *opened[1:]]


@define
class _Search:
    """A search with a budget.

    Attributes:
        firm: The prepared scenario.
        rng: Draws starts and neighbours.
        left: Number of decisions that may still be evaluated.
        risks: The risk levels to choose from.
        unit: Unit of the temperature, in money: a step of the best-paid consultant.
        end: The last step that a window may name.
    """

    firm: PreparedFirm
    rng: Random
    left: int
    risks: list[float] = field(init=False)
    unit: float = field(init=False)
    end: int = field(init=False)
    _game: FastPlay = field(init=False)

    def __attrs_post_init__(self) -> None:
        scenario = self.firm.scenario
        self.risks = risks(scenario)
        rates = [project.billing_rate for project in scenario.projects]
        self.unit = max(1e-9, *rates, 0.0) * scenario.dt
        self.end = self.firm.limits.horizon
        self._game = FastPlay(self.firm)

    def plan(self, decision: _Decision) -> Decide:
        """Return a decision in the model's form."""
        count, risk, windows = decision
        chosen = tuple(Window(*window) if window else None for window in windows)
        return Decide(count, self.risks[risk], chosen)

    def earned(self, decision: _Decision) -> float:
        """Evaluate a decision."""
        self.left -= 1
        count, risk, windows = decision
        return self._game.earnings(count, self.risks[risk], windows)

    # -- annealing ---------------------------------------------------------------------------------

    def annealed(self, budget: int) -> tuple[float, _Decision]:
        """Return the best of *budget* decisions from a random one on, with its earnings first."""
        rng, now = self.rng, self.start()
        here = most = self.earned(now)
        best = now
        for count in range(1, budget):
            other = self.neighbour(now)
            there = self.earned(other)
            gain = there - here
            heat = self.unit * HOT * (COLD / HOT) ** (count / budget)
            if gain >= 0 or rng.random() < math.exp(gain / heat):
                now, here = other, there
            if there > most:
                best, most = other, there
        return most, best

    def climbed(self, earned: float, decision: _Decision, budget: int) -> tuple[float, _Decision]:
        """Return the end of a walk through *budget* decisions that never earns less."""
        for _ in range(budget):
            other = self.neighbour(decision)
            if (there := self.earned(other)) >= earned:
                earned, decision = there, other
        return earned, decision

    def plain(self) -> _Decision:
        """Return the decision with all consultants, all gates and all longest windows."""
        windows: list[_Window] = [(0, self.end)] * len(self.firm.limits.windows)
        return self.firm.counts[-1], len(self.risks) - 1, windows

    def start(self) -> _Decision:
        """Draw a decision with most projects and much of the horizon."""
        rng = self.rng
        windows = [self.window() if rng.random() < 0.7 else None for _ in self.firm.limits.windows]  # noqa: PLR2004
        self.take_any(windows)
        return self.firm.counts[-1], rng.randrange(len(self.risks)), windows

    def take_any(self, windows: list[_Window]) -> None:
        """Take at least one project, since the repair adds all projects to none."""
        if windows and not any(windows):
            windows[self.rng.randrange(len(windows))] = self.window()

    def window(self) -> tuple[int, int]:
        """Draw a window, likely at the ends of the horizon."""
        rng, end = self.rng, self.end
        first = rng.choice((0, 0, rng.randint(0, end)))
        return first, rng.choice((end, end, rng.randint(first, end)))

    def neighbour(self, decision: _Decision) -> _Decision:
        """Return a decision with one to three changes."""
        rng, counts = self.rng, self.firm.counts
        count, risk, windows = decision
        windows = windows.copy()
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            draw = rng.random()
            if draw < 0.04 or not windows:  # noqa: PLR2004
                count = min(counts[-1], max(counts[0], count + rng.choice((-1, 1))))
            elif draw < 0.08:  # noqa: PLR2004
                risk = rng.randrange(len(self.risks))
            elif draw < 0.13:  # noqa: PLR2004
                one, two = rng.randrange(len(windows)), rng.randrange(len(windows))
                windows[one], windows[two] = windows[two], windows[one]
            elif draw < 0.21:  # noqa: PLR2004
                windows = self.shifted(windows)
            else:
                at = rng.randrange(len(windows))
                align = draw < 0.47  # noqa: PLR2004
                windows[at] = (
                    self.aligned(windows[at], windows) if align else self.moved(windows[at])
                )
        self.take_any(windows)
        return count, risk, windows

    def aligned(self, window: _Window, windows: list[_Window]) -> _Window:
        """Return a window of which one end is moved near an end of one of the windows."""
        if window is None:
            return self.moved(window)
        rng = self.rng
        other = rng.choice([one for one in windows if one])
        step = rng.choice(other) + rng.choice((-2, -1, 0, 0, 1, 2))
        step = min(self.end, max(0, step))
        first, last = window
        return (step, max(step, last)) if rng.random() < 0.5 else (min(first, step), step)  # noqa: PLR2004

    def shifted(self, windows: list[_Window]) -> list[_Window]:
        """Return windows of which all ends near one of them are moved together."""
        rng, end = self.rng, self.end
        around = rng.choice(rng.choice([one for one in windows if one] or [(0, 0)]))
        by = rng.choice((1, 1, 2, 3, 5, 8, 13)) * rng.choice((-1, 1))

        def put(step: int) -> int:
            return min(end, max(0, step + by)) if abs(step - around) <= NEAR else step

        ends = ((put(one[0]), put(one[1])) if one else None for one in windows)
        return [(min(one), max(one)) if one else None for one in ends]

    def moved(self, window: _Window) -> _Window:
        """Return a window that is shifted or drawn anew, or None to drop the project."""
        rng, end = self.rng, self.end
        change = rng.choices(("start", "end", "both", "new", "none"), (35, 30, 15, 15, 5))[0]
        if window is None or change == "new":
            return self.window()
        if change == "none":
            return None
        by = rng.choice((1, 1, 2, 3, 5, 8, 13, 25)) * rng.choice((-1, 1))
        first, last = window
        first = min(end, max(0, first + by * (change != "end")))
        return first, min(end, max(first, last + by * (change != "start")))

    # -- descent -----------------------------------------------------------------------------------

    def descended(self, earned: float, decision: _Decision) -> tuple[float, _Decision]:
        """Change one thing at a time while that earns more and the budget lasts."""
        improved = True
        while improved:
            improved = False
            for other in self.changes(decision):
                if self.left <= 0:
                    return earned, decision
                if (there := self.earned(other)) > earned + _GAIN * abs(earned):
                    earned, decision, improved = there, other, True
                    break
        return earned, decision

    def changes(self, decision: _Decision) -> Iterator[_Decision]:
        """Yield the decisions with another C, another R or another window of one project."""
        count, risk, windows = decision
        for at, window in enumerate(windows):
            for other in self.others(window, alone=sum(map(bool, windows)) == 1):
                yield count, risk, [*windows[:at], other, *windows[at + 1 :]]
        yield from ((other, risk, windows) for other in self.firm.counts if other != count)
        yield from ((count, other, windows) for other in range(len(self.risks)) if other != risk)

    def others(self, window: _Window, *, alone: bool) -> Iterator[_Window]:
        """Yield no window, and those with another start or end, or shifted; a grid for None."""
        end = self.end
        if window is None:
            steps = range(0, end + 1, COARSE)
            yield from ((first, last) for first in steps for last in steps if first <= last)
            return
        start, stop = window
        if not alone:
            yield None
        yield from ((first, stop) for first in range(stop + 1) if first != start)
        yield from ((start, last) for last in range(start, end + 1) if last != stop)
        shifts = (by for by in range(-start, end - stop + 1) if by)
        yield from ((start + by, stop + by) for by in shifts)
