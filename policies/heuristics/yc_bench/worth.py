"""What a task is worth to a team: cents earned per unit of the work they could do instead.

A success pays, teaches and raises salaries for good. What it teaches is worth the work that faster
people will do until the horizon, at the price of a unit. All this is divided by the hours it takes
times what the team does in an hour of typical work, so that people with little else to offer are
cheap and everybody goes where they are comparatively good.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from attrs import field, frozen

from policies.heuristics.yc_bench.estimate import Estimate, Offer, Person

__all__ = ["Worth", "fastest"]

#: Hours of progress in a month of 21.7 weekdays of 15 hours.
_MONTH_HOURS = 326.0


@frozen(eq=False)
class Worth:
    """Judges tasks at one instant.

    Attributes:
        estimate: The company.
        price: Cents a unit of work is expected to earn.
        mix: Share of the work ahead by domain; sums to 1.
        slack: Days of progress a task must be done before it is due.
        hours: Hours of progress until the horizon.
        months: Months until the horizon.
        day: Hours of progress in a weekday.
    """

    estimate: Estimate
    price: float
    mix: Mapping[str, float]
    slack: float
    hours: float
    months: float
    day: float
    _teams: dict[str, list[list[Person]]] = field(factory=dict, repr=False)

    @classmethod
    def of(
        cls, estimate: Estimate, price: float, mix: Mapping[str, float], slack: float
    ) -> "Worth":
        """Judge with what is known now."""
        for who in estimate.people.values():
            who.typical = fsum([share * who.rates[domain] for domain, share in mix.items()])
        day = estimate.rules.progress.day
        return cls(estimate, price, mix, slack, estimate.hours, estimate.months, day)

    def now(self, offer: Offer, team: Sequence[Person]) -> float:
        """Return the worth for people as busy as they are; below 0 if it would not be in time.

        Whether it is in time is judged as if everybody took all the tasks they have room for.
        """
        domain = offer.domain
        speed = fsum([who.rates[domain] / (who.load + 1) for who in team])
        slowest = fsum([who.rates[domain] / max(who.room, who.load + 1) for who in team])
        if not slowest or not self.in_time(offer, offer.quantity / slowest):
            return -1.0
        hours = offer.quantity / speed
        cost = hours * fsum([who.typical / (who.load + 1) for who in team])
        return self._gain(offer, team, hours) / cost

    def alone(self, offer: Offer, team: Sequence[Person]) -> float:
        """Return the worth if the team had nothing else to do, in time or not."""
        speed = fsum([who.rates[offer.domain] for who in team])
        if not speed:
            return -1.0
        hours = offer.quantity / speed
        return self._gain(offer, team, hours) / (hours * fsum([who.typical for who in team]))

    def best(self, offer: Offer) -> float:
        """Return the worth for the best of a few teams, if they had nothing else to do."""
        return max(self.alone(offer, team) for team in self._usual(offer.domain))

    def in_time(self, offer: Offer, hours: float) -> bool:
        """Return whether so many hours of progress end before deadline and horizon."""
        in_time = hours <= (offer.days - self.slack) * self.day
        return in_time and hours + self.day / 2 <= self.hours

    def _gain(self, offer: Offer, team: Sequence[Person], hours: float) -> float:
        estimate, rules = self.estimate, self.estimate.rules
        left = max(0.0, self.hours - hours) * self.mix[offer.domain]
        paid = rules.paid(offer.reward, estimate.prestige.get(offer.domain, 1.0))
        lost = max(0.0, self.months - hours / _MONTH_HOURS) * fsum([who.bump for who in team])
        return paid + self._learned(offer, team) * left * self.price - lost

    def _learned(self, offer: Offer, team: Iterable[Person]) -> float:
        """Return by how many units an hour the team gets faster."""
        most = self.estimate.rules.skill_rate_max
        rates = (who.rates[offer.domain] for who in team)
        return fsum([min(most - rate, rate * offer.boost) for rate in rates if rate < most])

    def _usual(self, domain: str) -> list[list[Person]]:
        if domain not in self._teams:
            self._teams[domain] = self._usual_teams(domain)
        return self._teams[domain]

    def _usual_teams(self, domain: str) -> list[list[Person]]:
        rules = self.estimate.rules
        ranked = fastest(self.estimate.people.values(), domain)
        size = rules.efficient_team or len(ranked)
        learning = [who for who in ranked if who.rates[domain] < rules.skill_rate_max]
        return [team for team in (ranked[:1], ranked[:size], learning[-size:]) if team]


def fastest(people: Iterable[Person], domain: str) -> list[Person]:
    """Return people by rate in a domain, the fastest first, ties by name."""
    return sorted(people, key=lambda who: (-who.rates[domain], who.name))
