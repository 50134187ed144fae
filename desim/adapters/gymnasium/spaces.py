"""Gymnasium spaces of frozen classes, by their JSON Schema.

| a field | its space |
|---|---|
| int | `Discrete` for at most 256 values, else `Box` of int64 without dimensions |
| float; `int` or `float` of an observation | `Box` of float64 without dimensions |
| bool, `Literal`, attrs' `in_` | `Discrete` |
| str | `Text` of the characters `CHARSET` |
| a list or tuple of one kind | `Dict`: `entries`, a `Tuple` of fixed length, and their `mask` |
| a frozen class | `Dict` of its fields |
| a union, also with None | `Dict`: `kind`, and an entry for each member but None |
| anything else, such as a mapping | `Text` with JSON |

All of them have a fixed shape, so that `flatten`, vector environments and masks of common libraries
can take them; `Sequence` and `OneOf` cannot be flattened, or lose whole numbers above 2**53.

A number of an action has the usual range of its `Column` as bounds, if it declares one. Any other
number without bounds of its own has +-2**62, or +-1e300. A text has `max_text` characters and a
list `max_entries` entries, or fewer where its class says so.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from types import UnionType
from typing import Any

import numpy as np
from attrs import field, frozen
from attrs.validators import ge, le
from gymnasium import spaces

from desim.adapters.gymnasium.space_parts import (
    Either,
    Entries,
    Enumeration,
    Fields,
    Flag,
    Json,
    Real,
    SpacePart,
    Whole,
    Words,
)
from desim.errors import UsageError, WrongAction, sentence
from desim.schema import TAG, Codec, json_schema, plain_observation, to_plain
from desim.schema.validators import LONGEST_NAME, LONGEST_TEXT, whole
from desim.schema.wire_types import members
from desim.short_repr import short_repr
from desim.show.column import Column

Schema = Mapping[str, Any]
ColumnsByName = Mapping[str, Column]

#: Bounds of numbers that have none; 64 bits hold the first, and sums of several of the second.
_LARGEST_WHOLE, _LARGEST_REAL = 2**62, 1e300

_MOST_ENTRIES = 1_000

#: A number without a usual range.
_WIDE = Column()
_NO_COLUMNS: ColumnsByName = {}


@frozen
class SpaceLimits:
    """Limits of texts and lists that have no smaller limit of their own.

    Attributes:
        max_text: Characters of a text, 1 to 100,000.
        max_entries: Entries of a list, 1 to 1,000.
    """

    max_text: int = field(default=1_000, validator=[whole, ge(1), le(LONGEST_TEXT)])
    max_entries: int = field(default=16, validator=[whole, ge(1), le(_MOST_ENTRIES)])


class ActionSpace:
    """The actions of a role: `do`, the number of the class, and an entry for each with fields.

    `Dict(do=Discrete(n), order=Dict(quantity=...), ...)`: only the entry of the class that `do`
    names counts.

    Args:
        codec: The role's actions.
        limits: Limits of texts and lists.
        columns: By tag the columns of fields, whose usual ranges become bounds of numbers. An
            action with a number outside them has no member; it can be given as a tagged object.

    Attributes:
        space: The Gymnasium space.
        parts: The parts of the classes that have fields, by tag.
    """

    def __init__(
        self, codec: Codec, limits: SpaceLimits, columns: Mapping[str, ColumnsByName] = {}
    ) -> None:
        self._codec = codec
        schema = codec.json_schema()
        builder = _Builder(schema.get("$defs", {}), limits, fit=False)
        self._do = Enumeration(tuple(codec.classes))
        self.parts: dict[str, Fields] = {}
        for name, cls in codec.classes.items():
            fields = builder.fields(builder.defs[cls.__name__], columns.get(name, {}))
            fields.pop(TAG)
            if fields:
                self.parts[name] = Fields(fields)
        entries = {name: part.space for name, part in self.parts.items()}
        self.space = spaces.Dict({TAG: self._do.space, **entries})

    def encode(self, action: Any) -> dict[str, Any]:
        """Return the member of the space for an action, an instance or its tagged object.

        Raises:
            WrongAction: The action does not fit the schema.
            UsageError: The space does not hold it; a text is too long, for example.
        """
        plain = to_plain(self._codec.take(action)[0])
        name = action[TAG] if isinstance(action, Mapping) else self._name_of(type(action))
        given = self.parts.get(name)
        return {
            TAG: self._do.encode(name),
            **{
                each: part.encode(plain) if part is given else part.blank()
                for each, part in self.parts.items()
            },
        }

    def decode(self, member: Any) -> dict[str, Any]:
        """Return the tagged object of a member of the space.

        Raises:
            WrongAction: The value is not a member. The bounds of values are not checked here, but
                in the check of the tagged object.
        """
        try:
            name = self._do.decode(member[TAG])
            part = self.parts.get(name)
            return {TAG: name, **(part.decode(member[name]) if part else {})}
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as fault:
            raise WrongAction(
                f"{short_repr(member)} is not in the action space: {sentence(fault)}; "
                f"{self._codec.expected()}"
            ) from None

    def mask(self, possible: Collection[str]) -> dict[str, Any]:
        """Return the mask with which `space.sample` draws one of some actions, given by tag."""
        allowed = [name in possible for name in self._codec.classes]
        return {**dict.fromkeys(self.parts), TAG: np.array(allowed, dtype=np.int8)}

    @property
    def tags(self) -> list[str]:
        """The tags of all actions, in the order of `do`."""
        return list(self._codec.classes)

    def _name_of(self, cls: type) -> str:
        return next(name for name, each in self._codec.classes.items() if each is cls)


class ObservationSpace:
    """The observations of a role as a `Dict`, or as the numbers in them alone.

    Args:
        kind: The frozen class, or a union of them.
        limits: Limits of texts and lists; longer ones are cut.
        flat: Whether the space is one `Box` of float64: numbers, truth values and masks as they
            are, enumerations and kinds as one column for each value; texts are left out.
        scaled: As *flat*, with `symlog` of the numbers whose bounds are not within -1 and 1.

    Attributes:
        space: The Gymnasium space.
        part: The part of the observation.
        flat: Whether the space is one `Box`.

    Raises:
        UsageError: A flat observation would have no number.
    """

    def __init__(
        self,
        kind: type | UnionType,
        limits: SpaceLimits,
        *,
        flat: bool = False,
        scaled: bool = False,
    ) -> None:
        schema = json_schema(kind)
        builder = _Builder(schema.get("$defs", {}), limits, fit=True)
        self.part = builder.part(schema)
        self._kind, self.flat, self._scaled = kind, flat or scaled, scaled
        bounds = np.array(self.part.columns).T
        self._wide = np.any(np.abs(bounds) > 1, axis=0)
        self.space = self._box(bounds) if self.flat else self.part.space

    def encode(self, observation: Any) -> Any:
        """Return a new member of the space for an observation."""
        plain = plain_observation(observation, self._kind)
        if self.flat:
            return self.scale(np.array(self.part.numbers(plain), dtype=np.float64))
        return self.part.encode(plain)

    def scale(self, numbers: Any) -> Any:
        """Return a new array of flat observations, whose last axis are their numbers, scaled."""
        return np.where(self._wide, symlog(numbers), numbers) if self._scaled else numbers.copy()

    def blank(self) -> Any:
        """Return a new member of the space that stands for no observation."""
        return np.clip(0.0, self.space.low, self.space.high) if self.flat else self.part.blank()

    def _box(self, bounds: Any) -> Any:
        if not bounds.size:
            names = " | ".join(each.__name__ for each in members(self._kind))
            raise UsageError(f"{names} holds no number, so it has no flat observation")
        low, high = self.scale(bounds)
        return spaces.Box(low, high, dtype=np.float64)


def symlog(numbers: Any) -> Any:
    """Return the sign of each number times the logarithm of 1 plus its size.

    A number near 0 hardly changes, and any is at most 691 in size; `sign(y) * expm1(abs(y))` is the
    number again.
    """
    return np.sign(numbers) * np.log1p(np.abs(numbers))


class _Builder:
    """Makes parts of the JSON Schema of plain values."""

    def __init__(self, defs: Mapping[str, Schema], limits: SpaceLimits, *, fit: bool) -> None:
        self.defs, self.limits, self.fit = defs, limits, fit

    def part(  # noqa: PLR0911 (one line a kind)
        self, schema: Schema, longest: int = LONGEST_TEXT, column: Column = _WIDE
    ) -> SpacePart:
        """Return the part of a schema.

        Args:
            schema: The schema.
            longest: Limits texts that have no limit of their own.
            column: The description, whose usual range bounds a number.
        """
        if "$ref" in schema:
            return self.part(self.defs[_name(schema)])
        if "enum" in schema:
            return Enumeration(schema["enum"])
        if "anyOf" in schema:
            return self._union(schema["anyOf"], column)
        match schema.get("type"):
            case "integer":
                return Whole(*_usual(column, *_whole_bounds(schema)), fit=self.fit)
            case "number":
                low, high = _usual(column, *_real_bounds(schema))
                return Real(float(low), float(high), fit=self.fit)
            case "boolean":
                return Flag()
            case "string" if "format" not in schema:
                most = min(schema.get("maxLength", longest), self.limits.max_text)
                fewest = min(schema.get("minLength", 0), most)
                return Words(most, fewest, schema.get("pattern", ""), fit=self.fit)
            case "array" if "items" in schema and "prefixItems" not in schema:
                return self._entries(schema)
            case "object" if schema.get("properties"):
                return Fields(self.fields(schema))
            case _:
                return Json(self.limits.max_text, fit=self.fit)

    def fields(self, schema: Schema, columns: ColumnsByName = _NO_COLUMNS) -> dict[str, SpacePart]:
        """Return the parts of an object's fields by name."""
        return {
            name: self.part(each, column=columns.get(name, _WIDE))
            for name, each in schema["properties"].items()
        }

    def _entries(self, schema: Schema) -> SpacePart:
        fewest = schema.get("minItems", 0)
        most = max(1, fewest, min(schema.get("maxItems", _MOST_ENTRIES), self.limits.max_entries))
        # JSON Schema does not show attrs' deep_iterable, under which texts of lists are names.
        item = self.part(schema["items"], LONGEST_TEXT if self.fit else LONGEST_NAME)
        return Entries(item, most, fewest, fit=self.fit)

    def _union(self, members: Sequence[Schema], column: Column) -> SpacePart:
        kinds = {each.get("type") for each in members}
        if self.fit and kinds == {"integer", "number"}:
            return self.part({"type": "number"})
        parts: dict[str, SpacePart | None] = {}
        # None first, so that kind 0 stands for no value.
        for each in sorted(members, key=lambda one: one.get("type") != "null"):
            name = _name(each) if "$ref" in each else str(each.get("type", "choice"))
            key = name if name not in parts else f"{name}_{len(parts)}"
            parts[key] = None if name == "null" else self.part(each, column=column)
        return Either(parts)


