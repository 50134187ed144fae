"""The named rules of EnterpriseArena."""

from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.rules import UNBOUNDED
from policies.heuristics.enterprise_arena.rules import (
    EquityThenDebt,
    NeverRaise,
    RaiseBelow,
    RaiseOnce,
    RaiseWhenFree,
)
from policies.heuristics.enterprise_arena.treasurer import Treasurer

__all__ = [
    "EquityThenDebt",
    "NeverRaise",
    "RaiseBelow",
    "RaiseOnce",
    "RaiseWhenFree",
    "Treasurer",
    "baselines",
]

_RULES = (
    "never_raise",
    "raise_once",
    "raise_below",
    "raise_when_free,instrument=debt",
    "raise_when_free",
    # The largest request that the preset `capped` accepts.
    "raise_when_free,amount=50_000_000",
    "equity_then_debt",
    "human_like",
    "treasurer",
)


def baselines(model: object) -> tuple[str, ...]:
    """Return the specs of the baselines; `known_luck` plans for worlds with capped requests."""
    capped = isinstance(model, ArenaParams) and model.largest_request < UNBOUNDED
    return (*_RULES, *(("known_luck",) if capped else ()))
