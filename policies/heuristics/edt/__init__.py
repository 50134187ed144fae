"""Rules for the Enterprise Digital Twin as policies."""

from models.edt.params import DigitalTwinParams
from policies.heuristics.edt.optimal import LocalSearch, Optimal
from policies.heuristics.edt.simple import Simple

__all__ = ["LocalSearch", "Optimal", "Simple", "baselines"]


def baselines(params: DigitalTwinParams) -> tuple[str, ...]:
    """Return the policy specs that make sense with these parameters, the simplest first.

    The generic `greedy` takes the best-paid seats, because the options are valued by revenue.
    """
    # A search needs one decision before the run, and the rules that it computes with.
    known = params.asks == "once" and params.follows_code
    return ("simple", *(("local_search", "optimal") if known else ()))
