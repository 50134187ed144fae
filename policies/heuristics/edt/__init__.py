"""Rules for the Enterprise Digital Twin as policies."""

from models.edt import EnterpriseDigitalTwin
from policies.heuristics.edt.optimal import LocalSearch, Optimal
from policies.heuristics.edt.simple import Simple

__all__ = ["LocalSearch", "Optimal", "Simple", "baselines"]


def baselines(game: EnterpriseDigitalTwin) -> tuple[str, ...]:
    """Return the specs that make sense in a game, the simplest first.

    Greedy by revenue per seat and step is the generic `greedy`, which takes the option worth most.
    """
    # A search needs one decision before the run, and rules without chance.
    known = game.asks == "once" and game.gating == "threshold"
    return ("simple", *(("local_search", "optimal") if known else ()))
