"""A router's policy as plain data: rules in order, and the method taken where none decides.

A policy may come from a language model, so reading never fails: what has no meaning has no effect,
and `remarks` names it. Source: reference SPEC of FirmBench, section 6, and its recorded cases.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from attrs import field, frozen

from desim.errors import possible
from desim.short_repr import short_repr
from policies.llm.router.conditions import constrains, feature_bounds, number_of, unknown_bounds

__all__ = ["ALIASES", "LABELS", "PUBLISHED_METHODS", "Policy", "Rule", "canonical", "table_4"]

#: The nine methods of the paper, in the order of its Table 1.
PUBLISHED_METHODS = (
    "cot",
    "self_refine",
    "reflexion",
    "amem",
    "debate",
    "discussion",
    "dynamic_cheatsheet",
    "gepa",
    "ace",
)

#: Other names of methods; capitals matter.
ALIASES = {"self-refine": "self_refine", "dc": "dynamic_cheatsheet"}

#: The keys of a rule's conditions that name a label.
LABELS = ("task_name", "capability", "difficulty_bucket")

#: The method taken where a policy names no default.
_DEFAULT = "ace"

#: The least difference of accuracy, where a policy names none.
_MARGIN = 0.01

#: Written for the conditions of a rule that never matches; null would always match.
_NEVER = "never"

_KNOWN_KEYS = {*LABELS, "feature_conditions"}


@frozen
class Rule:
    """One rule.

    Attributes:
        when: Its conditions: labels under `LABELS`, bounds under `feature_conditions`. None where
            the data holds no object; such a rule never matches.
        choose: The method, by its name or an alias.
        confidence: high, medium or low; a rule of low confidence sends to the default.
        rationale: Why, for people and for models.
    """

    when: Mapping[str, Any] | None = field(factory=dict)
    choose: str = ""
    confidence: str = ""
    rationale: str = ""

    @property
    def specificity(self) -> int:
        """The number of labels that are constrained, plus 1 for any bounds; 0 to 4."""
        when = self.when or {}
        return sum(constrains(when.get(key)) for key in LABELS) + bool(feature_bounds(when))


@frozen
class Policy:
    """Rules and what is done without them.

    Attributes:
        rules: In order; of rules of the same specificity the earlier one decides.
        default: The method where no rule decides.
        tie_breaker: As the synthesiser wrote it; only model routing reads it.
        min_margin: Likewise: the least difference of accuracy that a rule should rest on.
    """

    rules: tuple[Rule, ...] = ()
    default: str = _DEFAULT
    tie_breaker: str = ""
    min_margin: float = _MARGIN

    @classmethod
    def read(cls, data: Any) -> "Policy":
        """Return the policy that plain JSON values mean; anything else is left out."""
        if not isinstance(data, Mapping):
            return cls()
        rules = data.get("rules")
        margin = number_of(data.get("min_margin"))
        return cls(
            tuple(map(_rule, rules)) if isinstance(rules, list | tuple) else (),
            canonical(_text(data.get("default_agent"))) or _DEFAULT,
            _text(data.get("tie_breaker")),
            _MARGIN if margin is None else margin,
        )

    def plain(self) -> dict[str, Any]:
        """Return the policy as plain JSON values, which `read` takes."""
        rules = [
            {
                "when": _NEVER if rule.when is None else dict(rule.when),
                "choose": rule.choose,
                "confidence": rule.confidence,
                "rationale": rule.rationale,
            }
            for rule in self.rules
        ]
        return {
            "default_agent": self.default,
            "tie_breaker": self.tie_breaker,
            "min_margin": self.min_margin,
            "rules": rules,
        }

    def remarks(self, available: Collection[str]) -> list[str]:
        """Return one sentence for every part of the policy that has no effect.

        Args:
            available: Names of the methods that can be chosen.
        """
        found = [f"rule {n} {text}" for n, rule in enumerate(self.rules) for text in _faults(rule)]
        chosen = [(f"rule {n}", rule.choose) for n, rule in enumerate(self.rules)]
        for whose, name in [*chosen, ("the default", self.default)]:
            if canonical(name) not in available:
                found.append(f"{whose} names {short_repr(name)}; {possible(name, available)}")
        return found


def canonical(name: str) -> str:
    """Return the name of a method that a name or an alias stands for."""
    return ALIASES.get(name.strip(), name.strip())


def table_4() -> Policy:
    """Return the policy of the paper's Table 4, with its rules in the order of the table.

    Its last rule never fires with published labels: Complex Reasoning has no difficulty there.
    """
    data = Path(__file__).with_name("table_4.json").read_bytes()
    return Policy.read(msgspec.json.decode(data))


def _rule(data: Any) -> Rule:
    if not isinstance(data, Mapping):
        return Rule(when=None)
    # An empty list or text says no more than a missing object.
    when = data.get("when") or {}
    texts = [_text(data.get(key)) for key in ("choose", "confidence", "rationale")]
    return Rule(when if isinstance(when, Mapping) else None, *texts)


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _faults(rule: Rule) -> Iterator[str]:
    """Yield the ends of sentences that begin with the rule's number."""
    if rule.when is None:
        yield "has no object of conditions, so it never matches"
        return
    for key in [key for key in rule.when if key not in _KNOWN_KEYS]:
        yield f"has the condition {short_repr(key)}; {possible(str(key), sorted(_KNOWN_KEYS))}"
    for key in LABELS:
        value = rule.when.get(key)
        if value is not None and not isinstance(value, str):
            yield f"has no text under {key} but {short_repr(value)}, which constrains nothing"
    yield from unknown_bounds(rule.when)
