"""Whether the kernel confines a program, by the protections that hold."""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself takes 13 ms to load, half as long as a program
if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


def is_confined(active: AbstractSet[str]) -> bool:
    """Return whether the kernel keeps a program from files, network and other processes.

    Args:
        active: The names of the protections that hold. Limits and the audit hook do not count: a
            program can evade the hook.
    """
    isolated = {"network", "processes"} <= active and bool(active & {"mounts", "landlock"})
    return "filter" in active or isolated
