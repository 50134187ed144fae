"""Formulas of the rules, which the world applies and its planner plans with.

Pure functions of parameters and plain numbers; doubles throughout, unrounded unless stated.
"""

import math

from models.yc_bench.params import PublicRules

#: Trust gained with the first success, times `trust_max` over `trust_build_tasks`, and the power
#: with which the gain slows down (SPEC 2.3).
_GAIN, _POWER = 1.6, 1.5

#: Shares of `trust_fragility` lost with a failure, a cancellation and a calendar day; share of
#: `trust_focus_pressure` lost with a completion for another client (SPEC 2.3).
_FAILURE, _CANCELLATION, _DAY, _FOCUS = 0.6, 1.0, 0.03, 0.06


def agreed_quantity(rules: PublicRules, quantity: float, trust: float) -> int:
    """Return the units of work of an honest client's task once accepted (SPEC 11.1)."""
    saved = rules.trust_work_reduction_max * (trust / rules.trust_max)
    return max(rules.minimum_qty, int(quantity * (1 - saved)))


def deadline_days(rules: PublicRules, quantity: float) -> int:
    """Return the business days until so many units of agreed work are due (SPEC 11.1)."""
    return max(rules.deadline_min_biz_days, int(quantity / rules.deadline_qty_per_day))


def payout_factor(rules: PublicRules, prestige: float) -> float:
    """Return the factor on a listed reward at the company's prestige in its domain (SPEC 17)."""
    if rules.payout_prestige == "required":
        return 1.0
    return 1 + rules.reward_prestige_scale * (prestige - 1)


def trust_after_success(rules: PublicRules, trust: float) -> float:
    """Return a client's trust after a task done in time (SPEC 10)."""
    gain = rules.trust_max * _GAIN / rules.trust_build_tasks
    missing = max(0.0, 1 - trust / rules.trust_max)
    return min(rules.trust_max, trust + gain * math.pow(missing, _POWER))


def trust_after_failure(rules: PublicRules, trust: float) -> float:
    """Return a client's trust after a late task (SPEC 10)."""
    return max(0.0, trust - rules.trust_fragility * _FAILURE)


def trust_after_cancellation(rules: PublicRules, trust: float) -> float:
    """Return a client's trust after a cancelled task (SPEC 11)."""
    return max(0.0, trust - rules.trust_fragility * _CANCELLATION)


def trust_after_other_completions(
    rules: PublicRules, trust: float, completions: float = 1.0
) -> float:
    """Return a client's trust after completions for other clients (SPEC 10)."""
    return max(0.0, trust - rules.trust_focus_pressure * _FOCUS * completions)


def trust_worn(rules: PublicRules, days: float) -> float:
    """Return the trust that a client loses over so many calendar days (SPEC 8)."""
    return rules.trust_fragility * _DAY * days
