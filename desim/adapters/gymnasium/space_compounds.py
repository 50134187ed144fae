"""Values made of values as Gymnasium spaces: lists, objects, unions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from desim.adapters.gymnasium.space_parts import Part, index_of
from desim.errors import SchemaError, UsageError
from desim.short_repr import short_repr


class Entries(Part):
    """A list: the most entries that it may have, and a mask of the present ones."""

    def __init__(self, item: Part, most: int, fewest: int = 0, *, fit: bool) -> None:
        self.item, self.most, self.fewest, self.fit = item, most, fewest, fit
        self.space = spaces.Dict(
            {
                "mask": spaces.MultiBinary(most),
                "entries": spaces.Tuple([item.space] * most),
            }
        )
        self.columns = [(0.0, 1.0)] * most + item.columns * most

    def encode(self, value: Any) -> dict[str, Any]:
        return self._filled([self.item.encode(each) for each in self._cut(value)])

    def decode(self, member: Any) -> list[Any]:
        # Required entries of a list are taken regardless of the mask.
        mask = member["mask"]
        return [
            self.item.decode(each)
            for number, each in enumerate(member["entries"])
            if number < self.fewest or mask[number]
        ]

    def blank(self) -> dict[str, Any]:
        return self._filled([])

    def numbers(self, value: Any) -> list[float]:
        known = self._cut(value)
        rest = self.most - len(known)
        each = [number for entry in known for number in self.item.numbers(entry)]
        none = [0.0] * (rest * len(self.item.columns))
        return [1.0] * len(known) + [0.0] * rest + each + none

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list)

    def _cut(self, value: Sequence[Any]) -> Sequence[Any]:
        if len(value) > self.most and not self.fit:
            raise UsageError(
                f"{len(value):,} entries were given; the space holds {self.most:,}: give more "
                "`max_entries`, or the tagged object itself"
            )
        return value[: self.most]

    def _filled(self, members: list[Any]) -> dict[str, Any]:
        mask = np.zeros(self.most, dtype=np.int8)
        mask[: len(members)] = 1
        rest = (self.item.blank() for _ in range(self.most - len(members)))
        return {"mask": mask, "entries": (*members, *rest)}


class Fields(Part):
    """An object: a `Dict` with one entry for each field."""

    def __init__(self, parts: Mapping[str, Part]) -> None:
        self.parts = dict(parts)
        self.space = spaces.Dict({name: part.space for name, part in parts.items()})
        self.columns = [bounds for part in parts.values() for bounds in part.columns]

    def encode(self, value: Any) -> dict[str, Any]:
        return {name: part.encode(value[name]) for name, part in self.parts.items()}

    def decode(self, member: Any) -> dict[str, Any]:
        return {name: part.decode(member[name]) for name, part in self.parts.items()}

    def blank(self) -> dict[str, Any]:
        return {name: part.blank() for name, part in self.parts.items()}

    def numbers(self, value: Any) -> list[float]:
        return [n for name, part in self.parts.items() for n in part.numbers(value[name])]

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, dict) or value.keys() != self.parts.keys():
            return False
        kind = self.parts.get("do")
        return kind is None or kind.accepts(value["do"])


class Either(Part):
    """A value of one of several kinds: the number of its kind, and an entry for each kind.

    Args:
        parts: By name; None stands for null, which has no entry.
    """

    def __init__(self, parts: Mapping[str, Part | None]) -> None:
        self.kinds = list(parts.items())
        self.parts = {name: part for name, part in self.kinds if part is not None}
        entries = {name: part.space for name, part in self.parts.items()}
        self.space = spaces.Dict({"kind": spaces.Discrete(len(self.kinds)), **entries})
        self.columns = [(0.0, 1.0)] * len(self.kinds)
        self.columns += [_with_zero(each) for part in self.parts.values() for each in part.columns]

    def encode(self, value: Any) -> dict[str, Any]:
        number, part = self._kind_of(value)
        return {
            "kind": np.int64(number),
            **{
                name: each.encode(value) if each is part else each.blank()
                for name, each in self.parts.items()
            },
        }

    def decode(self, member: Any) -> Any:
        name, part = self.kinds[index_of(member["kind"], len(self.kinds))]
        return None if part is None else part.decode(member[name])

    def blank(self) -> dict[str, Any]:
        blanks = {name: part.blank() for name, part in self.parts.items()}
        return {"kind": np.int64(0), **blanks}

    def numbers(self, value: Any) -> list[float]:
        number, part = self._kind_of(value)
        found = [float(number == each) for each in range(len(self.kinds))]
        for each in self.parts.values():
            found += each.numbers(value) if each is part else [0.0] * len(each.columns)
        return found

    def accepts(self, value: Any) -> bool:
        return any(value is None if p is None else p.accepts(value) for _, p in self.kinds)

    def _kind_of(self, value: Any) -> tuple[int, Part | None]:
        for number, (_, part) in enumerate(self.kinds):
            if value is None if part is None else part.accepts(value):
                return number, part
        raise SchemaError(f"{short_repr(value)} is of no kind of the space")


def _with_zero(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return bounds that hold 0, which stands for no value."""
    return min(bounds[0], 0.0), max(bounds[1], 0.0)
