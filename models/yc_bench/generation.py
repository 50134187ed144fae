"""How clients, staff and tasks are drawn (SPEC sections 2.3 to 2.5, 3 and 4).

The order of the draws is the published one, so that a seed gives the published world to the bit.
What the defaults leave out draws from the same streams and leaves the others untouched.
"""

from collections.abc import Sequence
from decimal import Decimal
from itertools import cycle, islice
from random import Random

from attrs import evolve, fields, frozen

from models.yc_bench.actions import DOMAINS
from models.yc_bench.draw import stream, triangular
from models.yc_bench.numbers import stored
from models.yc_bench.rules import Generation, Growth, Tier
from models.yc_bench.spec import ClientSpec, EmployeeSpec, TaskSpec

__all__ = ["clients", "employees", "market", "replacement"]

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

#: The first tasks of the market are open to a new company.
_EASY_TASKS = 10

#: The level of trust a task needs: 1 for the lowest reward, growing by 3, at most 4.
_TRUST_SLOPE, _MOST_TRUST = 3, 4

#: Chance that a domain is one of a person's weak ones, where skills are spiky.
_WEAK_DOMAIN = 0.25


def clients(game: Generation, seed: int) -> tuple[ClientSpec, ...]:
    """Draw the clients in the order in which initial tasks are dealt to them (SPEC 4.1).

    At least one of them is drawn among the adversarial ones, whatever the share.

    Args:
        game: The parameters.
        seed: The run's; used where the people are not the same in every run.
    """
    chance = stream(_people_seed(game, seed), "clients")
    names = chance.sample(_NAMES, game.num_clients)
    adversarial = max(1, round(game.num_clients * game.loyalty_rat_fraction))
    drawn = [
        _client(game, chance, name, adversarial=at < adversarial) for at, name in enumerate(names)
    ]
    chance.shuffle(drawn)
    return tuple(drawn)


def employees(game: Generation, seed: int) -> tuple[EmployeeSpec, ...]:
    """Draw the staff, `Emp_1` first (SPEC 4.2).

    Args:
        game: The parameters. With a `roster` by "shares", each tier has its share of the staff,
            rounded by largest remainders, before the tiers are shuffled. With `spiky_skills`, each
            domain is weak with chance 0.25; a weak one's rate comes from the band of a tier drawn
            evenly among those up to the person's own, so that a senior may be a junior in it.
        seed: The run's; used where the people are not the same in every run.

    Raises:
        ValueError: The roster is the published list and no tier is in it.
    """
    seed = _people_seed(game, seed)
    tiers = _shares(game) if game.roster == "shares" else _published(game)
    stream(seed, "tier_assignment").shuffle(tiers)
    return tuple(_employee(game, seed, at, tier) for at, tier in enumerate(tiers, start=1))


def market(game: Generation, seed: int, clients: tuple[ClientSpec, ...]) -> tuple[TaskSpec, ...]:
    """Draw the initial tasks (SPEC 4.4).

    Where the company's prestige scales payouts (`Growth.payout_prestige`), the required prestige
    does not scale rewards here.

    Args:
        game: The parameters.
        seed: The run's.
        clients: In the order in which tasks are dealt.
    """
    tasks, drawn = _Tasks.of(game), []
    for slot in range(game.num_market_tasks):
        chance = stream(seed, f"task_{slot + 1}")
        easy = slot < _EASY_TASKS
        prestige = 1 if easy else int(triangular(chance, *tasks.required_prestige))
        dealt = slot % len(clients)
        client = clients[dealt]
        place = (slot, f"Task-{slot + 1}", dealt)
        drawn.append(tasks.draw(chance, place, prestige, client, client.reward_multiplier))
    return tuple(drawn)


def replacement(
    game: Generation, seed: int, taken: TaskSpec, clients: tuple[ClientSpec, ...], number: int
) -> TaskSpec:
    """Draw the task that takes the place of an accepted one (SPEC 4.5).

    Args:
        game: The parameters.
        seed: The run's.
        taken: The accepted task, whose client and required prestige it keeps.
        clients: In the order in which tasks are dealt.
        number: Of its stream and title: 1000 * slot + generation where each slot has its streams,
            otherwise the run's counter, and then the new task has no slot.
    """
    chance = stream(seed, f"replenish_{number}")
    client = clients[taken.client]
    multiplier = client.reward_multiplier if game.replacements_multiplied else None
    slot = taken.slot if game.replacement_stream == "slot" else -1
    place = (slot, f"Task-{number}", taken.client)
    return _Tasks.of(game).draw(chance, place, taken.required_prestige, client, multiplier)


def _people_seed(game: Generation, seed: int) -> int:
    return seed if game.people_seed is None else game.people_seed


