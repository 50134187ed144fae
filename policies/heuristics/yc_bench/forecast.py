"""Look-ahead: what a plan would earn until the horizon, by rollout on the player's own estimate.

A plan names the clients to serve and a domain to specialise in. Its rollout goes from success to
success with a typical task: the staff learns, trust grows in the clients served and wears off
elsewhere, salaries rise, and the best paid of all offered tasks are done. Replacements have the
published distributions of rewards and quantities, without the client's multiplier (SPEC 2.4, 4.5).
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import fsum, sqrt
from typing import Self

from attrs import define, field, frozen

from models.yc_bench.formulas import (
    agreed_quantity,
    trust_after_other_completions,
    trust_after_success,
    trust_worn,
)
from models.yc_bench.params import PublicRules, Triple
from models.yc_bench.specs import DOMAINS
from policies.heuristics.yc_bench.estimate import Estimate, TaskOffer

#: Share of the work in the domain of a plan that has one.
_FOCUSED = 0.9
#: Points that stand for a distribution; share of all hours that get used.
_CUTS, _USED = 12, 0.9
_WEEKDAYS_A_DAY = 5 / 7
#: Tasks a company may do in a year, for a first guess; units an hour of the slowest one there is.
_TASKS, _SLOWEST = 200, 1.0


@frozen
class ServicePlan:
    """Which clients to serve, in which domain to specialise.

    Attributes:
        serve: Names of clients.
        focus: A domain; empty for none.
        mix: Share of the work ahead by domain; sums to 1.
    """

    serve: frozenset[str]
    focus: str
    mix: dict[str, float] = field(eq=False)


def plans(estimate: Estimate) -> list[ServicePlan]:
    """Return the plans to compare: one or two clients and a domain of theirs, or all and none."""
    # Where every client is adversarial, one must be served nevertheless.
    honest = estimate.honest or sorted(estimate.trust)
    candidates = [_plan(estimate, honest, "")]
    for clients in [*combinations(honest, 1), *combinations(honest, 2)]:
        shared = set.intersection(*(set(estimate.specialties[name]) for name in clients))
        candidates += [_plan(estimate, clients, domain) for domain in sorted(shared)]
    return candidates


def forecast(
    estimate: Estimate, plan: ServicePlan, offers: Sequence[TaskOffer], draws: float
) -> float:
    """Return what a plan would earn until the horizon, cents.

    Args:
        estimate: The company now.
        plan: The plan.
        offers: The tasks on the market.
        draws: Tasks drawn for each one done: 1, and those accepted only to be replaced.
    """
    supply = _Supply.of(estimate, plan, offers, draws)
    tasks = float(_TASKS)
    # The price depends on how many tasks are done, and that on the price.
    for _ in range(2):
        year = _Year.of(estimate, plan, supply.price(tasks))
        while year.succeed():
            pass
        tasks = year.tasks
    return year.earned


def _plan(estimate: Estimate, clients: Sequence[str], focus: str) -> ServicePlan:
    mix = dict.fromkeys(DOMAINS, 0.0)
    for name in clients:
        for domain in DOMAINS:
            mix[domain] += _share(estimate, name, domain) / len(clients)
    if focus:
        mix = {d: _FOCUSED if d == focus else (1 - _FOCUSED) / (len(mix) - 1) for d in mix}
    return ServicePlan(frozenset(clients), focus, {str(d): share for d, share in mix.items()})


def _share(estimate: Estimate, client: str, domain: str) -> float:
    own, bias = estimate.specialties[client], estimate.rules.specialty_bias
    return bias * (domain in own) / len(own) + (1 - bias) / len(DOMAINS)


@frozen
class _Supply:
    """The tasks among which a plan chooses.

    Attributes:
        listed: Cents a listed unit of the offers that fit the plan.
        drawn: Cents a listed unit of replacements, evenly likely.
        unseen: Tasks of the market for each one that is open to the company.
        fitting: Replacements that fit the plan, for each task done.
    """

    listed: list[float]
    drawn: Sequence[float]
    unseen: float
    fitting: float

    @classmethod
    def of(
        cls, estimate: Estimate, plan: ServicePlan, offers: Sequence[TaskOffer], draws: float
    ) -> Self:
        """Count the tasks that fit a plan."""
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
        rules = estimate.rules
        drawn = _prices(rules.reward_funds_cents, rules.required_qty)
        return cls(listed, drawn, max(1.0, unseen), draws * fitting)

    def price(self, tasks: float) -> float:
        """Return cents a listed unit on average, if the best of all offers are done."""
        weight = tasks * self.fitting / len(self.drawn)
        offered = [(price, self.unseen) for price in self.listed]
        offered += [(price, weight) for price in self.drawn]
        total = done = 0.0
        for price, many in sorted(offered, reverse=True):
            taken = min(many, tasks - done)
            total, done = total + price * taken, done + taken
        return total / max(done, 1.0)


@define
class _Year:
    """The time until the horizon, from success to success.

    Attributes:
        rules: The rules of the world.
        price: Cents a listed unit.
        quantity: Listed units of a typical task.
        rates: Units an hour of each employee, in the plan's mix of domains.
        trust: Levels of the clients, who are served in turn.
        boost: Share by which a rate in that mix grows.
        bump: A raise, cents a month.
        left: Hours of progress until the horizon.
        months: Months in such an hour.
        days: Calendar days in such an hour.
        tasks: Done so far.
        earned: Cents.
    """

    rules: PublicRules
    price: float
    quantity: float
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
    def of(cls, estimate: Estimate, plan: ServicePlan, price: float) -> Self:
        """Begin with the company as it is."""
        rules, staff, shares = estimate.rules, estimate.people.values(), plan.mix.items()
        return cls(
            rules=rules,
            price=price,
            # The mean of a triangular distribution.
            quantity=sum(rules.required_qty) / 3,
            rates=[fsum([share * who.rates[d] for d, share in shares]) for who in staff],
            trust=[estimate.trust[name] for name in sorted(plan.serve)],
            # In a mix of domains, a share of the work teaches that share of the mix.
            boost=rules.skill_boost[0] * fsum([share**2 for _, share in shares]),
            bump=fsum([who.bump for who in staff]) / max(1, len(staff)),
            left=estimate.hours,
            months=estimate.months / max(1.0, estimate.hours),
            days=1 / (rules.progress_day_hours * _WEEKDAYS_A_DAY),
        )

    def succeed(self) -> bool:
        """Do one more typical task; return whether there was time for it."""
        client = self.tasks % len(self.trust)
        speed = max(_SLOWEST, fsum(self.rates)) * _USED
        hours = agreed_quantity(self.rules, self.quantity, self.trust[client]) / speed
        if hours > self.left:
            return False
        self.left, self.tasks = self.left - hours, self.tasks + 1
        self._trust(client, hours * self.days)
        team = self._learn()
        self.earned += self.price * self.quantity - self.bump * team * self.months * self.left
        return True

    def _trust(self, served: int, days: float) -> None:
        rules, worn = self.rules, trust_worn(self.rules, days)
        left = [
            max(0.0, trust_after_other_completions(rules, level, float(at != served)) - worn)
            for at, level in enumerate(self.trust)
        ]
        left[served] = trust_after_success(rules, left[served])
        self.trust = left

    def _learn(self) -> int:
        """Train the fastest who can still learn; return how many the task took, at least one."""
        most, size = self.rules.skill_rate_max, self.rules.efficient_team or len(self.rates)
        learning = [at for at, rate in enumerate(self.rates) if rate < most]
        team = sorted(learning, key=lambda at: self.rates[at])[-size:]
        for at in team:
            self.rates[at] = min(most, self.rates[at] * (1 + self.boost))
        return max(1, len(team))


def _quantiles(triangle: Triple) -> list[float]:
    """Cut a triangular distribution into equally likely parts and return their medians."""
    low, high, mode = triangle
    bend = (mode - low) / (high - low)
    cuts = [(cut + 0.5) / _CUTS for cut in range(_CUTS)]
    rising, falling = (high - low) * (mode - low), (high - low) * (high - mode)
    return [low + sqrt(u * rising) if u <= bend else high - sqrt((1 - u) * falling) for u in cuts]


@lru_cache(maxsize=64)
def _prices(rewards: Triple, quantities: Triple) -> tuple[float, ...]:
    """Return cents a listed unit of replacements, evenly likely."""
    return tuple(pay / work for pay in _quantiles(rewards) for work in _quantiles(quantities))
