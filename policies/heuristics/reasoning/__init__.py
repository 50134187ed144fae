"""Baselines of the reasoning tasks as policies."""

from models.reasoning.params import ReasoningParams
from policies.heuristics.reasoning.guesses import FirstNumber, Majority
from policies.heuristics.reasoning.reference import Reference

__all__ = ["FirstNumber", "Majority", "Reference", "baselines"]


def baselines(_: ReasoningParams) -> tuple[str, ...]:
    """Return the policy specs, the last one the ceiling.

    `random`, which draws an option, a label or a number of the text, joins them wherever a role has
    options.
    """
    return ("first_number", "majority", "reference")
