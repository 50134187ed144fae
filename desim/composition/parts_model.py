"""Base classes of models that are made of parts.

`PartsModel` has the members that follow from the parts. `FixedParts` is for a model with a field
for each part, which holds a model or None.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from attrs import evolve

from desim.catalog.presets import Presets
from desim.composition.group import Group, Member
from desim.composition.joined import joined_roles
from desim.composition.parts import part_seed
from desim.core.calendar import Calendar
from desim.core.model_protocols import Model, default_roles, is_deterministic
from desim.core.roles import Role
from desim.core.world import World


class PartsModel:
    """A base class with the members that follow from the parts.

    Attributes:
        models: The models of the parts by name; the subclass defines it.
        start: The date of common tick 0, ISO; the subclass defines it.
        own_roles: The model's own roles, listed before those of the parts.
    """

    start: str
    own_roles: ClassVar[Mapping[str, Role]] = {}

    @property
    def models(self) -> dict[str, Model[Any]]:
        """The models of the parts by name."""
        raise NotImplementedError

    @property
    def roles(self) -> dict[str, Role]:
        """The model's own roles, and those of the parts, each under the part's name."""
        return {**self.own_roles, **joined_roles(self.models)}

    @property
    def default_roles(self) -> tuple[str, ...]:
        """The model's own roles, and the default roles of the parts."""
        inside = (f"{name}.{r}" for name, one in self.models.items() for r in default_roles(one))
        return (*self.own_roles, *inside)

    @property
    def deterministic(self) -> bool:
        """Whether all parts are deterministic."""
        return all(map(is_deterministic, self.models.values()))

    @property
    def calendar(self) -> Calendar:
        """A calendar whose ticks are microseconds from the start."""
        return Calendar(dt.datetime.fromisoformat(self.start))

    def date(self, tick: int) -> dt.date:
        """Return the day of a common tick."""
        return self.calendar.moment(tick).date()

    def seed_of(self, part: str, seed: int) -> int:
        """Return the seed of a part's first play."""
        return part_seed(seed, part)


class FixedParts(PartsModel, Presets):
    """A base class for a frozen class with a field for each part.

    Attributes:
        worlds: The name of the model of each part in the catalog, by the field, in the order of the
            parts at equal times; the subclass defines it.
    """

    worlds: ClassVar[Mapping[str, str]]

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
