"""One company with up to four departments on one clock, and a cash pool between them."""

from models.enterprise.controller import (
    Continue,
    Department,
    GroupPosition,
    SetLimits,
    Transfer,
)
from models.enterprise.model import Enterprise

__all__ = ["Continue", "Department", "Enterprise", "GroupPosition", "SetLimits", "Transfer"]
