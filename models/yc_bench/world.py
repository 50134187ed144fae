"""Draws of a world: clients, staff, the market and its replacements (SPEC 2.3 to 2.5, 3 and 4).

The order of the draws is the published one, so that a seed gives the published world to the bit.
"""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from itertools import cycle, islice
from random import Random

from models.yc_bench.params import Tier, YCBenchParams
from models.yc_bench.specs import DOMAINS, ClientSpec, EmployeeSpec, TaskSpec, stored

_NAMES = (
    *("Nexus AI", "Vertex Labs", "Quantum Dynamics", "Atlas Computing", "Helix Systems"),
    *("Orion Data", "Cipher Corp", "Prism Analytics", "Nova Research", "Zenith Technologies"),
    *("Apex Robotics", "Stratos Cloud", "Vanguard ML", "Equinox Labs", "Cortex Intelligence"),
)
_CLIENT_TIERS = ("Standard", "Premium", "Enterprise")

#: Lowest and highest loyalty of adversarial clients and of the others; by how much a share of the
#: former moves the mode of the latter down from the highest.
_DISLOYAL, _LOYAL, _LOYALTY_SLOPE = (-1.0, -0.3), (-0.3, 1.0), 2.6

#: Chance that a domain is one of a person's weak ones: ours, as the paper gives no number.
_WEAK_DOMAIN = 0.25

#: The first tasks of the market are open to a new company.
_EASY_TASKS = 10

#: The level of trust a task needs: 1 for the lowest reward, growing by 3, at most 4.
_TRUST_SLOPE, _MOST_TRUST = 3, 4

Drawn = tuple[tuple[ClientSpec, ...], tuple[EmployeeSpec, ...], tuple[TaskSpec, ...]]


def draw(params: YCBenchParams, seed: int) -> Drawn:
    """Return clients, staff and initial tasks of a seed, which all episodes of a process share."""
    # 1 and 1.0 are equal, and draw numbers of different types.
    return _draw(params, seed, repr(params))


@lru_cache(maxsize=4)
def _draw(params: YCBenchParams, seed: int, _types: str) -> Drawn:
    clients = draw_clients(params, seed)
    return clients, draw_employees(params, seed), draw_market(params, seed, clients)


def stream(seed: int, key: str) -> Random:
    """Return a generator seeded with the first 8 bytes, big-endian, of SHA-256 of `SEED:KEY`."""
    return Random(_number(seed, key))  # noqa: S311 (no secrets)


def _number(seed: int, key: str) -> int:
    return int.from_bytes(sha256(f"{seed}:{key}".encode()).digest()[:8], "big")


def triangular(chance: Random, low: float, high: float, mode: float) -> float:
    """Draw from a triangular distribution; rounding never leaves its two ends."""
    return max(low, min(high, chance.triangular(low, high, mode)))


def draw_clients(params: YCBenchParams, seed: int) -> tuple[ClientSpec, ...]:
    """Draw the clients, at least one adversarial, in the order of dealing (SPEC 4.1)."""
    chance = stream(_people_seed(params, seed), "clients")
    names = chance.sample(_NAMES, params.num_clients)
    adversarial = max(1, round(params.num_clients * params.loyalty_rat_fraction))
    drawn = [
        _client(params, chance, name, adversarial=at < adversarial) for at, name in enumerate(names)
    ]
    chance.shuffle(drawn)
    return tuple(drawn)


def _people_seed(params: YCBenchParams, seed: int) -> int:
    return seed if params.people_seed is None else params.people_seed


def _client(params: YCBenchParams, chance: Random, name: str, *, adversarial: bool) -> ClientSpec:
    low, high, mode = params.client_multiplier
    multiplier = round(triangular(chance, low, high, mode), 2)
    # The tier shown is that of the multiplier before the floor for adversarial clients.
    tier = _CLIENT_TIERS[sum(multiplier >= least for least in params.client_tiers)]
    specialty_count = 1 if chance.random() < params.one_specialty_probability else 2
    specialties = tuple(chance.sample(DOMAINS, specialty_count))
    if adversarial:
        loyalty = round(chance.uniform(*_DISLOYAL), 3)
        multiplier = max(multiplier, params.adversarial_multiplier * high)
    else:
        mode = 1 - _LOYALTY_SLOPE * params.loyalty_rat_fraction
        loyalty = round(triangular(chance, *_LOYAL, mode), 3)
    disloyal = loyalty < params.adversarial_loyalty
    return ClientSpec(name, multiplier, tier, specialties, loyalty, disloyal)


def draw_employees(params: YCBenchParams, seed: int) -> tuple[EmployeeSpec, ...]:
    """Draw the staff, `Emp_1` first (SPEC 4.2)."""
    seed = _people_seed(params, seed)
    tiers = _by_shares(params) if params.roster == "shares" else _as_published(params)
    stream(seed, "tier_assignment").shuffle(tiers)
    return tuple(_employee(params, seed, at, tier) for at, tier in enumerate(tiers, start=1))


def _as_published(params: YCBenchParams) -> list[Tier]:
    listed = [tier for tier in params.tiers for _ in range(tier.published)]
    if not listed:
        raise ValueError("no tier was given any `published`; with roster='published' one has some")
    return list(islice(cycle(listed), params.num_employees))


