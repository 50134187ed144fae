"""The Gymnasium spaces of a role's actions and observations, by their JSON Schema.

`spaces` has the space of each kind of field. All of them have a fixed shape, so that `flatten`,
vector environments and masks of common libraries can take them; `Sequence` and `OneOf` cannot be
flattened, or lose whole numbers above 2**53.

A number of an action has the usual range of its `Column` as bounds, if it declares one. Any other
number without bounds of its own has +-2**62, or +-1e300. A text has `max_text` characters and a
list `max_entries` entries, or fewer where its class says so.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from types import UnionType
from typing import Any, Self

import attrs
import numpy as np
from attrs import field, frozen
from attrs.validators import ge, in_, le
from gymnasium.spaces import Box

from desim.adapters.seat import spaces
from desim.core.roles import Role
from desim.errors import UsageError, WrongAction, sentence
from desim.schema import TAG, codec, json_schema, plain_observation
from desim.schema.codecs import tagged_object
from desim.schema.validators import LONGEST_NAME, LONGEST_TEXT, whole
from desim.schema.wire_types import members
from desim.short_repr import short_repr
from desim.show.column import Column

Schema = Mapping[str, Any]
ColumnsByName = Mapping[str, Column]

#: Bounds of numbers that have none; 64 bits hold the first, and sums of several of the second.
_LARGEST_WHOLE, _LARGEST_REAL = 2**62, 1e300

_MOST_ENTRIES = 1_000

#: Bounds of numbers of actions: the usual ranges of their fields, or those of the schema alone.
USUAL, SCHEMA = "usual", "schema"

#: The forms of a caller's actions: all fields of an action, or the number of an offered option.
FIELDS, OPTIONS = "fields", "options"

#: A number without a usual range.
_WIDE = Column()
_NO_COLUMNS: ColumnsByName = {}


@frozen(kw_only=True)
class SeatForm:
    """The form of a seat's observations and actions.

    Attributes:
        action: "fields": the action space holds the actions of the role. "options": it is
            `Discrete(max_options)`, a number among the options that the role offers at a decision.
        flat: Whether observations are one `Box` of their numbers, without texts.
        max_options: Options that can be chosen, the first ones, 1 to 10,000.
        bounds: Bounds of the numbers of actions: "usual", the usual ranges that the world declares,
            or "schema", every number that the role takes.
        max_text: Characters of a text without a smaller limit of its own, 1 to 100,000.
        max_entries: Entries of a list without a smaller limit of its own, 1 to 1,000.
    """

    action: str = field(default=FIELDS, validator=in_((FIELDS, OPTIONS)))
    flat: bool = field(default=False, converter=bool)
    max_options: int = field(default=32, validator=[whole, ge(1), le(10_000)])
    bounds: str = field(default=USUAL, validator=in_((USUAL, SCHEMA)))
    max_text: int = field(default=1_000, validator=[whole, ge(1), le(LONGEST_TEXT)])
    max_entries: int = field(default=16, validator=[whole, ge(1), le(_MOST_ENTRIES)])

    @classmethod
    def taken(cls, options: dict[str, Any]) -> Self:
        """Return the form that options state, and remove them from the options.

        Raises:
            UsageError: A value is not one of those possible.
        """
        names = [each.name for each in attrs.fields(cls) if each.name in options]
        try:
            return cls(**{name: options.pop(name) for name in names})
        except (ValueError, TypeError) as fault:
            raise UsageError(f"{fault.args[0]}") from None


class ActionSpace:
    """The actions of a role: `do`, the number of the class, and an entry for each with fields.

    `Dict(do=Discrete(n), order=Dict(quantity=...), ...)`: only the entry of the class that `do`
    names counts.

    With `bounds="usual"` the usual ranges of the role's columns bound the numbers. An action with a
    number outside them has no member; it can be given as a tagged object.

    Attributes:
        space: The Gymnasium space.
    """

    def __init__(self, role: Role, form: SeatForm) -> None:
        self._codec = codec(role.action)
        schema = self._codec.json_schema()
        builder = _Builder(schema.get("$defs", {}), form, observed=False)
        kinds: dict[str, Any] = {}
        for name, cls in self._codec.classes.items():
            columns = role.columns_of(name) if form.bounds == USUAL else {}
            fields = builder.fields(builder.defs[cls.__name__], columns)
            fields.pop(TAG)
            kinds[name] = spaces.Fields(fields) if fields else None
        self.space = spaces.Either(kinds, TAG)

    def encode(self, action: Any) -> dict[str, Any]:
        """Return the member of the space for an action, an instance or its tagged object.

        Raises:
            WrongAction: The action does not fit the schema.
            UsageError: The space does not hold a number, a text or a list of it.
        """
        taken = self._codec.take(action)[0]
        plain = tagged_object(taken)
        member = spaces.encode_kind(self.space, plain[TAG], plain)
        if self.decode(member) != plain:
            raise UsageError(
                f"{short_repr(plain)} was given, which the action space does not hold: give "
                '`bounds="schema"`, more `max_text` or `max_entries`, or the tagged object itself'
            )
        return member

    def decode(self, member: Any) -> dict[str, Any]:
        """Return the tagged object of a member of the space.

        Raises:
            WrongAction: The value is not a member. The bounds of values are not checked here, but
                in the check of the tagged object.
        """
        try:
            name, fields = spaces.decode_kind(self.space, member)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as fault:
            raise WrongAction(
                f"{short_repr(member)} is not in the action space: {sentence(fault)}; "
                f"{self._codec.expected()}"
            ) from None
        return {TAG: name, **(fields or {})}

    def mask(self, possible: Collection[str]) -> dict[str, Any]:
        """Return the mask with which `space.sample` draws one of some actions, given by tag."""
        allowed = [name in possible for name in self.space.names]
        return {**dict.fromkeys(self.space.parts), TAG: np.array(allowed, dtype=np.int8)}


class ObservationSpace:
    """The observations of a role as a `Dict`, or as the numbers in them alone.

    Args:
        kind: The frozen class, or a union of them.
        form: Limits of texts and lists, beyond which they are cut, and whether the space is one
            `Box` of float64, whose numbers `spaces.columns` describes.

    Attributes:
        space: The Gymnasium space.
        part: The space of the whole observation.

    Raises:
        UsageError: A flat observation would have no number.
    """

    def __init__(self, kind: type | UnionType, form: SeatForm) -> None:
        schema = json_schema(kind)
        self.part = _Builder(schema.get("$defs", {}), form, observed=True).part(schema)
        self._kind, self.flat = kind, form.flat
        self.space = self._box() if form.flat else self.part

    def encode(self, observation: Any) -> Any:
        """Return a new member of the space for an observation."""
        plain = plain_observation(observation, self._kind)
        if self.flat:
            return np.array(spaces.numbers(self.part, plain), dtype=np.float64)
        return spaces.encode(self.part, plain)

    def blank(self) -> Any:
        """Return a new member of the space that stands for no observation."""
        if self.flat:
            return np.clip(0.0, self.space.low, self.space.high)
        return spaces.blank(self.part)

    def _box(self) -> Any:
        columns = spaces.columns(self.part)
        if not columns:
            names = " | ".join(each.__name__ for each in members(self._kind))
            raise UsageError(f"{names} holds no number, so it has no flat observation")
        low, high = np.array(columns).T
        return Box(low, high, dtype=np.float64)


class _Builder:
    """Makes the spaces of a JSON Schema."""

    def __init__(self, defs: Mapping[str, Schema], limits: SeatForm, *, observed: bool) -> None:
        self.defs, self._limits, self._observed = defs, limits, observed

    def part(  # noqa: PLR0911 (one line a kind)
        self, schema: Schema, longest: int = LONGEST_TEXT, column: Column = _WIDE
    ) -> Any:
        """Return the space of a schema.

        Args:
            schema: The schema.
            longest: Limits texts that have no limit of their own.
            column: The description, whose usual range bounds a number.
        """
        if "$ref" in schema:
            return self.part(self.defs[_name(schema)])
        if "enum" in schema:
            return spaces.Enumeration(schema["enum"])
        if "anyOf" in schema:
            return self._union(schema["anyOf"], column)
        match schema.get("type"):
            case "integer":
                return spaces.whole_number(*_usual(column, *_whole_bounds(schema)))
            case "number":
                low, high = _usual(column, *_real_bounds(schema))
                return spaces.Number(float(low), float(high), np.float64)
            case "boolean":
                return spaces.Enumeration((False, True))
            case "string" if "format" not in schema:
                most = min(schema.get("maxLength", longest), self._limits.max_text)
                fewest = min(schema.get("minLength", 0), most)
                return spaces.text(most, fewest, schema.get("pattern", ""))
            case "array" if "items" in schema and "prefixItems" not in schema:
                return self._entries(schema)
            case "object" if schema.get("properties"):
                return spaces.Fields(self.fields(schema))
        return spaces.Json(self._limits.max_text, min_length=0, charset=spaces.CHARSET)

    def fields(self, schema: Schema, columns: ColumnsByName = _NO_COLUMNS) -> dict[str, Any]:
        """Return the spaces of an object's fields by name."""
        return {
            name: self.part(each, column=columns.get(name, _WIDE))
            for name, each in schema["properties"].items()
        }

    def _entries(self, schema: Schema) -> Any:
        fewest = schema.get("minItems", 0)
        most = max(1, fewest, min(schema.get("maxItems", _MOST_ENTRIES), self._limits.max_entries))
        # JSON Schema does not show attrs' deep_iterable, under which texts of lists are names.
        item = self.part(schema["items"], LONGEST_TEXT if self._observed else LONGEST_NAME)
        return spaces.Entries(item, most, fewest)

    def _union(self, members: Sequence[Schema], column: Column) -> Any:
        kinds = {each.get("type") for each in members}
        if self._observed and kinds == {"integer", "number"}:
            return self.part({"type": "number"})
        parts: dict[str, Any] = {}
        # None first, so that kind 0 stands for no value.
        for each in sorted(members, key=lambda one: one.get("type") != "null"):
            name = _name(each) if "$ref" in each else str(each.get("type", "choice"))
            key = name if name not in parts else f"{name}_{len(parts)}"
            parts[key] = None if name == "null" else self.part(each, column=column)
        return spaces.Either(parts)


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
