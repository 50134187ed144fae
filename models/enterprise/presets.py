"""The presets: which departments a group has, and what happens to it.

All amounts are invented here, in dollars; the README says how they were chosen.
"""

from collections.abc import Mapping
from typing import Any

from models.beer_game import BeerGame
from models.edt import EnterpriseDigitalTwin
from models.enterprise_arena import TREASURY, EnterpriseArena
from models.yc_bench import YCBench

__all__ = ["PRESETS"]

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
    return EnterpriseArena.preset("capped", **{**TREASURY, **own, **changes})


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
