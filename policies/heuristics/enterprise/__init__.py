"""Rules of the controller, and line-ups of rules for all seats of a group."""

from collections.abc import Mapping
from typing import Any

from policies.heuristics.enterprise.controller import CashPool, LetRun

__all__ = ["CashPool", "LetRun", "baselines", "lineups"]

_STAGES = ("retailer", "wholesaler", "distributor", "factory")

#: Every department under the rule that the boards of the worlds rank high and that is quick, and
#: the group left alone: no funds are raised and no cash is moved.
_LAISSEZ_FAIRE = {
    "controller": "let_run",
    "treasury.cfo": "never_raise",
    **{f"plant.{stage}": "order_up_to" for stage in _STAGES},
    "consultancy.manager": "greedy",
    "startup.founder": "learning_focus",
}

#: The same departments with a cash pool, and funds raised when the treasury is low.
_TUNED = {
    **_LAISSEZ_FAIRE,
    "controller": "cash_pool,months=2,least=100000,slack=2",
    "treasury.cfo": "raise_below,floor=300000,amount=1000000",
}

#: The line-up that `experiments/tune_enterprise.py` finds. An episode takes 15 times as long as
#: under `tuned`.
_PLANNED = {**_TUNED, "startup.founder": "planner,rerolls=10"}


def lineups(params: Any) -> Mapping[str, Mapping[str, str]]:
    """Return rules by role for all seats that the group has, by the name of the line-up."""
    named = {"laissez_faire": _LAISSEZ_FAIRE, "tuned": _TUNED, "planned": _PLANNED}
    return {
        name: {role: spec for role, spec in specs.items() if role in params.roles}
        for name, specs in named.items()
    }


def baselines(params: Any) -> tuple[str, ...]:
    """Return the line-ups that play quickly."""
    return tuple(name for name in lineups(params) if name != "planned")
