"""How much can the consulting firm earn where no bound is known? A hill climb, kept as a record.

It changes one thing at a time (staff, risk, a window, the seats of a project, a day of hiring),
plays the episode of the seed, and keeps what earns at least as much. It knows the seed, so the
result is a yardstick and not a rule for a manager. It climbs for seed 0 first; every seed starts
from that result, with a quarter of the plays.

The records are for `desim record-book add`.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import click
from attrs import evolve, frozen

from desim import play
from models.edt import EnterpriseDigitalTwin
from models.edt.actions import Accept, Command, Decide, Hire, Release, SetRisk, Staff, Wait
from models.edt.observation import Briefing, Dashboard
from models.edt.planning.decision import DecisionLimits, Window

#: Levels of R: all gates closed, two levels between, all open.
RISKS = (0.0, 0.3, 0.6, 1.0)


@frozen(repr=False)
class Schedule:
    """The plan of a manager, the same whatever happens.

    Attributes:
        staff: The consultants to keep from each of some steps on, in order of the steps.
        risk: R from the start on.
        windows: For each project its steps, or None to leave it out; follow-ons are taken.
        seats: For each project the consultants on it at most.
    """

    staff: tuple[tuple[int, int], ...]
    risk: float
    windows: tuple[tuple[int, int] | None, ...]
    seats: tuple[int, ...]

    def __repr__(self) -> str:
        """Return the name of this script, which records hold as the policy."""
        return "experiments/climb_edt.py"

    def decide(self, seen: Briefing | Dashboard) -> Decide | Command:
        """Return the decision, or the next command."""
        if isinstance(seen, Dashboard):
            return self._command(seen)
        windows = (Window(*one) if one else None for one in self.windows)
        return Decide(self.staff[0][1], self.risk, tuple(windows))

    def _command(self, seen: Dashboard) -> Command:
        if seen.revenue_risk != self.risk:
            return SetRisk(self.risk)
        for one in seen.projects:
            window = self.windows[one.index] if one.index < len(self.windows) else (0, 0)
            if one.over or window is None:
                continue
            seats = min(one.most_seats, self.seats[one.index % len(self.seats)])
            if not one.accepted and seen.step >= window[0]:
                return Accept(one.index)
            if one.accepted and one.seats != seats:
                return Staff(one.index, seats)
        return self._payroll(seen)

    def _payroll(self, seen: Dashboard) -> Command:
        wanted = [number for step, number in self.staff if step <= seen.step][-1]
        if wanted < seen.hired:
            return Release(seen.hired - wanted)
        if wanted > seen.hired and seen.free:
            return Hire(min(seen.free, wanted - seen.hired))
        return Wait()


class Neighbours:
    """Draws schedules that differ from one in a single thing."""

    def __init__(self, model: EnterpriseDigitalTwin, rng: Random) -> None:
        self.limits = DecisionLimits.of(model.loaded_scenario)
        self.events = model.asks == "events"
        self._rng = rng

    def start(self) -> Schedule:
        """Return the schedule that takes every project with everybody and closes every gate."""
        most, projects = self.limits.consultants, len(self.limits.windows)
        windows = ((0, self.limits.horizon),) * projects
        return Schedule(((0, most),), 0.0, windows, (most,) * projects)

    def of(self, one: Schedule) -> Schedule:
        """Return a neighbour."""
        moves = [self._staffed, self._risked, self._windowed, self._windowed, self._windowed]
        return self._rng.choice([*moves, *[self._seated] * self.events])(one)

    def _staffed(self, one: Schedule) -> Schedule:
        days, draw = dict(one.staff), self._rng
        day = draw.choice([*days])
        if self.events and draw.random() < 0.5:
            day = draw.randrange(self.limits.horizon)
        if day and day in days and draw.random() < 0.3:
            del days[day]
        else:
            number = days.get(day, self.limits.consultants) + draw.choice([-3, -2, -1, 1, 2, 3])
            days[day] = min(max(number, 1), self.limits.consultants)
        return evolve(one, staff=tuple(sorted(days.items())))

    def _risked(self, one: Schedule) -> Schedule:
        return evolve(one, risk=self._rng.choice(RISKS))

    def _windowed(self, one: Schedule) -> Schedule:
        windows, draw = list(one.windows), self._rng
        at, end = draw.randrange(len(windows)), self.limits.horizon
        first, last = windows[at] or (0, end)
        match draw.randrange(5):
            case 0:
                windows[at] = None if windows[at] else (first, last)
            case 1:  # often a project should begin where another one ends
                ends = [window[1] for window in windows if window]
                windows[at] = self._window(draw.choice([0, *ends]) + draw.choice([0, 1]), end)
            case 2:
                windows[at] = self._window(first + draw.randint(-9, 9), last)
            case 3:
                windows[at] = self._window(first, last + draw.randint(-9, 9))
            case _:
                windows[at] = self._window(draw.randint(0, end), draw.randint(0, end))
        return evolve(one, windows=tuple(windows))

    def _window(self, first: int, last: int) -> tuple[int, int]:
        first, last = (min(max(step, 0), self.limits.horizon) for step in (first, last))
        return min(first, last), max(first, last)

    def _seated(self, one: Schedule) -> Schedule:
        seats, at = list(one.seats), self._rng.randrange(len(one.seats))
        seats[at] = self._rng.randint(0, self.limits.consultants)
        return evolve(one, seats=tuple(seats))


def climbed(
    start: Schedule, neighbour: Callable[[Schedule], Schedule], earn: Any, plays: int
) -> Schedule:
    """Return the best schedule of a climb with a number of plays."""
    best, most = start, earn(start)
    for _ in range(plays - 1):
        one = neighbour(best)
        if (earned := earn(one)) >= most:
            best, most = one, earned
    return best


@click.command()
@click.argument("preset", type=click.Choice(["interactive", "paper"]))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--plays", default=10_000, show_default=True, help="Episodes of the climb for seed 0."
)
@click.option("--starts", default=3, show_default=True, help="Climbs for seed 0; the best goes on.")
@click.option("--seeds", default=20, show_default=True, help="Seeds from 0, if the seed matters.")
def main(preset: str, folder: Path, plays: int, starts: int, seeds: int) -> None:
    """Write a record for each seed into FOLDER."""
    model = EnterpriseDigitalTwin.preset(preset)
    folder.mkdir(exist_ok=True)

    def earned(seed: int) -> Callable[[Schedule], float]:
        return lambda one: play(model, one, seed, keep_steps=False, keep_state=False).score

    ends = []
    for draws in range(starts):
        near = Neighbours(model, Random(draws))  # noqa: S311
        ends.append(climbed(near.start(), near.of, earned(0), plays // starts))
        print(f"start {draws}: {earned(0)(ends[-1]):,.0f}", flush=True)
    best = max(ends, key=earned(0))
    for seed in range(1 if model.deterministic else seeds):
        near = Neighbours(model, Random(seed))  # noqa: S311
        own = climbed(best, near.of, earned(seed), plays // 4)
        episode = play(model, own, seed, record=folder / f"{preset}-{seed}.jsonl.gz")
        print(f"seed {seed}: {episode.score:,.0f}", flush=True)


if __name__ == "__main__":
    main()
