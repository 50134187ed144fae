"""What a world is drawn to be: clients, staff and tasks before anything has happened."""

from decimal import Decimal

from attrs import frozen

__all__ = ["ClientSpec", "EmployeeSpec", "TaskSpec"]


@frozen
class ClientSpec:
    """A client as drawn.

    Attributes:
        name: Of the company.
        reward_multiplier: On the rewards of its initial tasks.
        tier: "Standard", "Premium" or "Enterprise".
        specialties: One or two domains, in the order drawn.
        loyalty: Hidden, -1 to 1; strictly below the threshold the client is adversarial.
        adversarial: Whether it is.
    """

    name: str
    reward_multiplier: float
    tier: str
    specialties: tuple[str, ...]
    loyalty: float
    adversarial: bool


@frozen
class EmployeeSpec:
    """An employee as drawn.

    Attributes:
        name: `Emp_1` and so on.
        tier: "junior", "mid" or "senior".
        salary_cents: Cents a month.
        rates: Units an hour by domain, 4 decimals; keys in the order of generation.
    """

    name: str
    tier: str
    salary_cents: int
    rates: dict[str, Decimal]


@frozen
class TaskSpec:
    """A task of the market as drawn.

    Attributes:
        slot: Place on the market, from 0; -1 where places are not kept.
        title: `Task-N`.
        client: The client's place in the order in which initial tasks are dealt.
        required_prestige: 1 or more.
        required_trust: 0 for a task open to all.
        reward_cents: Advertised, cents.
        prestige_delta: Won with success, 4 decimals as generated.
        skill_boost: Share by which rates grow with success, 4 decimals.
        domain: Of the work.
        required_qty: Units of work, whole.
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
