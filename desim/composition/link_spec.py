"""A link as a parameter: the name of a function, by which a record finds it again."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from attrs import field, frozen

from desim.catalog.imports import load
from desim.composition.group import Group, Process
from desim.core.world import World
from desim.errors import UsageError
from desim.faults import noted
from desim.short_repr import short_repr

__all__ = ["LinkSpec", "as_links"]

#: A process function: of the common world and the group, returning a generator of events.
Link = Callable[[World, Group], Process]

#: The names of the links that code of this process has given, so that its own records need no
#: trust. Not their modules: of one that is imported, a record may name any function.
_GIVEN: set[str] = set()


@frozen
class LinkSpec:
    """A link between parts.

    Attributes:
        function: `module:function`. Of a record it is imported when the episode begins.
    """

    function: str
    _loaded: Link | None = field(default=None, init=False, eq=False, repr=False)

    @classmethod
    def of(cls, given: "LinkSpec | Link | str") -> "LinkSpec":
        """Return the link of a function or of its name.

        Raises:
            TypeError: It is neither.
            UsageError: There is no function of that name, or it is no generator function.
        """
        if isinstance(given, LinkSpec):
            return given
        if not isinstance(given, str) and not hasattr(given, "__qualname__"):
            raise TypeError(
                f"{short_repr(given)} was given as a link; give a function or module:function"
            )
        name = given if isinstance(given, str) else f"{given.__module__}:{given.__qualname__}"
        link = cls(name)
        # Kept, so that a function to which no name leads, such as an inner one, can be used.
        object.__setattr__(link, "_loaded", link.load() if isinstance(given, str) else given)
        _GIVEN.add(name)
        return link

    @property
    def is_given(self) -> bool:
        """Whether code of this process has named the function, and not only a record."""
        return self.function in _GIVEN

    def start(self, world: World, group: Group) -> Process:
        """Return the link's process.

        Raises:
            UsageError: As `load`.
        """
        return self._noted(self.load(), world, group)

    def _noted(self, link: Link, world: World, group: Group) -> Process:
        """Run a link; an exception says which link and date it is."""
        with noted(lambda: f"in link {self.function!r} on {group.clock.moment(world.now)}"):
            yield from link(world, group)

    def load(self) -> Link:
        """Return the function.

        Raises:
            UsageError: There is none of that name, or it is no generator function.
        """
        link: Link = self._loaded or load(self.function, "link")
        if not inspect.isgeneratorfunction(link):
            raise UsageError(f"link {self.function!r} is no process: it has no yield")
        return link


def as_links(given: Any) -> tuple[LinkSpec, ...]:
    """Convert functions, names and links, or one of these, to links.

    Raises:
        TypeError: One is none of these.
    """
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return tuple(map(LinkSpec.of, given if several else (given,)))
