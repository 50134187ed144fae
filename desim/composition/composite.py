"""Several models as one: parts on a common clock, and links between them."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from attrs import evolve, field, frozen

from desim.composition.group import Group
from desim.composition.parts_model import PartsModel
from desim.composition.specs import LinkSpec, PartSpec, as_links, as_parts, check_date
from desim.core.model import Model
from desim.core.world import World
from desim.errors import possible


@frozen(slots=False)
class Composite(PartsModel):
    """Several models on one common clock, whose ticks are microseconds.

    A part without links has the ledgers, score and metrics that it has alone with the seed
    `part_seed(seed, name)`.

    Attributes:
        parts: By name: a model, its name in the catalog, a `PartSpec`, or its plain values. Their
            order is the order of the parts at equal times.
        links: Process functions of the common world and the `Group`, or `module:function`. The
            ranks of their events are from `AFTER_PARTS` on.
        start: The date from which on the parts begin, ISO. A part of months begins with the next
            month, one that opens at nine at nine.
        ends: When the episode ends: "all" or "any" of the parts have ended, or names of parts
            separated by commas.
    """

    parts: Mapping[str, PartSpec] = field(converter=as_parts)
    links: tuple[LinkSpec, ...] = field(default=(), converter=as_links, kw_only=True)
    start: str = field(default="2025-01-01", validator=check_date, kw_only=True)
    ends: str = field(default="all", kw_only=True)

    def __attrs_post_init__(self) -> None:
        for name in () if self.ends in ("all", "any") else str(self.ends).split(","):
            if name not in self.parts:
                known = possible(name, ("all", "any", *self.parts))
                raise ValueError(
                    f"ends={self.ends} was given, and there is no part {name!r}; {known}"
                )

    @property
    def models(self) -> dict[str, Model[Any]]:
        return {name: part.built for name, part in self.parts.items()}

    def with_models(self, models: Mapping[str, Model[Any]]) -> Self:
        new = {name: evolve(self.parts[name], model=model) for name, model in models.items()}
        return evolve(self, parts={**self.parts, **new})

    @classmethod
    def inner_models(
        cls, params: Mapping[str, Any]
    ) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        parts = params.get("parts")
        for name, part in parts.items() if isinstance(parts, Mapping) else ():
            plain = part if isinstance(part, Mapping) else {"model": part}
            inside = plain.get("params")
            model = str(plain.get("model", "")).partition("/")[0]
            yield str(name), model, inside if isinstance(inside, Mapping) else {}

    @classmethod
    def functions(cls, params: Mapping[str, Any]) -> list[str]:
        """Return the names of links that only a record has given, from unchecked parameters."""
        links = params.get("links")
        given = links if isinstance(links, Sequence) and not isinstance(links, str) else [links]
        names = [link.get("function") if isinstance(link, Mapping) else link for link in given]
        return [str(name) for name in names if name and not LinkSpec(str(name)).is_given]

    def begin(self, world: World) -> Group:
        date = dt.datetime.fromisoformat
        parts = self.parts.items()
        group = Group(
            world,
            self.models,
            date(self.start),
            starts={name: date(part.start) for name, part in parts if part.start},
            times={name: part.times for name, part in parts},
            ends=self.ends,
        )
        for link in self.links:
            world.process(link.start(world, group))
        return group

    def score(self, state: Group) -> float:
        return sum(self.parts[name].weight * score for name, score in state.scores().items())
