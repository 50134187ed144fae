"""Choosing a method by the most specific rule that matches.

Source: reference SPEC of FirmBench, section 6, and its recorded cases.
"""

from collections.abc import Collection
from typing import Literal

from attrs import frozen

from policies.llm.router.policy import Policy, canonical, holds
from policies.llm.router.situation import Situation

#: Why a method was chosen: by a rule, or by default because no rule matched, the best one has low
#: confidence, or the best one names a method that is not available.
Why = Literal["rule", "no_match", "low_confidence", "agent_missing"]


@frozen
class Match:
    """The place of a rule that matches, from 0, and its specificity, 0 to 4."""

    index: int
    specificity: int


@frozen
class Route:
    """A method and how it was chosen.

    Attributes:
        method: Its name.
        why: The reason for the choice.
        rule: The place of the best matching rule, also where it did not decide; None without one.
        matching: All rules that match, in their order.
    """

    method: str
    why: Why
    rule: int | None = None
    matching: tuple[Match, ...] = ()


def route(
    policy: Policy,
    situation: Situation,
    available: Collection[str],
    *,
    low_confidence_falls_back: bool = True,
) -> Route:
    """Choose a method by rules.

    The most specific of the matching rules decides, the earliest of equally specific ones. Where
    it may not decide, the default is taken and no other rule is tried, as published. The default
    itself may be unavailable. A rule of low confidence sends to the default, unless
    *low_confidence_falls_back* is false.
    """
    matching = tuple(
        Match(index, rule.specificity)
        for index, rule in enumerate(policy.rules)
        if rule.when is not None and holds(rule.when, situation)
    )
    default = canonical(policy.default)
    if not matching:
        return Route(default, "no_match")
    # max() returns the first of equal ones.
    best = max(matching, key=lambda match: match.specificity).index
    rule = policy.rules[best]
    if low_confidence_falls_back and rule.confidence.strip().lower() == "low":
        return Route(default, "low_confidence", best, matching)
    if (method := canonical(rule.choose)) not in available:
        return Route(default, "agent_missing", best, matching)
    return Route(method, "rule", best, matching)
