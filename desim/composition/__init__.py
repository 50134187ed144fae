"""Several models on one common clock."""

from desim.composition.composite import Composite
from desim.composition.group import Group
from desim.composition.parts import AFTER_PARTS, part_seed
from desim.composition.specs import PartSpec

__all__ = ["AFTER_PARTS", "Composite", "Group", "PartSpec", "part_seed"]
