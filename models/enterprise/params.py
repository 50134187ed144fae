"""The parameters and presets of the enterprise: which departments a group has, and what befalls it.

All amounts are invented here, in dollars. Only the worlds of the parts are published.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import field, frozen
from attrs.validators import ge, instance_of, le, optional

from desim.composition.specs import check_date
from desim.core.roles import Thinking
from desim.schema.validators import finite, whole
from models.beer_game import BeerGame
from models.edt import EnterpriseDigitalTwin
from models.enterprise_arena import TREASURY as TREASURY_TERMS
from models.enterprise_arena import EnterpriseArena
from models.yc_bench import YCBench

#: The part that finances the others, and the role beside those of the parts.
TREASURY, CONTROLLER = "treasury", "controller"
#: The departments, in the order in which the pool covers them.
DEPARTMENTS = ("plant", "consultancy", "startup")
_month = (whole, ge(0), le(600))


def _first_of_a_month(instance: object, attribute: Any, value: str) -> None:
    check_date(instance, attribute, value)
    if not value.endswith("-01"):
        raise ValueError(f"start={value} was given; it is the first day of a month")


@frozen(kw_only=True, slots=False)
class EnterpriseParams:
    """A treasury and the departments that it finances.

    Attributes:
        treasury: Raises equity and debt for the group by the rules of the lender's funding.
        plant: A supply chain that keeps cash; None for a group without.
        consultancy: A consulting firm that pays from its cash; None for a group without.
        startup: A start-up; None for a group without.
        months: Length of the episode, 1 to 600.
        start: The first day of the first month, ISO.
        reserve: Dollars that the pool leaves at the treasury.
        grace: Month ends in a row with unpaid costs after which a department is closed, 1 to 600.
        lost_project: The month at whose end the consultancy loses its largest project; 0 for none.
        lost_client: The month at whose end the start-up loses the client that trusts it most; 0 for
            none.
        thinking: Microseconds that the commands of the controller take; those of a department take
            its own `thinking`.
    """

    treasury: EnterpriseArena = field(validator=instance_of(EnterpriseArena))
    plant: BeerGame | None = field(default=None, validator=optional(instance_of(BeerGame)))
    consultancy: EnterpriseDigitalTwin | None = field(
        default=None, validator=optional(instance_of(EnterpriseDigitalTwin))
    )
    startup: YCBench | None = field(default=None, validator=optional(instance_of(YCBench)))
    months: int = field(default=60, validator=(whole, ge(1), le(600)))
    start: str = field(default="2025-01-01", validator=_first_of_a_month)
    reserve: float = field(default=0.0, validator=(finite, ge(0), le(1e12)))
    grace: int = field(default=3, validator=(whole, ge(1), le(600)))
    lost_project: int = field(default=0, validator=_month)
    lost_client: int = field(default=0, validator=_month)
    thinking: Thinking = field(factory=Thinking, validator=instance_of(Thinking))

    #: The world of each part, in the order of the parts at equal times.
    worlds: ClassVar[Mapping[str, str]] = {
        TREASURY: "enterprise_arena",
        "plant": "beer_game",
        "consultancy": "edt",
        "startup": "yc_bench",
    }

    def __attrs_post_init__(self) -> None:
        if self.plant is not None and self.plant.opening_cash is None:
            raise ValueError("plant: opening_cash=None was given; a department keeps cash")
        if self.startup is not None and self.startup.episodes > 1:
            raise ValueError(f"startup: episodes={self.startup.episodes} was given; it opens once")
        if self.treasury.horizon < self.months:
            raise ValueError(
                f"months={self.months} was given; the treasury plans {self.treasury.horizon}"
            )


#: A week's cost of a unit on hand and of a unit owed, and what a sold unit brings.
_PLANT = {
    "holding_cost": 400.0,
    "backlog_cost": 800.0,
    "unit_margin": 4_000.0,
    "opening_cash": 20_000.0,
}


def _treasury(months: int, **changes: Any) -> EnterpriseArena:
    own = {"opening_cash": 150_000.0, "opening_shares": 15_000.0, "overhead": 10_000.0}
    own |= {"largest_request": 2_000_000.0, "horizon": months}
    return EnterpriseArena.preset("capped", **{**TREASURY_TERMS, **own, **changes})


def _group(**changes: Any) -> dict[str, Any]:
    firm = EnterpriseDigitalTwin.preset("interactive", opening_cash=100_000.0, pays_from_cash=True)
    return {
        "treasury": _treasury(60),
        "plant": BeerGame.preset("poisson", horizon=260, **_PLANT),
        "consultancy": firm,
        "startup": YCBench.preset("default", horizon_years=5),
        "months": 60,
        **changes,
    }


#: The first is the default.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "small": {
        "treasury": _treasury(12),
        "plant": BeerGame.preset("poisson", horizon=52, **_PLANT),
        "startup": YCBench.preset("default"),
        "months": 12,
    },
    "group": _group(),
    "shock": _group(
        treasury=_treasury(60, history="regimes"),
        plant=BeerGame.preset("poisson", horizon=260, strike="60:67", **_PLANT),
        lost_project=18,
        lost_client=12,
    ),
}
