"""Several models on one common clock."""

from desim.composition.composite import Composite as Composite
from desim.composition.group import Group as Group
from desim.composition.parts import AFTER_PARTS as AFTER_PARTS
from desim.composition.parts import part_seed as part_seed
from desim.composition.specs import PartSpec as PartSpec