def _name(schema: Schema) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]


def _usual(column: Column, low: Any, high: Any) -> tuple[Any, Any]:
    """Return bounds within the usual range of a column; the same ones if that leaves nothing."""
    if column.usual is None:
        return low, high
    least, most = (bound / column.scale for bound in column.usual)
    if isinstance(low, int):
        least, most = math.ceil(least), math.floor(most)
    narrow = max(low, least), min(high, most)
    return narrow if narrow[0] <= narrow[1] else (low, high)


def _whole_bounds(schema: Schema) -> tuple[int, int]:
    low = max(schema.get("minimum", -_LARGEST_WHOLE), schema.get("exclusiveMinimum", -math.inf) + 1)
    high = min(schema.get("maximum", _LARGEST_WHOLE), schema.get("exclusiveMaximum", math.inf) - 1)
    return max(int(low), -_LARGEST_WHOLE), min(int(high), _LARGEST_WHOLE)


def _real_bounds(schema: Schema) -> tuple[float, float]:
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if "exclusiveMinimum" in schema:
        low = math.nextafter(schema["exclusiveMinimum"], math.inf)
    if "exclusiveMaximum" in schema:
        high = math.nextafter(schema["exclusiveMaximum"], -math.inf)
    return max(float(low), -_LARGEST_REAL), min(float(high), _LARGEST_REAL)
