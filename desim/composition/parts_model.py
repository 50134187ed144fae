"""What every model that is made of parts offers alike."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, ClassVar

from desim.composition.joined import joined_roles
from desim.core.calendar import Calendar
from desim.core.parts import part_seed
from desim.core.protocols import Model, default_roles, is_deterministic
from desim.core.roles import Role

__all__ = ["PartsModel"]


class PartsModel:
    """A base class with the members that follow from the parts.

    Attributes:
        models: The models of the parts by name; the subclass defines it.
        start: The date of common tick 0, ISO; the subclass defines it.
        own_roles: Roles beside those of the parts, listed before them.
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
        """Microseconds from the start."""
        return Calendar(dt.datetime.fromisoformat(self.start))

    def date(self, tick: int) -> dt.date:
        """Return the day of a common tick."""
        return self.calendar.moment(tick).date()

    def seed_of(self, part: str, seed: int) -> int:
        """Return the seed with which a part is played first."""
        return part_seed(seed, part)
