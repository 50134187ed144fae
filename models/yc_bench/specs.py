"""Clients, employees and tasks as drawn or read, before anything has happened."""

from decimal import Decimal
from typing import Literal, get_args

from attrs import frozen

Domain = Literal["research", "inference", "data_environment", "training"]

#: In the order in which worlds are drawn.
DOMAINS: tuple[Domain, ...] = get_args(Domain)


@frozen
class ClientSpec:
    """A client as drawn.

    Attributes:
        reward_multiplier: Factor on the rewards of its initial tasks.
        tier: "Standard", "Premium" or "Enterprise".
        loyalty: From -1 to 1; hidden from players.
        adversarial: Whether loyalty is below the parameter `adversarial_loyalty`; hidden too.
    """

    name: str
    reward_multiplier: float
    tier: str
    specialties: tuple[Domain, ...]
    loyalty: float
    adversarial: bool


@frozen
class EmployeeSpec:
    """An employee as drawn: cents a month, and units an hour by domain, with 4 decimals."""

    name: str
    tier: str
    salary_cents: int
    rates: dict[str, Decimal]


@frozen
class TaskSpec:
    """A task of the market as drawn.

    Attributes:
        slot: Place on the market, from 0; -1 where places are not kept.
        client: The client's place in the order in which initial tasks are dealt.
        required_trust: Level, 0 for a task open to all.
        prestige_delta: Prestige won with success, 4 decimals as drawn.
        skill_boost: Share by which rates grow with success, 4 decimals.
        required_qty: Units of work in each domain.
        further: The domains beside the first.
    """

    slot: int
    title: str
    client: int
    required_prestige: int
    required_trust: int
    reward_cents: int
    prestige_delta: float
    skill_boost: float
    domain: str
    required_qty: int
    further: tuple[str, ...] = ()

    @property
    def domains(self) -> tuple[str, ...]:
        """All domains of the work."""
        return (self.domain, *self.further)


def stored(value: Decimal | float, digits: int) -> Decimal:
    """Return what the published store reads back after writing a value: it passes through a double.

    >>> stored(Decimal("2.67449"), 3)
    Decimal('2.674')
    """
    return Decimal(f"{float(value):.{digits}f}")


def decimal(value: float) -> Decimal:
    """Return the shortest decimal that reads back as the double."""
    return Decimal(str(value))
