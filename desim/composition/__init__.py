"""Several models on one common clock.

* `composite`: `Composite`, a model made of parts and links.
* `specs`: the parameters of a part and of a link, as plain values.
* `group`: `Group`, the state of such an episode and what links may do.
* `exchange`: moves of cash and goods between two parts, and the check that none is created.
* `parts`: a part in a world of its own, its dates and its ledgers.
* `parts_model`: the base class of models that are made of parts, with their metrics, series and
  tables under their names.
"""

from desim.composition.composite import Composite
from desim.composition.group import Group, Member
from desim.composition.parts import AFTER_PARTS, part_seed
from desim.composition.specs import PartSpec

__all__ = ["AFTER_PARTS", "Composite", "Group", "Member", "PartSpec", "part_seed"]
