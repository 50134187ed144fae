"""A model whose parameters are the parts: each part is a field that holds a model, or None."""

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from attrs import evolve

from desim.catalog import from_preset
from desim.composition.group import Group, Member
from desim.composition.parts_model import PartsModel
from desim.core.protocols import Model
from desim.core.world import World

__all__ = ["FixedParts"]


class FixedParts(PartsModel):
    """A base class for a frozen class with a field for each part.

    Attributes:
        worlds: The name of the model of each part in the catalog, by the field, in the order of the
            parts at equal times; the subclass defines it.
    """

    worlds: ClassVar[Mapping[str, str]]

    @classmethod
    def preset(cls, name: str = "", **changes: Any) -> Self:
        """Return a preset, the first one if *name* is empty, with some parameters changed."""
        return from_preset(cls, name, changes)

    @property
    def models(self) -> dict[str, Model[Any]]:
        """The models of the parts that are not None, by name."""
        every = {name: getattr(self, name) for name in self.worlds}
        return {name: model for name, model in every.items() if model is not None}

    def with_models(self, models: Mapping[str, Any]) -> Self:
        """Return the model with other parameters in some parts."""
        frozen: Any = self  # the subclass is an attrs class
        changed: Self = evolve(frozen, **models)
        return changed

    @classmethod
    def inner_models(
        cls, params: Mapping[str, Any]
    ) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yield name, world and plain parameters of the parts from plain, unchecked parameters."""
        inside = ((name, world, params.get(name)) for name, world in cls.worlds.items())
        return ((name, world, one) for name, world, one in inside if isinstance(one, Mapping))

    def begin_group(self, world: World) -> Group:
        """Begin the parts."""
        members = {name: Member(model) for name, model in self.models.items()}
        return Group(world, members, dt.datetime.fromisoformat(self.start))
