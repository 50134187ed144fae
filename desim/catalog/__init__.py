"""Models, presets and policies by name; `module:Class` for a user's own.

The folders `models` and `policies` are searched, so that a new model or policy appears in every
list and table without being registered.
"""

from desim.catalog.changes import changed as changed
from desim.catalog.model_finder import builder as builder
from desim.catalog.model_finder import foreign_model as foreign_model
from desim.catalog.model_finder import foreign_models as foreign_models
from desim.catalog.model_finder import is_at_hand as is_at_hand
from desim.catalog.model_finder import known_class as known_class
from desim.catalog.model_finder import model as model
from desim.catalog.model_finder import model_class as model_class
from desim.catalog.model_finder import model_name as model_name
from desim.catalog.model_finder import model_names as model_names
from desim.catalog.model_finder import models as models
from desim.catalog.policy_finder import PolicyMaker as PolicyMaker
from desim.catalog.policy_finder import baselines as baselines
from desim.catalog.policy_finder import lineups as lineups
from desim.catalog.policy_finder import policies as policies
from desim.catalog.policy_finder import policy as policy
from desim.catalog.presets import from_preset as from_preset
from desim.catalog.presets import nearest_preset as nearest_preset
from desim.catalog.presets import presets as presets
