"""The actions of the controller at the end of a month."""

from collections.abc import Mapping
from typing import ClassVar

from attrs import field, frozen
from attrs.validators import ge, in_, le, optional

from desim.schema.validators import finite
from desim.show.column import DOLLARS, Column
from models.enterprise.params import DEPARTMENTS

#: The largest amount of a command, dollars.
LARGEST = 1e12

_name = in_(DEPARTMENTS)
_money = (finite, ge(0), le(LARGEST))


@frozen
class SetLimits:
    """Set between which amounts the cash pool keeps a department's cash from now on.

    Attributes:
        department: Whose.
        floor: Dollars; below it the pool pays from the treasury what is missing.
        ceiling: Dollars; above it the pool moves the rest to the treasury. None: never.
    """

    columns: ClassVar[Mapping[str, Column]] = {"floor": DOLLARS, "ceiling": DOLLARS}

    department: str = field(validator=_name)
    floor: float = field(validator=_money)
    ceiling: float | None = field(default=None, validator=optional(_money))


@frozen
class Transfer:
    """Pay cash now from the treasury to a department, or back.

    Attributes:
        department: Which.
        amount: Dollars; above 0 to the department, below 0 to the treasury.
    """

    columns: ClassVar[Mapping[str, Column]] = {"amount": DOLLARS}

    department: str = field(validator=_name)
    amount: float = field(validator=(finite, ge(-LARGEST), le(LARGEST)))


@frozen
class Continue:
    """Let the pool balance the departments, and let the next month begin."""


Command = SetLimits | Transfer | Continue
