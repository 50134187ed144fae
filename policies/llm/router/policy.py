"""A router's policy as plain data: rules in order, and the default method.

A policy may come from a language model, so reading never fails: what has no meaning has no effect,
and `remarks` names it. As in the published code, a condition that means nothing constrains nothing,
yet it makes its rule more specific. Source: reference SPEC of FirmBench, section 6, and its
recorded cases.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from attrs import asdict, field, fields_dict, frozen

from desim.errors import possible
from desim.short_repr import short_repr
from policies.llm.router.situation import Features, Situation

#: The label that stands for every one, in any capitals, and the value that leaves a bound out.
_ALL, _OMIT = "ALL", "omit"

#: The label by which a rule names questions without a difficulty.
NO_BUCKET = "NA"

#: The features that are true or false, and those that are counts.
_FLAGS = tuple(name for name, each in fields_dict(Features).items() if each.type is bool)

_COUNTS = tuple(name for name in fields_dict(Features) if name not in _FLAGS)

#: Every bound on features that has an effect; both ends of a range are included.
BOUNDS = (*_FLAGS, *(f"{name}_{end}" for name in _COUNTS for end in ("min", "max")))

_TRUTH = {"true": True, "false": False}

#: Other names of methods; capitals matter.
ALIASES = {"self-refine": "self_refine", "dc": "dynamic_cheatsheet"}

#: The keys of a rule's conditions: those that name a label, and that of the bounds.
LABELS = ("task_name", "capability", "difficulty_bucket")

_BOUNDS_KEY = "feature_conditions"

#: Where a policy names none: the default method, and the least difference of accuracy.
_DEFAULT, _MARGIN = "ace", 0.01

#: Written for the conditions of a rule that never matches; null would always match.
_NEVER = "never"


def holds(when: Mapping[str, Any], situation: Situation) -> bool:
    """Return whether all conditions hold; capitals matter, spaces around labels do not."""
    labels = (situation.task, situation.capability, situation.bucket or NO_BUCKET)
    if not all(_is(when.get(key), label) for key, label in zip(LABELS, labels, strict=True)):
        return False
    bounds, features = _bounds(when), situation.features
    if not bounds or features is None:
        return not bounds
    return all(_within(features, *bound) for bound in bounds.items())


def _constrains(value: Any) -> bool:
    """Return whether the value of a label counts for specificity; see `Rule.specificity`."""
    return bool(value) and str(value).strip().upper() not in ("", _ALL)


def _is(wanted: Any, label: str | None) -> bool:
    """Return whether a label is the wanted one; anything but a text, "" and ALL admit any label."""
    if not isinstance(wanted, str) or not _constrains(wanted):
        return True
    return wanted.strip() == (label or "").strip()


def _bounds(when: Mapping[str, Any]) -> Mapping[str, Any]:
    bounds = when.get(_BOUNDS_KEY)
    return bounds if isinstance(bounds, Mapping) else {}


def _within(features: Features, name: str, value: Any) -> bool:
    """Return whether one bound holds; one that has no effect does."""
    limit = _limit(name, value)
    if limit is None:
        return True
    if name in _FLAGS:
        return bool(getattr(features, name) == limit)
    feature, end = name.rsplit("_", 1)
    count = getattr(features, feature)
    return bool(count >= limit if end == "min" else count <= limit)


def _limit(name: str, value: Any) -> float | None:
    """Return the value of a bound; None for one that is unknown or not understood."""
    if name not in BOUNDS:
        return None
    if name not in _FLAGS:
        return _number(value)
    if isinstance(value, str):
        return _TRUTH.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    """Return a finite number, also one written as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


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
        return sum(_constrains(when.get(key)) for key in LABELS) + bool(_bounds(when))


@frozen
class Policy:
    """Rules and the default method.

    Attributes:
        rules: In order; of rules of the same specificity the earlier one decides.
        default: The method if no rule decides.
        tie_breaker: As the synthesiser wrote it; rules do not use it.
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
        margin = _number(data.get("min_margin"))
        return cls(
            tuple(map(_rule, rules)) if isinstance(rules, list | tuple) else (),
            canonical(text_of(data.get("default_agent"))) or _DEFAULT,
            text_of(data.get("tie_breaker")),
            _MARGIN if margin is None else margin,
        )

    def plain(self) -> dict[str, Any]:
        """Return the policy as plain JSON values, which `read` takes."""
        return {
            "default_agent": self.default,
            "tie_breaker": self.tie_breaker,
            "min_margin": self.min_margin,
            "rules": [
                asdict(rule) | {"when": _NEVER if rule.when is None else dict(rule.when)}
                for rule in self.rules
            ],
        }

    def remarks(self, available: Collection[str]) -> list[str]:
        """Return one sentence for every part of the policy that has no effect."""
        found = [f"rule {n} {text}" for n, rule in enumerate(self.rules) for text in _faults(rule)]
        chosen = [(f"rule {n}", rule.choose) for n, rule in enumerate(self.rules)]
        for whose, name in [*chosen, ("the default", self.default)]:
            if canonical(name) not in available:
                found.append(f"{whose} names {short_repr(name)}; {possible(name, available)}")
        return found


def unwrapped(data: Mapping[str, Any]) -> Any:
    """Return the policy in an object of findings and policy, as the paper names it or we do."""
    return data.get("policy", data.get("routing_policy", data))


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
    # An empty list or text counts as a missing object.
    when = data.get("when") or {}
    texts = [text_of(data.get(key)) for key in ("choose", "confidence", "rationale")]
    return Rule(when if isinstance(when, Mapping) else None, *texts)


def text_of(value: Any) -> str:
    """Return a text without spaces around it; an empty one for any other value."""
    return value.strip() if isinstance(value, str) else ""


def _faults(rule: Rule) -> Iterator[str]:
    """Yield the ends of sentences that begin with the rule's number."""
    if rule.when is None:
        yield "has no object of conditions, so it never matches"
        return
    bounds = _bounds(rule.when)
    for known, given in (((*LABELS, _BOUNDS_KEY), rule.when), (BOUNDS, bounds)):
        for key in given:
            if key not in known:
                yield f"has the condition {short_repr(key)}; {possible(str(key), known)}"
    for name, value in bounds.items():
        if name in BOUNDS and value not in (None, _OMIT) and _limit(name, value) is None:
            yield f"has the bound {name}={short_repr(value)}, which is not understood"
