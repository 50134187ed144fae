"""Look-ahead: what a plan would earn until the horizon, by rollout on the player's own estimate.

A plan says whom to serve and in which domain to become fast. Its rollout goes from success to
success with a typical task: the staff learns, trust grows in those served and wears off elsewhere,
salaries rise, and the best part of all tasks that will be offered is done. What replaces a task is
drawn from the published distributions, without the client's multiplier (SPEC 2.4 and 4.5).
"""

from collections.abc import Sequence
from itertools import combinations
from math import fsum, sqrt
from typing import Self

from attrs import define, field, frozen

from models.yc_bench.actions import DOMAINS
from policies.heuristics.yc_bench.estimate import Estimate, Offer
from policies.heuristics.yc_bench.ruleset import Ruleset

__all__ = ["Plan", "forecast", "plans"]

#: Chance that a task is of one of its client's specialties, before all domains are drawn evenly.
_SPECIAL = 0.7
#: Share of the work in the domain of a plan that has one.
_FOCUSED = 0.9
#: Reward in cents and quantity of a replacement: low, high, mode.
_REWARD, _QUANTITY = (200_000.0, 1_200_000.0, 500_000.0), (400.0, 1500.0, 800.0)
#: Mean quantity of a replacement.
_TYPICAL = sum((400, 1500, 800)) / 3
#: Mean skill boost; how finely distributions are cut; share of all hours that get used.
_BOOST, _CUTS, _USED = 0.12, 12, 0.9
_WEEKDAYS_A_DAY = 5 / 7
#: Tasks a company may do in a year, for a first guess; units an hour of the slowest one there is.
_TASKS, _SLOWEST = 200, 1.0


@frozen
class Plan:
    """Whom to serve, in which domain to specialise.

    Attributes:
        serve: Clients.
        focus: A domain; empty for whatever comes.
        mix: Share of the work ahead by domain; sums to 1.
    """

    serve: frozenset[str]
    focus: str
    mix: dict[str, float] = field(eq=False)


def plans(estimate: Estimate) -> list[Plan]:
    """Return the plans worth a look: one or two clients and a domain of theirs, or all and none."""
    honest = estimate.honest or sorted(estimate.trust)  # if nobody is, somebody must be served
    found = [_plan(estimate, honest, "")]
    for clients in [*combinations(honest, 1), *combinations(honest, 2)]:
        shared = set.intersection(*(set(estimate.specialties[name]) for name in clients))
        found += [_plan(estimate, clients, domain) for domain in sorted(shared)]
    return found


def forecast(estimate: Estimate, plan: Plan, offers: Sequence[Offer], draws: float) -> float:
    """Return what a plan would earn until the horizon, cents.

    Args:
        estimate: The company now.
        plan: The plan.
        offers: What is on the market.
        draws: Tasks drawn for each one done: 1, and as many as are accepted for nothing.
    """
    supply = _Supply.of(estimate, plan, offers, draws)
    tasks = float(_TASKS)
    for _ in range(2):  # how choosy one can be depends on how much one will do
        year = _Year.of(estimate, plan, supply.price(tasks))
        while year.succeed():
            pass
        tasks = year.tasks
    return year.earned


def _plan(estimate: Estimate, clients: Sequence[str], focus: str) -> Plan:
    mix = dict.fromkeys(DOMAINS, 0.0)
    for name in clients:
        for domain in DOMAINS:
            mix[domain] += _share(estimate, name, domain) / len(clients)
    if focus:
        mix = {d: _FOCUSED if d == focus else (1 - _FOCUSED) / (len(mix) - 1) for d in mix}
    return Plan(frozenset(clients), focus, {str(d): share for d, share in mix.items()})


def _share(estimate: Estimate, client: str, domain: str) -> float:
    own = estimate.specialties[client]
    return _SPECIAL * (domain in own) / len(own) + (1 - _SPECIAL) / len(DOMAINS)


