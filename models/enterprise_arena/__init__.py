"""EnterpriseArena: 132 months of a consumer lender under its chief financial officer."""

from models.enterprise_arena.model import EnterpriseArena
from models.enterprise_arena.params import TREASURY, ArenaParams

__all__ = ["TREASURY", "ArenaParams", "EnterpriseArena"]
