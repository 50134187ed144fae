"""Frozen classes to tagged objects, back again, and to JSON Schema, by way of their wire types."""

import re
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any

import attrs
import msgspec

from desim.errors import SchemaError, WrongAction, possible, sentence
from desim.schema.convert import (
    check_finite,
    from_struct,
    has_exact,
    native,
    plain_scalar,
    scalar_fields,
    to_struct,
    writer,
)
from desim.schema.wire_types import TAG, members, tag, union_of, wire_kind, wire_type
from desim.short_repr import short_repr

_encode = msgspec.json.Encoder(enc_hook=plain_scalar).encode

#: Bytes of JSON that an action may have; the fields of most actions have narrower limits.
MOST_BYTES = 1_000_000

#: Errors of msgspec and validators for a value that does not fit or is nested too deeply.
_FAULTS = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)


class Codec:
    """The compiled schema of a role's actions, of one or several frozen classes.

    Raises:
        SchemaError: One of them is not an attrs class, or two share a tag.
    """

    def __init__(self, action: type | UnionType) -> None:
        self.classes: dict[str, type] = {}
        for cls in members(action):
            if not attrs.has(cls):
                raise SchemaError(
                    f"{short_repr(cls)} is not a frozen attrs class, so it cannot be an action"
                )
            if self.classes.setdefault(tag(cls), cls) is not cls:
                raise SchemaError(f"two classes of one role share the tag {tag(cls)!r}")
        classes = self.classes.values()
        self.wire_type = union_of(wire_type(cls, tagged=True) for cls in classes)
        self._decode = msgspec.json.Decoder(self.wire_type).decode
        self._writers = {cls: (writer(cls), scalar_fields(cls)) for cls in classes}

    def take(self, action: Any) -> tuple[Any, bytes]:
        """Return an action, given as instance or tagged object, as a replay reads it, and its JSON.

        Raises:
            WrongAction: The action does not fit; the text states it and the expected form.
        """
        if type(action) not in self._writers:
            if not isinstance(action, Mapping):
                raise WrongAction(f"{short_repr(action)}; {self.expected()}")
            action = self.read(action)
        try:
            write, scalars = self._writers[type(action)]
            wire = write(action)
            # msgspec writes nan and infinity as null, which an optional number would accept.
            if b"null" in wire:
                check_finite(action)
            # Decoding is the check, also of an instance: its types may never have been checked.
            read = self._decode(wire)
            if not has_exact(action, scalars):
                action = from_struct(read)
        except _FAULTS as fault:
            raise self._wrong(action, sentence(fault)) from None
        if len(wire) > MOST_BYTES:
            why = f"{len(wire):,} bytes; the limit is {MOST_BYTES:,}"
            raise WrongAction(f"{short_repr(action)}: {why}", why)
        return action, wire

    def read(self, given: Any) -> Any:
        """Return the action of a tagged object, a mapping or JSON; `WrongAction` as in `take`."""
        try:
            wire = given if isinstance(given, bytes | str) else _encode(given)
            if b"null" in wire if isinstance(wire, bytes) else "null" in wire:
                check_finite(given)
            return from_struct(self._decode(wire))
        except _FAULTS as fault:
            why = sentence(fault)
            if unknown := re.search(r"Invalid value '(.*?)' - at `\$\.do`", str(fault)):
                why += f"; {possible(unknown[1], self.classes)}"
            raise self._wrong(given, why) from None

    def _wrong(self, given: Any, why: str) -> WrongAction:
        return WrongAction(f"{short_repr(given)}: {why}; {self.expected()}", why)

    def expected(self) -> str:
        """Return the end of an error text: the names of the classes."""
        *others, last = [cls.__name__ for cls in self.classes.values()]
        return f"expected {', '.join(others)} or {last}" if others else f"expected {last}"

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the tagged objects."""
        return msgspec.json.schema(self.wire_type)


@cache
def codec(action: type | UnionType) -> Codec:
    """Return the codec of a class or union, made once."""
    return Codec(action)


def json_schema(cls: Any) -> dict[str, Any]:
    """Return the JSON Schema of a frozen class as it is written untagged (an observation)."""
    return msgspec.json.schema(wire_kind(cls))


def to_plain(value: Any) -> Any:
    """Convert a frozen class, or a container of plain values, to the JSON values of a record."""
    return msgspec.json.decode(encode(value))


def encode(value: Any) -> bytes:
    """Return a frozen class, or a container of plain values, as JSON."""
    cls: Any = type(value)
    return _encode(value if native(cls) else to_struct(value))


def encode_tagged(value: Any) -> bytes:
    """Return an instance of a frozen class as JSON, with its tag; a plain value as it is."""
    cls: Any = type(value)
    return _encode(to_struct(value, tagged=frozenset((cls,))) if attrs.has(cls) else value)


def tagged(action: Any) -> bytes:
    """Return an action, an instance or already a tagged object, as a tagged object in JSON."""
    cls: Any = type(action)
    return writer(cls)(action) if attrs.has(cls) else _encode(action)


def tagged_object(action: Any) -> dict[str, Any]:
    """Return the same as plain values."""
    return msgspec.json.decode(tagged(action), type=dict[str, Any])


def from_plain(value: Any, cls: Any, path: str = "$") -> Any:
    """Convert plain JSON values to a frozen class or to any type that msgspec supports.

    Raises:
        SchemaError: The value does not fit; the text holds the place of the fault, from *path* on.
    """
    try:
        check_finite(value)
        return from_struct(msgspec.convert(value, wire_kind(cls)))
    except _FAULTS as fault:
        text = sentence(fault).replace("`$", f"`{path}") + _near_miss(sentence(fault), cls)
        # msgspec omits the path where the whole value is at fault.
        raise SchemaError(text if " - at `" in text else f"{text} - at `{path}`") from None


def _near_miss(text: str, cls: Any) -> str:
    """Return the end of the text for an unknown field of the whole, such as one renamed since."""
    unknown = re.match(r"Object contains unknown field `(.*?)`(?! - at `\$\.)", text)
    if unknown is None or not attrs.has(cls):
        return ""
    return f"; {possible(unknown[1], [f.alias for f in attrs.fields(cls) if f.init])}"


# -- observations ----------------------------------------------------------------------------------


def has_tags(kind: Any) -> bool:
    """Return whether observations of a class, or of a union of classes, are written with a tag."""
    return len(members(kind)) > 1


def encode_observation(observation: Any, kind: Any) -> bytes:
    """Return an observation of a role as JSON, with its tag where the role has several classes."""
    return encode_tagged(observation) if has_tags(kind) else encode(observation)


def plain_observation(observation: Any, kind: Any) -> Any:
    """Return an observation of a role as the JSON values of a record."""
    return msgspec.json.decode(encode_observation(observation, kind))


def check_observation(observation: Any, cls: type | UnionType) -> None:
    """Check an observation and its fields, or raise a `SchemaError`; `type_check` is faster."""
    if not isinstance(observation, cls):
        names = " or ".join(each.__name__ for each in members(cls))
        raise SchemaError(f"{short_repr(observation)} is not of class {names}")
    try:
        plain = plain_observation(observation, cls)
    except _FAULTS as fault:
        raise SchemaError(sentence(fault)) from None
    from_plain(plain, cls)


def class_of(observation: Any, kind: Any) -> Any:
    """Return the class of an observation, an instance or plain; *kind* if none of a union fits."""
    if not has_tags(kind):
        return kind
    if isinstance(observation, Mapping):
        named = observation.get(TAG)
        return next((cls for cls in members(kind) if tag(cls) == named), kind)
    return type(observation) if attrs.has(type(observation)) else kind
