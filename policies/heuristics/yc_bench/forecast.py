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

from attrs import field, frozen

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
    tasks, earned = _TASKS, 0.0
    # The price depends on how many tasks are done, and that on the price.
    for _ in range(2):
        price = _price(estimate, plan, offers, draws, tasks)
        tasks, earned = _earned(estimate, plan, price)
    return earned


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


def _price(
    estimate: Estimate, plan: ServicePlan, offers: Sequence[TaskOffer], draws: float, tasks: int
) -> float:
    """Return cents a listed unit on average, if the best are done of all that fit the plan.

    These are the offers, each for its part of the whole market, and replacements of tasks done.
    """
    rules, fitting = estimate.rules, 1.0
    if plan.focus:
        shares = [_share(estimate, name, plan.focus) for name in plan.serve]
        fitting = fsum(shares) / len(shares)
    drawn = _prices(rules.reward_funds_cents, rules.required_qty)
    weight = tasks * (draws * fitting) / len(drawn)
    honest = len(estimate.honest) / max(1, len(estimate.trust))
    unseen = max(1.0, rules.num_market_tasks * honest / max(1, len(offers)))
    offered = [(price, weight) for price in drawn]
    offered += [
        (offer.reward / offer.listed, unseen)
        for offer in offers
        if offer.client in plan.serve and plan.focus in ("", offer.domain)
    ]
    total = done = 0.0
    for price, many in sorted(offered, reverse=True):
        taken = min(many, tasks - done)
        total, done = total + price * taken, done + taken
    return total / max(done, 1.0)


def _earned(estimate: Estimate, plan: ServicePlan, price: float) -> tuple[int, float]:
    """Return how many tasks are done until the horizon, one after the other, and cents earned."""
    rules, staff, shares = estimate.rules, estimate.people.values(), plan.mix.items()
    # The mean of a triangular distribution.
    quantity = sum(rules.required_qty) / 3
    rates = [fsum([share * who.rates[d] for d, share in shares]) for who in staff]
    trust = [estimate.trust[name] for name in sorted(plan.serve)]
    # In a mix of domains, a share of the work teaches that share of the mix.
    boost = rules.skill_boost[0] * fsum([share**2 for _, share in shares])
    bump = fsum([who.bump for who in staff]) / max(1, len(staff))
    left = estimate.hours
    months_an_hour = estimate.months / max(1.0, left)
    days_an_hour = 1 / (rules.progress_day_hours * _WEEKDAYS_A_DAY)
    tasks, earned = 0, 0.0
    while True:
        client = tasks % len(trust)
        speed = max(_SLOWEST, fsum(rates)) * _USED
        hours = agreed_quantity(rules, quantity, trust[client]) / speed
        if hours > left:
            return tasks, earned
        left, tasks = left - hours, tasks + 1
        trust = _trusted(rules, trust, client, hours * days_an_hour)
        team = _learn(rules, rates, boost)
        earned += price * quantity - bump * team * months_an_hour * left


def _trusted(rules: PublicRules, trust: list[float], served: int, days: float) -> list[float]:
    """Return the clients' trust after a task for one of them and some days."""
    worn = trust_worn(rules, days)
    left = [
        max(0.0, trust_after_other_completions(rules, level, float(at != served)) - worn)
        for at, level in enumerate(trust)
    ]
    left[served] = trust_after_success(rules, left[served])
    return left


def _learn(rules: PublicRules, rates: list[float], boost: float) -> int:
    """Train the fastest who can still learn; return how many the task took, at least one."""
    most, size = rules.skill_rate_max, rules.efficient_team or len(rates)
    learning = [at for at, rate in enumerate(rates) if rate < most]
    team = sorted(learning, key=lambda at: rates[at])[-size:]
    for at in team:
        rates[at] = min(most, rates[at] * (1 + boost))
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
