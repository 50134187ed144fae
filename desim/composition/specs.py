"""Parts and links as parameters: what a record holds of them, and how it is built again."""

import datetime as dt
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import field, frozen
from attrs.validators import and_, ge, instance_of, le, optional

from desim import catalog
from desim.catalog.imports import load
from desim.composition.group import Group, Process
from desim.composition.parts import MAX_PARTS
from desim.core.model import Model, no_model
from desim.core.world import World
from desim.errors import SchemaError, UsageError
from desim.faults import Noted
from desim.joined_packages import spec_name
from desim.schema import from_plain, to_plain
from desim.schema.validators import finite, whole
from desim.short_repr import short_repr

#: Words that cannot be names of parts, because they have another meaning in the same place.
_RESERVED = ("all", "any", "parts", "links", "start", "ends")


def check_date(_: object, attribute: Any, value: str) -> None:
    """Check an ISO date."""
    try:
        dt.date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"{attribute.name}={short_repr(value)} was given; it is a date such as 2025-01-01"
        ) from None


def _either(model: "str | Model[Any]") -> Any:
    return model


@frozen(kw_only=True, slots=False)
class PartSpec:
    """One part of a composite.

    Attributes:
        model: A model, its name in the catalog, with or without `/preset`, or `module:Class`; once
            built, the name.
        params: Plain values that replace those of the preset; once built, all parameters.
        weight: The weight of the part's score in the composite's score.
        start: The earliest date of the part's begin, ISO; None for the composite's start.
        times: The number of the part's episodes, one after the other; 1 to 1,000.
    """

    model: str = field(converter=_either, validator=instance_of((str, Model)))
    params: Mapping[str, Any] = field(factory=dict, validator=instance_of((Mapping,)))
    weight: float = field(default=1.0, validator=finite)
    start: str | None = field(default=None, validator=optional(check_date))
    times: int = field(default=1, validator=and_(whole, ge(1), le(1_000)))
    built: Model[Any] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        given: Any = self.model
        model = given if isinstance(given, Model) else _built(given, self.params)
        object.__setattr__(self, "built", model)
        object.__setattr__(self, "model", catalog.model_name(type(model)))
        object.__setattr__(self, "params", to_plain(model))


def _built(name: str, params: Mapping[str, Any]) -> Model[Any]:
    try:
        cls = catalog.model_class(name.partition("/")[0])
        # A class without presets may have parameters without defaults.
        with_presets = "/" in name or any(cls.presets.values())
        preset = to_plain(catalog.model(name)) if with_presets else {}
        built: Model[Any] = from_plain({**preset, **params}, cls, "params")
    except (UsageError, SchemaError) as fault:
        raise ValueError(str(fault)) from None
    return built


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier() or name in _RESERVED:
        raise ValueError(
            f"{short_repr(name)} was given as a part's name; it consists of letters, digits and "
            f"underscores and is none of {', '.join(_RESERVED)}"
        )
    return name


def as_parts(given: Any) -> dict[str, PartSpec]:
    """Return parts from a mapping of names to models, parts or their plain values."""
    if not isinstance(given, Mapping) or not 1 <= len(given) <= MAX_PARTS:
        raise ValueError(
            f"parts={short_repr(given)} was given; it maps 1 to {MAX_PARTS:,} names to models"
        )
    return {_check_name(name): _as_part(name, part) for name, part in given.items()}


def _as_part(name: str, given: Any) -> PartSpec:
    if isinstance(given, PartSpec):
        return given
    try:
        if isinstance(given, Mapping):
            return PartSpec(**given)
        if not isinstance(given, str | Model):
            raise no_model(given)
        return PartSpec(model=given)
    except (TypeError, ValueError, UsageError) as fault:
        raise ValueError(f"part {name}: {fault}") from None


#: A process function of the common world and the group.
Link = Callable[[World, Group], Process]

#: The names of the links that code of this process has given, so that its own records need no
#: trust. Not the names of modules, because a record may name any function of an imported module.
_GIVEN: set[str] = set()


@frozen
class LinkSpec:
    """A link between parts: `module:function`, for one of a record imported when it begins."""

    function: str
    _loaded: Link | None = field(default=None, init=False, eq=False, repr=False)

    @classmethod
    def of(cls, given: "LinkSpec | Link | str") -> "LinkSpec":
        """Return the link of a function or of its name, which is loaded."""
        if isinstance(given, LinkSpec):
            return given
        if not isinstance(given, str) and not hasattr(given, "__qualname__"):
            raise TypeError(
                f"{short_repr(given)} was given as a link; give a function or module:function"
            )
        name = given if isinstance(given, str) else spec_name(given)
        link = cls(name)
        # Kept, so that a function that cannot be found by name, such as an inner one, can be used.
        object.__setattr__(link, "_loaded", link.load() if isinstance(given, str) else given)
        _GIVEN.add(name)
        return link

    @property
    def is_given(self) -> bool:
        """Whether code of this process has named the function, not only a record."""
        return self.function in _GIVEN

    def start(self, world: World, group: Group) -> Process:
        """Return the link's process, which adds its name and the date to an exception."""
        return self._noted(self.load(), world, group)

    def _noted(self, link: Link, world: World, group: Group) -> Process:
        with Noted(lambda: f"in link {self.function!r} on {group.clock.moment(world.now)}"):
            yield from link(world, group)

    def load(self) -> Link:
        """Return the function, which is a generator function."""
        link: Link = self._loaded or load(self.function, "link")
        if not inspect.isgeneratorfunction(link):
            raise UsageError(f"link {self.function!r} is no process: it has no yield")
        return link


def as_links(given: Any) -> tuple[LinkSpec, ...]:
    """Convert functions, names and links, or one of these, to links."""
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return tuple(map(LinkSpec.of, given if several else (given,)))
