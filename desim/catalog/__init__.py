"""Models, presets and policies by name; `module:Class` for a user's own.

The folders `models` and `policies` are searched, so that a new model or policy appears in every
list and table without being registered.
"""

from desim.catalog.changes import changed
from desim.catalog.model_finder import (
    builder,
    foreign_model,
    foreign_models,
    has_model,
    is_at_hand,
    known_class,
    model,
    model_class,
    model_name,
    model_names,
    models,
    named_class,
    recorded_model,
)
from desim.catalog.policy_finder import PolicyMaker, baselines, lineup, lineups, policies, policy
from desim.catalog.presets import from_preset, nearest_preset, presets

__all__ = [
    "PolicyMaker",
    "baselines",
    "builder",
    "changed",
    "foreign_model",
    "foreign_models",
    "from_preset",
    "has_model",
    "is_at_hand",
    "known_class",
    "lineup",
    "lineups",
    "model",
    "model_class",
    "model_name",
    "model_names",
    "models",
    "named_class",
    "nearest_preset",
    "policies",
    "policy",
    "presets",
    "recorded_model",
]
