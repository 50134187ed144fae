"""Draws of clients and staff (SPEC sections 2.3, 2.5, 4.1 and 4.2).

The order of the draws is the published one, so that a seed gives the published world to the bit.
Parameters that differ from the defaults draw from the same streams and leave the others untouched.
"""

from collections.abc import Sequence
from decimal import Decimal
from itertools import cycle, islice
from random import Random

from models.yc_bench.rules.checks import stored
from models.yc_bench.rules.people import PeopleRules, Tier
from models.yc_bench.rules.specs import DOMAINS, ClientSpec, EmployeeSpec
from models.yc_bench.rules.streams import stream, triangular

_NAMES = (
    "Nexus AI",
    "Vertex Labs",
    "Quantum Dynamics",
    "Atlas Computing",
    "Helix Systems",
    "Orion Data",
    "Cipher Corp",
    "Prism Analytics",
    "Nova Research",
    "Zenith Technologies",
    "Apex Robotics",
    "Stratos Cloud",
    "Vanguard ML",
    "Equinox Labs",
    "Cortex Intelligence",
)
_CLIENT_TIERS = ("Standard", "Premium", "Enterprise")

#: Loyalty of adversarial clients, lowest and highest; of the others, lowest and highest, and by how
#: much each adversarial share moves their mode down from the highest.
_DISLOYAL = (-1.0, -0.3)
_LOYAL = (-0.3, 1.0)
_LOYALTY_SLOPE = 2.6

#: Chance that a domain is one of a person's weak ones, where skills are spiky. The paper gives no
#: number; this one is ours.
_WEAK_DOMAIN = 0.25


def draw_clients(rules: PeopleRules, seed: int) -> tuple[ClientSpec, ...]:
    """Draw the clients in the order in which initial tasks are dealt to them (SPEC 4.1).

    At least one of them is drawn among the adversarial ones, even with a share of 0.

    Args:
        rules: The parameters.
        seed: The run's; used where the people are not the same in every run.
    """
    chance = stream(_people_seed(rules, seed), "clients")
    names = chance.sample(_NAMES, rules.num_clients)
    adversarial = max(1, round(rules.num_clients * rules.loyalty_rat_fraction))
    drawn = [
        _client(rules, chance, name, adversarial=at < adversarial) for at, name in enumerate(names)
    ]
    chance.shuffle(drawn)
    return tuple(drawn)


def draw_employees(rules: PeopleRules, seed: int) -> tuple[EmployeeSpec, ...]:
    """Draw the staff, `Emp_1` first (SPEC 4.2).

    Args:
        rules: The parameters. With a `roster` by "shares", each tier has its share of the staff,
            rounded by largest remainders, before the tiers are shuffled. With `spiky_skills`, each
            domain is weak with chance 0.25; a weak one's rate comes from the band of a tier drawn
            evenly among those up to the person's own, so that a senior may be a junior in it.
        seed: The run's; used where the people are not the same in every run.

    Raises:
        ValueError: The roster is the published list and no tier is in it.
    """
    seed = _people_seed(rules, seed)
    tiers = _by_shares(rules) if rules.roster == "shares" else _as_published(rules)
    stream(seed, "tier_assignment").shuffle(tiers)
    return tuple(_employee(rules, seed, at, tier) for at, tier in enumerate(tiers, start=1))


def _people_seed(rules: PeopleRules, seed: int) -> int:
    return seed if rules.people_seed is None else rules.people_seed


def _client(rules: PeopleRules, chance: Random, name: str, *, adversarial: bool) -> ClientSpec:
    low, high, mode = rules.client_multiplier
    multiplier = round(triangular(chance, low, high, mode), 2)
    # The tier shown is that of the multiplier before the floor for adversarial clients.
    tier = _CLIENT_TIERS[sum(multiplier >= least for least in rules.client_tiers)]
    specialty_count = 1 if chance.random() < rules.one_specialty_probability else 2
    specialties = tuple(chance.sample(DOMAINS, specialty_count))
    if adversarial:
        loyalty = round(chance.uniform(*_DISLOYAL), 3)
        multiplier = max(multiplier, rules.adversarial_multiplier * high)
    else:
        mode = 1 - _LOYALTY_SLOPE * rules.loyalty_rat_fraction
        loyalty = round(triangular(chance, *_LOYAL, mode), 3)
    disloyal = loyalty < rules.adversarial_loyalty
    return ClientSpec(name, multiplier, tier, specialties, loyalty, disloyal)


def _as_published(rules: PeopleRules) -> list[Tier]:
    listed = [tier for tier in rules.tiers for _ in range(tier.published)]
    if not listed:
        raise ValueError("no tier was given any `published`; with roster='published' one has some")
    return list(islice(cycle(listed), rules.num_employees))


def _by_shares(rules: PeopleRules) -> list[Tier]:
    exact = [tier.share * rules.num_employees for tier in rules.tiers]
    counts = [int(each) for each in exact]
    remainders = sorted(range(len(exact)), key=lambda at: counts[at] - exact[at])
    for at in remainders[: rules.num_employees - sum(counts)]:
        counts[at] += 1
    return [tier for tier, count in zip(rules.tiers, counts, strict=True) for _ in range(count)]


def _employee(rules: PeopleRules, seed: int, at: int, tier: Tier) -> EmployeeSpec:
    chance = stream(seed, f"employee_{at}")
    bands = [each for each in rules.tiers if each.rate[0] <= tier.rate[0]]
    rates: dict[str, Decimal] = {
        domain: _rate(chance, tier, bands if rules.spiky_skills else ()) for domain in DOMAINS
    }
    least, most = tier.salary_cents
    salary = round(triangular(chance, least, most, most))
    return EmployeeSpec(f"Emp_{at}", tier.name, salary, rates)


def _rate(chance: Random, tier: Tier, bands: Sequence[Tier]) -> Decimal:
    weak = bool(bands) and chance.random() < _WEAK_DOMAIN
    band = chance.choice(bands) if weak else tier
    return stored(round(chance.uniform(*band.rate), 4), 4)
