"""Names of SimPy's resources and events, which have none: those of the variables that hold them."""

from collections.abc import Iterator, Mapping
from typing import Any

import simpy
from simpy.resources.base import BaseResource

from desim.core.run import Run
from desim.tracing.trace_labels import attributes


class ResourceNames:
    """Names resources by their monitor, an attribute of the state or a variable of a process.

    Args:
        run: The run that they are part of.
    """

    def __init__(self, run: Run[Any]) -> None:
        self._run = run
        # Keyed by id, and holds the resource too, because Python may use an id again.
        self._named: dict[int, tuple[object, str]] = {}
        self._taken: dict[str, int] = {}

    def name(self, resource: BaseResource[Any, Any], process: simpy.Process | None) -> str:
        """Return the name of a resource; the second one of a name is `name 2`."""
        known = self._named.get(id(resource))
        if known is None:
            found = self._own(resource) or self.variable(resource, process)
            found = found or type(resource).__name__
            self._taken[found] = count = self._taken.get(found, 0) + 1
            known = (resource, found if count == 1 else f"{found} {count}")
            self._named[id(resource)] = known
        return known[1]

    @staticmethod
    def _own(resource: BaseResource[Any, Any]) -> str:
        """Return the attribute `name` of a resource, which monitors set; empty if it has none."""
        name = vars(resource).get("name")
        return name if isinstance(name, str) else ""

    def variable(self, value: object, process: simpy.Process | None) -> str:
        """Return the name of a variable that holds a value; empty if none is found."""
        for owner in self._owners(process):
            for name, held in owner.items():
                if held is value:
                    return name
        return ""

    def _owners(self, process: simpy.Process | None) -> Iterator[Mapping[str, Any]]:
        """Yield values by name: of the state, of the process, and of what the process uses."""
        yield attributes(getattr(self._run, "state", None))
        # A process keeps its local variables in the frame of its generator and nowhere else.
        frame = getattr(getattr(process, "_generator", None), "gi_frame", None)
        if frame is not None:
            yield frame.f_locals
            yield from map(attributes, frame.f_locals.values())
