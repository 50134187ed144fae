"""Rules of EnterpriseArena that know its draws, with searches and bounds."""

from policies.informed.enterprise_arena.human import HumanLike
from policies.informed.enterprise_arena.known_luck import KnownLuck

__all__ = ["HumanLike", "KnownLuck"]
