"""The action of a stage, and the type of its units."""

from collections.abc import Mapping
from typing import ClassVar

from attrs import field, frozen
from attrs.validators import ge, le

from desim.show.column import Column

#: Units: whole numbers as long as every order so far was whole.
Number = int | float

#: Largest size of an order, in units; the largest order of a published run is near 5e9.
LARGEST = 10**18


@frozen
class Order:
    """Order goods from the stage above; the last stage orders a production run.

    A negative quantity counts as 0. Where a world deals in whole units (preset `firmbench`) a
    fraction is cut off, as the published environment does; elsewhere it is kept exactly.

    Attributes:
        quantity: Units to order this week; 0 orders nothing.
    """

    columns: ClassVar[Mapping[str, Column]] = {"quantity": Column("units")}

    quantity: Number = field(validator=[ge(-LARGEST), le(LARGEST)])
