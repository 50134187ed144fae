"""The named rules of EnterpriseArena."""

from policies.heuristics.enterprise_arena.human import HumanLike as HumanLike
from policies.heuristics.enterprise_arena.rules import EquityThenDebt as EquityThenDebt
from policies.heuristics.enterprise_arena.rules import NeverRaise as NeverRaise
from policies.heuristics.enterprise_arena.rules import RaiseBelow as RaiseBelow
from policies.heuristics.enterprise_arena.rules import RaiseOnce as RaiseOnce
from policies.heuristics.enterprise_arena.rules import RaiseWhenFree as RaiseWhenFree
from policies.heuristics.enterprise_arena.treasurer import Treasurer as Treasurer


def baselines(_: object) -> tuple[str, ...]:
    """Return the specs with which this world is played headlessly."""
    return (
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