def _by_shares(params: YCBenchParams) -> list[Tier]:
    """Return the tiers by their shares of the staff, rounded by largest remainders."""
    exact = [tier.share * params.num_employees for tier in params.tiers]
    counts = [int(each) for each in exact]
    remainders = sorted(range(len(exact)), key=lambda at: counts[at] - exact[at])
    for at in remainders[: params.num_employees - sum(counts)]:
        counts[at] += 1
    return [tier for tier, count in zip(params.tiers, counts, strict=True) for _ in range(count)]


def _employee(params: YCBenchParams, seed: int, at: int, tier: Tier) -> EmployeeSpec:
    chance = stream(seed, f"employee_{at}")
    bands = [each for each in params.tiers if each.rate[0] <= tier.rate[0]]
    rates: dict[str, Decimal] = {
        domain: _rate(chance, tier, bands if params.spiky_skills else ()) for domain in DOMAINS
    }
    least, most = tier.salary_cents
    salary = round(triangular(chance, least, most, most))
    return EmployeeSpec(f"Emp_{at}", tier.name, salary, rates)


def _rate(chance: Random, tier: Tier, bands: Sequence[Tier]) -> Decimal:
    weak = bool(bands) and chance.random() < _WEAK_DOMAIN
    band = chance.choice(bands) if weak else tier
    return stored(round(chance.uniform(*band.rate), 4), 4)


def draw_market(
    params: YCBenchParams, seed: int, clients: tuple[ClientSpec, ...]
) -> tuple[TaskSpec, ...]:
    """Draw the initial tasks (SPEC 4.4), which are dealt to the clients in turn."""
    drawn = []
    chance = Random(0)  # noqa: S311 (no secrets)
    for slot in range(params.num_market_tasks):
        # The state of a new generator, in two thirds of the time.
        chance.seed(_number(seed, f"task_{slot + 1}"))
        easy = slot < _EASY_TASKS
        prestige = 1 if easy else int(triangular(chance, *params.required_prestige))
        dealt = slot % len(clients)
        client = clients[dealt]
        place = (slot, f"Task-{slot + 1}", dealt)
        drawn.append(_task(params, chance, place, prestige, client, client.reward_multiplier))
    return tuple(drawn)


def draw_replacement(
    params: YCBenchParams, seed: int, taken: TaskSpec, clients: Sequence[ClientSpec], number: int
) -> TaskSpec:
    """Draw a task of the same client and required prestige as one *taken* (SPEC 4.5)."""
    chance = stream(seed, f"replenish_{number}")
    client = clients[taken.client]
    multiplier = client.reward_multiplier if params.replacements_multiplied else None
    slot = taken.slot if params.replacement_stream == "slot" else -1
    place = (slot, f"Task-{number}", taken.client)
    return _task(params, chance, place, taken.required_prestige, client, multiplier)


def _task(
    params: YCBenchParams,
    chance: Random,
    place: tuple[int, str, int],
    prestige: int,
    client: ClientSpec,
    multiplier: float | None,
) -> TaskSpec:
    """Draw a task's body (SPEC 4.3); `place` is its slot, title and client."""
    domain = _domain(params, chance, client.specialties)
    above = prestige - 1
    work = int(triangular(chance, *params.required_qty))
    quantity = int(work * (1 + params.prestige_qty_scale * above))
    reward = int(triangular(chance, *params.reward_funds_cents))
    if params.payout_prestige == "required":
        reward = int(reward * (1 + params.reward_prestige_scale * above))
    trust = _required_trust(params, chance, reward)
    if trust:
        reward = int(reward * (1 + params.trust_gated_reward_boost * trust))
    scale = params.prestige_delta_scale
    share = chance.betavariate(*params.prestige_delta_beta)
    delta = round(max(0.0, min(scale, scale * share)), 4)
    mean, deviation, least, most = params.skill_boost
    boost = round(max(least, min(most, chance.gauss(mean, deviation))), 4)
    further: list[str] = []
    while len(further) < params.domain_count - 1:
        further.append(_domain(params, chance, client.specialties, [domain, *further]))
    # The client's multiplier comes after the gate, which it must not move.
    paid = reward if multiplier is None else int(reward * multiplier)
    return TaskSpec(*place, prestige, trust, paid, delta, boost, domain, quantity, tuple(further))


def _domain(
    params: YCBenchParams, chance: Random, specialties: Sequence[str], taken: Sequence[str] = ()
) -> str:
    left = [domain for domain in DOMAINS if domain not in taken]
    own = [domain for domain in left if domain in specialties]
    if own and chance.random() < params.specialty_bias:
        return chance.choice(own)
    return chance.choice(left)


def _required_trust(params: YCBenchParams, chance: Random, reward: int) -> int:
    """Draw whether a task needs trust, and return the level that its reward makes it need."""
    low, high, _ = params.reward_funds_cents
    share = min(1, (reward - low) / (high - low))
    if params.trust_gate == "share":
        gated = params.trust_gating_fraction
    elif reward <= low:
        return 0
    else:
        ramp = min(1, 2 * params.trust_gating_fraction)
        above = share - max(0, 1 - 2 * params.trust_gating_fraction)
        gated = max(0, above / ramp) if ramp else 0
    if chance.random() >= gated:
        return 0
    return max(1, min(int(1 + _TRUST_SLOPE * share), _MOST_TRUST))
