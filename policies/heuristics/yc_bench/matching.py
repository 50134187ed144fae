"""Assignment of people to tasks: of all offers and teams of free people, the most valuable pair.

The value of a task for a team: cents earned per unit of the work they could do instead.

A success pays, raises rates and raises salaries. Higher rates are valued by the additional work
until the horizon, at the price of a unit. The sum is divided by the units of typical work that the
team could do in the same hours, so that people who are slow elsewhere are cheap, and each is
assigned where they are comparatively fast.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from math import fsum
from operator import truediv

from attrs import define, field, frozen

from models.yc_bench.formulas import payout_factor
from models.yc_bench.params import PublicRules
from policies.heuristics.yc_bench.estimate import Estimate, TaskOffer, TeamMember
from policies.heuristics.yc_bench.forecast import ServicePlan

#: Hours of progress in a month of 21.7 weekdays of 15 hours.
_MONTH_HOURS = 326.0
#: Factor on tasks of clients outside the plan, whose trust wears off again.
_STRANGER = 0.8
#: Days of progress that a task must be done before it is due.
_SLACK = 1.0


@frozen(eq=False)
class TeamFigures:
    """A team as far as the value of a domain's tasks depends on it: computed once for all of them.

    Attributes:
        team: The people.
        speed: Units an hour as busy as they are.
        slowest: Units an hour if everybody took all the tasks for which they have room.
        typical: Units an hour of typical work that they could do instead.
        bump: Sum of their raises with a success, cents a month.
        learning: For each person below the cap, the gap to it and the rate, units an hour.
        payout: Factor on the listed rewards of the domain.
        mix: Share of the work ahead in the domain.
    """

    team: Sequence[TeamMember]
    speed: float
    slowest: float
    typical: float
    bump: float
    learning: list[tuple[float, float]]
    payout: float
    mix: float


@define(eq=False)
class TaskValuation:
    """Values tasks at one instant; sets the `typical` rate of all people.

    Attributes:
        estimate: The company as known.
        plan: The plan, whose clients' tasks are worth more.
        price: Cents a unit of work is expected to earn.
    """

    estimate: Estimate
    plan: ServicePlan
    price: float
    #: Hours of progress until the horizon, and in a weekday; months until the horizon.
    _hours: float = field(init=False)
    _day: float = field(init=False)
    _months: float = field(init=False)
    _usual: dict[str, list[TeamFigures]] = field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._hours, self._months = self.estimate.hours, self.estimate.months
        self._day = float(self.estimate.rules.progress_day_hours)
        mix = self.plan.mix.items()
        for who in self.estimate.people.values():
            who.typical = fsum([share * who.rates[domain] for domain, share in mix])

    def figures(
        self, domain: str, team: Sequence[TeamMember], *, alone: bool = False
    ) -> TeamFigures:
        """Return the figures of a team from which tasks of a domain are valued.

        The people are as busy as they are, unless they have nothing else to do, *alone*.
        """
        rules = self.estimate.rules
        most, rates = rules.skill_rate_max, [who.rates[domain] for who in team]
        shares = [1 if alone else len(who.jobs) + 1 for who in team]
        rooms = [max(who.room, share) for who, share in zip(team, shares, strict=True)]
        return TeamFigures(
            team=team,
            speed=fsum(map(truediv, rates, shares)),
            slowest=fsum(map(truediv, rates, rooms)),
            typical=fsum([who.typical / share for who, share in zip(team, shares, strict=True)]),
            bump=fsum([who.bump for who in team]),
            learning=[(most - rate, rate) for rate in rates if rate < most],
            payout=payout_factor(rules, self.estimate.prestige.get(domain, 1.0)),
            mix=self.plan.mix[domain],
        )

    def in_time(self, offer: TaskOffer, team: TeamFigures) -> bool:
        """Return whether a team would be done before deadline and horizon.

        This is judged as if everybody took all the tasks for which they have room.
        """
        if not team.slowest:
            return False
        hours = offer.quantity / team.slowest
        in_time = hours <= (offer.days - _SLACK) * self._day
        return in_time and hours + self._day / 2 <= self._hours

    def value(self, offer: TaskOffer, team: TeamFigures) -> float:
        """Return the value of a task for a team, in time or not; below 0 if it cannot do it."""
        if not team.speed:
            return -1.0
        hours = offer.quantity / team.speed
        left, months = self._hours - hours, self._months - hours / _MONTH_HOURS
        gain = offer.reward * team.payout
        # Comparisons instead of `max` and `min`: this is computed a hundred thousand times a year.
        if left > 0:
            boost = offer.boost
            # By how many units an hour the team gets faster.
            learned = fsum(
                [gap if gap < (more := rate * boost) else more for gap, rate in team.learning]
            )
            gain += learned * (left * team.mix) * self.price
        if months > 0:
            gain -= months * team.bump
        favour = 1.0 if offer.client in self.plan.serve else _STRANGER
        return gain / (hours * team.typical) * favour

    def best(self, offer: TaskOffer) -> float:
        """Return the value for the best of a few teams, if they had nothing else to do."""
        teams = self._usual.get(offer.domain)
        if teams is None:
            teams = self._usual[offer.domain] = self._usual_teams(offer.domain)
        return max([self.value(offer, team) for team in teams])

    def _usual_teams(self, domain: str) -> list[TeamFigures]:
        rules = self.estimate.rules
        ranked = fastest(self.estimate.people.values(), domain)
        size = rules.efficient_team or len(ranked)
        learning = [who for who in ranked if who.rates[domain] < rules.skill_rate_max]
        teams = [team for team in (ranked[:1], ranked[:size], learning[-size:]) if team]
        return [self.figures(domain, team, alone=True) for team in teams]


def fastest(people: Iterable[TeamMember], domain: str) -> list[TeamMember]:
    """Return people by rate in a domain, the fastest first, ties by name."""
    return sorted(people, key=lambda who: (-who.rates[domain], who.name))


Assignment = tuple[TaskOffer, list[TeamMember]]

#: Offers of each domain that are tried with every team.
_TRIED = 8


def match(valuation: TaskValuation, ranked: Iterable[TaskOffer]) -> Assignment | None:
    """Return the best of ranked offers and a team, or none that would be in time."""
    free = [who for who in valuation.estimate.people.values() if who.free]
    best, pair, rules = 0.0, None, valuation.estimate.rules
    for domain, offers in _shortlists(ranked).items():
        teams = [valuation.figures(domain, team) for team in _teams(free, domain, rules)]
        for offer, team in product(offers, teams):
            if valuation.in_time(offer, team):
                value = valuation.value(offer, team)
                if value > best:
                    best, pair = value, (offer, list(team.team))
    return pair


def _shortlists(ranked: Iterable[TaskOffer]) -> dict[str, list[TaskOffer]]:
    short: dict[str, list[TaskOffer]] = {}
    for offer in ranked:
        tried = short.setdefault(offer.domain, [])
        if len(tried) < _TRIED:
            tried.append(offer)
    return short


def _teams(free: Sequence[TeamMember], domain: str, rules: PublicRules) -> list[list[TeamMember]]:
    """Return everybody alone, the fastest, the slowest, and those who still learn."""
    ranked = fastest(free, domain)
    size = rules.efficient_team or len(ranked)
    teams = [[who] for who in ranked]
    for many in range(2, min(size, len(ranked)) + 1):
        teams += [ranked[:many], ranked[-many:]]
    learning = [who for who in ranked if who.rates[domain] < rules.skill_rate_max]
    if 1 < len(learning) < len(ranked):
        teams += [learning[:size], learning[-size:]]
    return teams
