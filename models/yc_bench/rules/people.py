"""Parameters of the people: clients, staff and salary tiers (SPEC 2.3, 2.5, 4.1 and 4.2)."""

import math
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import ge, in_, instance_of, le

from desim.schema.validators import finite, finite_numbers, whole
from desim.short_repr import short_repr
from models.yc_bench.rules.checks import (
    AMOUNT,
    COUNT,
    SEED,
    SHARE,
    SWITCH,
    Pair,
    Triple,
    as_tuple,
    triangle,
)

#: Shares may miss a sum of 1 by rounding.
_ROUNDING = 1e-9


@frozen(kw_only=True)
class Tier:
    """A salary tier (SPEC 2.5).

    Attributes:
        name: Name of the tier.
        share: Share of the staff; used where `roster` is "shares".
        published: How many the published list holds before it is cut to the staff's size.
        salary_cents: Lowest and highest salary, cents a month.
        rate: Lowest and highest rate, units an hour.
    """

    name: str = field(validator=instance_of(str))
    share: float = field(validator=SHARE)
    published: int = field(validator=[whole, ge(0)])
    salary_cents: tuple[int, int] = field(converter=as_tuple, validator=finite_numbers(2))
    rate: Pair = field(converter=as_tuple, validator=finite_numbers(2))

    @property
    def midpoint(self) -> int:
        """Middle of the salaries, cents."""
        return sum(self.salary_cents) // 2


_TIERS = (
    Tier(name="junior", share=0.5, published=5, salary_cents=(200_000, 400_000), rate=(1.0, 4.0)),
    Tier(name="mid", share=0.35, published=3, salary_cents=(600_000, 800_000), rate=(4.0, 7.0)),
    Tier(
        name="senior",
        share=0.15,
        published=2,
        salary_cents=(1_000_000, 1_500_000),
        rate=(7.0, 10.0),
    ),
)


def _sum_to_one(_: object, __: "Attribute[Any]", value: tuple[Tier, ...]) -> None:
    if not value or abs(math.fsum(tier.share for tier in value) - 1) > _ROUNDING:
        raise ValueError(f"tiers={short_repr(value)} was given; their shares sum to 1")


@frozen(kw_only=True, slots=False)
class PeopleRules:
    """Rules by which clients and staff are drawn.

    Attributes:
        num_employees: Size of the staff.
        num_clients: At most 15, the number of published names.
        people_seed: Seed of clients and staff, the same in all published worlds; none takes the
            run's seed.
        roster: "published": the first of a fixed list of tiers; "shares": by the tiers' shares.
        spiky_skills: Whether a domain's rate may fall into any tier's band up to the person's own.
        tiers: Salaries and rates by tier.
        client_multiplier: Low, high and mode of the clients' reward multipliers.
        client_tiers: Multipliers from which a client is Premium, and Enterprise.
        one_specialty_probability: Chance of one specialty; otherwise a client has two.
        loyalty_rat_fraction: Share of adversarial clients.
        loyalty_severity: Scales how much their tasks swell; `scope_creep_floor` holds below it.
        adversarial_loyalty: Loyalty strictly below which a client is adversarial.
        adversarial_multiplier: Floor under an adversarial client's multiplier, as a share of the
            largest.
    """

    num_employees: int = field(default=8, validator=COUNT)
    num_clients: int = field(default=6, validator=[whole, ge(1), le(15)])
    people_seed: int | None = field(default=1, validator=SEED)
    roster: str = field(default="published", validator=in_(("published", "shares")))
    spiky_skills: bool = field(default=False, validator=SWITCH)
    tiers: tuple[Tier, ...] = field(default=_TIERS, converter=tuple, validator=_sum_to_one)
    client_multiplier: Triple = field(
        default=(0.7, 2.5, 1.0), converter=as_tuple, validator=triangle
    )
    client_tiers: Pair = field(default=(1.0, 1.7), converter=as_tuple, validator=finite_numbers(2))
    one_specialty_probability: float = field(default=0.6, validator=SHARE)
    loyalty_rat_fraction: float = field(default=0.35, validator=SHARE)
    loyalty_severity: float = field(default=1.0, validator=AMOUNT)
    adversarial_loyalty: float = field(default=-0.3, validator=[finite, ge(-1), le(1)])
    adversarial_multiplier: float = field(default=0.75, validator=AMOUNT)
