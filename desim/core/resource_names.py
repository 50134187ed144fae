"""Names for SimPy's resources, which have none: those of the variables that hold them."""

from collections.abc import Iterator, Mapping
from typing import Any

import simpy
from simpy.resources.base import BaseResource

from desim.core.observer import Observed

__all__ = ["ResourceNames"]


class ResourceNames:
    """Names resources by an attribute of the state or a variable of a process that uses them.

    Args:
        run: The run that they are part of.
    """

    def __init__(self, run: Observed) -> None:
        self._run = run
        # Kept by identity, together with the resource: an identity may be used again.
        self._named: dict[int, tuple[object, str]] = {}
        self._taken: dict[str, int] = {}

    def name(self, resource: BaseResource[Any, Any], process: simpy.Process | None) -> str:
        """Return the name of a resource; the second one of a name is `name 2`."""
        known = self._named.get(id(resource))
        if known is None:
            found = self.variable(resource, process) or type(resource).__name__
            self._taken[found] = count = self._taken.get(found, 0) + 1
            known = (resource, found if count == 1 else f"{found} {count}")
            self._named[id(resource)] = known
        return known[1]

    def variable(self, value: object, process: simpy.Process | None) -> str:
        """Return the name of a variable that holds a value; empty where none is found."""
        for owner in self._owners(process):
            for name, held in owner.items():
                if held is value:
                    return name
        return ""

    def _owners(self, process: simpy.Process | None) -> Iterator[Mapping[str, Any]]:
        """Yield values by name: of the state, of the process, and of what the process uses."""
        yield attributes(getattr(self._run, "state", None))
        frame = getattr(getattr(process, "_generator", None), "gi_frame", None)
        if frame is not None:
            yield frame.f_locals
            yield from map(attributes, frame.f_locals.values())


def attributes(value: object) -> dict[str, Any]:
    """Return the attributes that an object holds itself, also those in slots."""
    held = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            found = getattr(value, name, None) if not name.startswith("__") else None
            if found is not None:
                held[name] = found
    return held
