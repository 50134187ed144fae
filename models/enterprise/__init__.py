"""One company with up to four departments on one clock, and a cash pool between them."""

from models.enterprise.actions import Continue, SetLimits, Transfer
from models.enterprise.model import Enterprise
from models.enterprise.observation import Department, GroupPosition

__all__ = ["Continue", "Department", "Enterprise", "GroupPosition", "SetLimits", "Transfer"]
