"""The conditions of a rule: when they hold, and what counts as a condition at all.

Conditions are data that a language model wrote. As in the published code, a value that means
nothing constrains nothing, yet it makes its rule more specific.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import fields_dict

from desim.errors import possible
from desim.short_repr import short_repr
from policies.llm.router.situation import Features, Situation

__all__ = [
    "BOUNDS",
    "NO_BUCKET",
    "constrains",
    "feature_bounds",
    "holds",
    "number_of",
    "unknown_bounds",
]

#: The label that stands for every one, in any capitals.
_ALL = "ALL"

#: How a rule names questions that have no difficulty.
NO_BUCKET = "NA"

#: The value that leaves a bound out.
_OMIT = "omit"

_FLAGS = tuple(name for name, each in fields_dict(Features).items() if each.type is bool)
_COUNTS = tuple(name for name in fields_dict(Features) if name not in _FLAGS)

#: Every bound on features that has an effect; both ends of a range are included.
BOUNDS = (*_FLAGS, *(f"{name}_{end}" for name in _COUNTS for end in ("min", "max")))

_TRUTH = {"true": True, "false": False}


def holds(when: Mapping[str, Any], situation: Situation) -> bool:
    """Return whether all conditions hold; capitals matter, spaces around a label do not."""
    labels = {
        "task_name": situation.task,
        "capability": situation.capability,
        "difficulty_bucket": situation.bucket or NO_BUCKET,
    }
    if any(not _is(when.get(key), label) for key, label in labels.items()):
        return False
    bounds = feature_bounds(when)
    if not bounds:
        return True
    features = situation.features
    return features is not None and all(_within(features, *bound) for bound in bounds.items())


def constrains(value: Any) -> bool:
    """Return whether the value of a label counts for specificity; see `Rule.specificity`."""
    return bool(value) and str(value).strip().upper() not in ("", _ALL)


def feature_bounds(when: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the bounds on features; empty where the data holds no object of them."""
    bounds = when.get("feature_conditions")
    return bounds if isinstance(bounds, Mapping) else {}


def unknown_bounds(when: Mapping[str, Any]) -> Iterator[str]:
    """Yield the end of a sentence for every bound that has no effect, `omit` and null apart."""
    bounds = when.get("feature_conditions")
    if bounds is not None and not isinstance(bounds, Mapping):
        yield f"has no object under feature_conditions but {short_repr(bounds)}"
    for name, value in feature_bounds(when).items():
        if name not in BOUNDS:
            yield f"has the bound {short_repr(name)}; {possible(str(name), BOUNDS)}"
        elif value not in (None, _OMIT) and (_flag if name in _FLAGS else number_of)(value) is None:
            yield f"has the bound {name}={short_repr(value)}, which is not understood"


def _is(wanted: Any, label: str | None) -> bool:
    """Return whether a label is the wanted one; what is no text, empty or ALL wants nothing."""
    if not isinstance(wanted, str) or not constrains(wanted):
        return True
    return wanted.strip() == label


def _within(features: Features, name: str, value: Any) -> bool:
    """Return whether one bound holds; one that is unknown or not understood does."""
    if name not in BOUNDS:
        return True
    if name in _FLAGS:
        flag = _flag(value)
        return flag is None or getattr(features, name) == flag
    limit = number_of(value)
    feature, end = name.rsplit("_", 1)
    if limit is None:
        return True
    count = getattr(features, feature)
    return bool(count >= limit if end == "min" else count <= limit)


def _flag(value: Any) -> bool | None:
    """Return a truth value, also one written as text; None for anything else."""
    if isinstance(value, str):
        return _TRUTH.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def number_of(value: Any) -> float | None:
    """Return a finite number, also one written as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
