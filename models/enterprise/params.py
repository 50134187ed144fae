"""The parameters of the enterprise; its presets are in `presets.py`."""

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import field, frozen
from attrs.validators import ge, instance_of, le, optional

from desim.composition.specs import check_date
from desim.schema.validators import finite, whole
from models.beer_game import BeerGame
from models.edt import EnterpriseDigitalTwin
from models.enterprise_arena import EnterpriseArena
from models.yc_bench import YCBench

__all__ = ["CONTROLLER", "DEPARTMENTS", "TREASURY", "EnterpriseParams"]

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

    All of this is invented here; only the worlds of the parts are published.

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
