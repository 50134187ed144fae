"""Draws and replacements of tasks (SPEC sections 2.4 and 4.3 to 4.5).

The order of the draws is the published one, so that a seed gives the published world to the bit.
Parameters that differ from the defaults draw from the same streams and leave the others untouched.
"""

from collections.abc import Sequence
from random import Random

from models.yc_bench.rules.market import MarketRules
from models.yc_bench.rules.specs import DOMAINS, ClientSpec, TaskSpec
from models.yc_bench.rules.streams import restart, stream, triangular

#: The first tasks of the market are open to a new company.
_EASY_TASKS = 10

#: The level of trust a task needs: 1 for the lowest reward, growing by 3, at most 4.
_TRUST_SLOPE, _MOST_TRUST = 3, 4

#: Replacements of a slot that have numbers of their own.
GENERATIONS = 1000


def draw_market(
    rules: MarketRules, seed: int, clients: tuple[ClientSpec, ...]
) -> tuple[TaskSpec, ...]:
    """Draw the initial tasks (SPEC 4.4).

    Where the company's prestige scales payouts (`payout_prestige`), the required prestige does not
    scale rewards here.

    Args:
        rules: The parameters.
        seed: The run's.
        clients: In the order in which tasks are dealt.
    """
    drawn = []
    chance = Random(0)  # noqa: S311 (no secrets)
    for slot in range(rules.num_market_tasks):
        restart(chance, seed, f"task_{slot + 1}")
        easy = slot < _EASY_TASKS
        prestige = 1 if easy else int(triangular(chance, *rules.required_prestige))
        dealt = slot % len(clients)
        client = clients[dealt]
        place = (slot, f"Task-{slot + 1}", dealt)
        drawn.append(_task(rules, chance, place, prestige, client, client.reward_multiplier))
    return tuple(drawn)


def replacement_number(slot: int, generation: int) -> int:
    """Return the number of a slot's replacement, where each slot has streams of its own."""
    return GENERATIONS * slot + generation


def draw_replacement(
    rules: MarketRules, seed: int, taken: TaskSpec, clients: tuple[ClientSpec, ...], number: int
) -> TaskSpec:
    """Draw the task that takes the place of an accepted one (SPEC 4.5).

    Args:
        rules: The parameters.
        seed: The run's.
        taken: The accepted task, whose client and required prestige it keeps.
        clients: In the order in which tasks are dealt.
        number: Number of its stream and title: that of `replacement_number` where each slot has
            its streams; otherwise the run's counter, and then the new task has no slot.
    """
    chance = stream(seed, f"replenish_{number}")
    client = clients[taken.client]
    multiplier = client.reward_multiplier if rules.replacements_multiplied else None
    slot = taken.slot if rules.replacement_stream == "slot" else -1
    place = (slot, f"Task-{number}", taken.client)
    return _task(rules, chance, place, taken.required_prestige, client, multiplier)


def _task(
    rules: MarketRules,
    chance: Random,
    place: tuple[int, str, int],
    prestige: int,
    client: ClientSpec,
    multiplier: float | None,
) -> TaskSpec:
    """Draw a task's body (SPEC 4.3); `place` is its slot, title and client."""
    domain = _domain(rules, chance, client.specialties)
    above = prestige - 1
    work = int(triangular(chance, *rules.required_qty))
    quantity = int(work * (1 + rules.prestige_qty_scale * above))
    reward = int(triangular(chance, *rules.reward_funds_cents))
    if rules.payout_prestige == "required":
        reward = int(reward * (1 + rules.reward_prestige_scale * above))
    trust = _required_trust(rules, chance, reward)
    if trust:
        reward = int(reward * (1 + rules.trust_gated_reward_boost * trust))
    scale = rules.prestige_delta_scale
    delta = scale * chance.betavariate(*rules.prestige_delta_beta)
    mean, deviation, least, most = rules.skill_boost
    boost = chance.gauss(mean, deviation)
    domains = [domain]
    while len(domains) < rules.domain_count:
        domains.append(_domain(rules, chance, client.specialties, domains))
    # The client's multiplier comes after the gate, which it must not move.
    paid = reward if multiplier is None else int(reward * multiplier)
    return TaskSpec(
        *place,
        prestige,
        trust,
        paid,
        round(max(0.0, min(scale, delta)), 4),
        round(max(least, min(most, boost)), 4),
        domain,
        quantity,
        tuple(domains[1:]),
    )


def _domain(
    rules: MarketRules, chance: Random, specialties: Sequence[str], taken: Sequence[str] = ()
) -> str:
    left = [domain for domain in DOMAINS if domain not in taken]
    own = [domain for domain in left if domain in specialties]
    if own and chance.random() < rules.specialty_bias:
        return chance.choice(own)
    return chance.choice(left)


def _required_trust(rules: MarketRules, chance: Random, reward: int) -> int:
    """Draw whether a task needs trust, and return the level that its reward makes it need."""
    low, high, _ = rules.reward_funds_cents
    share = min(1, (reward - low) / (high - low))
    if rules.trust_gate == "share":
        gated = rules.trust_gating_fraction
    elif reward <= low:
        return 0
    else:
        ramp = min(1, 2 * rules.trust_gating_fraction)
        above = share - max(0, 1 - 2 * rules.trust_gating_fraction)
        gated = max(0, above / ramp) if ramp else 0
    if chance.random() >= gated:
        return 0
    return max(1, min(int(1 + _TRUST_SLOPE * share), _MOST_TRUST))