def _client(game: Generation, chance: Random, name: str, *, adversarial: bool) -> ClientSpec:
    low, high, mode = game.client_multiplier
    multiplier = round(triangular(chance, low, high, mode), 2)
    # The tier shown is that of the multiplier before the floor for adversarial clients.
    tier = _CLIENT_TIERS[sum(multiplier >= least for least in game.client_tiers)]
    several = 1 if chance.random() < game.one_specialty_probability else 2
    specialties = tuple(chance.sample(DOMAINS, several))
    if adversarial:
        loyalty = round(chance.uniform(*_DISLOYAL), 3)
        multiplier = max(multiplier, game.adversarial_multiplier * high)
    else:
        mode = 1 - _LOYALTY_SLOPE * game.loyalty_rat_fraction
        loyalty = round(triangular(chance, *_LOYAL, mode), 3)
    disloyal = loyalty < game.adversarial_loyalty
    return ClientSpec(name, multiplier, tier, specialties, loyalty, disloyal)


def _published(game: Generation) -> list[Tier]:
    listed = [tier for tier in game.tiers for _ in range(tier.published)]
    if not listed:
        raise ValueError("no tier was given any `published`; with roster='published' one has some")
    return list(islice(cycle(listed), game.num_employees))


def _shares(game: Generation) -> list[Tier]:
    exact = [tier.share * game.num_employees for tier in game.tiers]
    counts = [int(each) for each in exact]
    remainders = sorted(range(len(exact)), key=lambda at: counts[at] - exact[at])
    for at in remainders[: game.num_employees - sum(counts)]:
        counts[at] += 1
    return [tier for tier, many in zip(game.tiers, counts, strict=True) for _ in range(many)]


def _employee(game: Generation, seed: int, at: int, tier: Tier) -> EmployeeSpec:
    chance = stream(seed, f"employee_{at}")
    bands = [each for each in game.tiers if each.rate[0] <= tier.rate[0]]
    rates: dict[str, Decimal] = {
        domain: _rate(chance, tier, bands if game.spiky_skills else ()) for domain in DOMAINS
    }
    least, most = tier.salary_cents
    salary = round(triangular(chance, least, most, most))
    return EmployeeSpec(f"Emp_{at}", tier.name, salary, rates)


def _rate(chance: Random, tier: Tier, bands: Sequence[Tier]) -> Decimal:
    weak = bool(bands) and chance.random() < _WEAK_DOMAIN
    band = chance.choice(bands) if weak else tier
    return stored(round(chance.uniform(*band.rate), 4), 4)


@frozen
class _Tasks:
    """How task bodies are drawn: the parameters of that name, and nothing else of a game."""

    required_prestige: tuple[float, float, float]
    reward_funds_cents: tuple[float, float, float]
    required_qty: tuple[float, float, float]
    prestige_delta_scale: float
    prestige_delta_beta: tuple[float, float]
    skill_boost: tuple[float, float, float, float]
    reward_prestige_scale: float
    prestige_qty_scale: float
    specialty_bias: float
    trust_gate: str
    trust_gating_fraction: float
    trust_gated_reward_boost: float

    @classmethod
    def of(cls, game: Generation) -> "_Tasks":
        """Take what concerns tasks from a game."""
        tasks = cls(*[getattr(game, each.name) for each in fields(cls)])
        if isinstance(game, Growth) and game.payout_prestige == "company":
            return evolve(tasks, reward_prestige_scale=0.0)
        return tasks

    def draw(
        self,
        chance: Random,
        place: tuple[int, str, int],
        prestige: int,
        client: ClientSpec,
        multiplier: float | None,
    ) -> TaskSpec:
        """Draw a task's body (SPEC 4.3); `place` is its slot, title and client."""
        domain = self._domain(chance, client.specialties)
        above = prestige - 1
        work = int(triangular(chance, *self.required_qty))
        quantity = int(work * (1 + self.prestige_qty_scale * above))
        reward = int(triangular(chance, *self.reward_funds_cents))
        reward = int(reward * (1 + self.reward_prestige_scale * above))
        trust = self._trust(chance, reward)
        if trust:
            reward = int(reward * (1 + self.trust_gated_reward_boost * trust))
        scale = self.prestige_delta_scale
        delta = scale * chance.betavariate(*self.prestige_delta_beta)
        mean, deviation, least, most = self.skill_boost
        boost = chance.gauss(mean, deviation)
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
        )

    def _domain(self, chance: Random, specialties: tuple[str, ...]) -> str:
        own = [domain for domain in DOMAINS if domain in specialties]
        if own and chance.random() < self.specialty_bias:
            return chance.choice(own)
        return chance.choice(DOMAINS)

    def _trust(self, chance: Random, reward: int) -> int:
        """Draw whether a task needs trust, and return how much its reward makes it need."""
        low, high, _ = self.reward_funds_cents
        share = min(1, (reward - low) / (high - low))
        if self.trust_gate == "share":
            gated = self.trust_gating_fraction
        elif reward <= low:
            return 0
        else:
            ramp = min(1, 2 * self.trust_gating_fraction)
            above = share - max(0, 1 - 2 * self.trust_gating_fraction)
            gated = max(0, above / ramp) if ramp else 0
        if chance.random() >= gated:
            return 0
        return max(1, min(int(1 + _TRUST_SLOPE * share), _MOST_TRUST))