@frozen
class _Supply:
    """What there is to choose from.

    Attributes:
        listed: Cents a listed unit of the offers that fit a plan.
        unseen: Tasks of the market for each one that is open to the company.
        fitting: Replacements that fit the plan, for each task done.
    """

    listed: list[float]
    unseen: float
    fitting: float

    @classmethod
    def of(cls, estimate: Estimate, plan: Plan, offers: Sequence[Offer], draws: float) -> Self:
        """Count what fits a plan."""
        listed = [
            offer.reward / offer.listed
            for offer in offers
            if offer.client in plan.serve and plan.focus in ("", offer.domain)
        ]
        honest = len(estimate.honest) / max(1, len(estimate.trust))
        unseen = estimate.rules.num_market_tasks * honest / max(1, len(offers))
        fitting = 1.0
        if plan.focus:
            shares = [_share(estimate, name, plan.focus) for name in plan.serve]
            fitting = fsum(shares) / len(shares)
        return cls(listed, max(1.0, unseen), draws * fitting)

    def price(self, tasks: float) -> float:
        """Return cents a listed unit on average, if the best of all offers are done."""
        weight = tasks * self.fitting / len(_DRAWN)
        offered = [(price, self.unseen) for price in self.listed]
        offered += [(price, weight) for price in _DRAWN]
        total = done = 0.0
        for price, many in sorted(offered, reverse=True):
            taken = min(many, tasks - done)
            total, done = total + price * taken, done + taken
        return total / max(done, 1.0)


@define
class _Year:
    """The time until the horizon, from success to success.

    Attributes:
        rules: The published ones.
        price: Cents a listed unit.
        rates: Units an hour of everybody, in the plan's mix of domains.
        trust: Of the clients served, in turn.
        boost: Share by which a rate in that mix grows.
        bump: A raise, cents a month.
        left: Hours of progress until the horizon.
        months: Months in such an hour.
        days: Calendar days in such an hour.
        tasks: Done so far.
        earned: Cents.
    """

    rules: Ruleset
    price: float
    rates: list[float]
    trust: list[float]
    boost: float
    bump: float
    left: float
    months: float
    days: float
    tasks: int = 0
    earned: float = 0.0

    @classmethod
    def of(cls, estimate: Estimate, plan: Plan, price: float) -> Self:
        """Begin with the company as it is."""
        staff, shares = estimate.people.values(), plan.mix.items()
        return cls(
            rules=estimate.rules,
            price=price,
            rates=[fsum([share * who.rates[d] for d, share in shares]) for who in staff],
            trust=[estimate.trust[name] for name in sorted(plan.serve)],
            # In several domains everything must be learned several times.
            boost=_BOOST * fsum([share**2 for _, share in shares]),
            bump=fsum([who.bump for who in staff]) / max(1, len(staff)),
            left=estimate.hours,
            months=estimate.months / max(1.0, estimate.hours),
            days=1 / (estimate.rules.progress.day * _WEEKDAYS_A_DAY),
        )

    def succeed(self) -> bool:
        """Do one more typical task; return whether there was time for it."""
        client = self.tasks % len(self.trust)
        speed = max(_SLOWEST, fsum(self.rates)) * _USED
        hours = self.rules.agreed(_TYPICAL, self.trust[client]) / speed
        if hours > self.left:
            return False
        self.left, self.tasks = self.left - hours, self.tasks + 1
        self._trust(client, hours * self.days)
        team = self._learn()
        self.earned += self.price * _TYPICAL - self.bump * team * self.months * self.left
        return True

    def _trust(self, served: int, days: float) -> None:
        worn = [self.rules.neglected(x, float(i != served), days) for i, x in enumerate(self.trust)]
        worn[served] = self.rules.trusted(worn[served])
        self.trust = worn

    def _learn(self) -> int:
        """Train the fastest who can still learn; return how many the task took, at least one."""
        most, size = self.rules.skill_rate_max, self.rules.efficient_team or len(self.rates)
        learning = [at for at, rate in enumerate(self.rates) if rate < most]
        team = sorted(learning, key=lambda at: self.rates[at])[-size:]
        for at in team:
            self.rates[at] = min(most, self.rates[at] * (1 + self.boost))
        return max(1, len(team))


def _quantiles(triangle: tuple[float, float, float]) -> list[float]:
    """Cut a triangular distribution into equally likely parts and return their medians."""
    low, high, mode = triangle
    bend = (mode - low) / (high - low)
    cuts = [(cut + 0.5) / _CUTS for cut in range(_CUTS)]
    rising, falling = (high - low) * (mode - low), (high - low) * (high - mode)
    return [low + sqrt(u * rising) if u <= bend else high - sqrt((1 - u) * falling) for u in cuts]


#: Cents a unit of replacements, evenly likely.
_DRAWN = [pay / work for pay in _quantiles(_REWARD) for work in _quantiles(_QUANTITY)]
