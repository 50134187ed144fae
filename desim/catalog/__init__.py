"""Models, presets and policies by name; `module:Class` for a user's own.

The folders `models` and `policies` are searched, so that a new model or policy appears in every
list and table without being registered.
"""

from desim.catalog.changes import changed
from desim.catalog.model_finder import (
    builder,
    has_model,
    model,
    model_class,
    model_name,
    models,
    named_class,
)
from desim.catalog.policy_finder import PolicyMaker, baselines, lineup, lineups, policies, policy
from desim.catalog.presets import from_preset, nearest_preset, presets

__all__ = [
    "PolicyMaker",
    "baselines",
    "builder",
    "changed",
    "from_preset",
    "has_model",
    "lineup",
    "lineups",
    "model",
    "model_class",
    "model_name",
    "models",
    "named_class",
    "nearest_preset",
    "policies",
    "policy",
    "presets",
]
