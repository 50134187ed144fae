"""Frozen classes to tagged objects, back again, and to JSON Schema.

An action `Order(quantity=12)` is written `{"do": "order", "quantity": 12}`, `do` being the class
name in snake_case. For every frozen class a msgspec struct with the same fields, constraints and
texts is made once; decoding, type checks, refusal of unknown keys and JSON Schema are msgspec's.
"""

import re
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any

import attrs
import msgspec

from desim.errors import SchemaError, WrongAction, possible
from desim.instances import (
    as_read,
    as_told,
    build,
    infinite,
    loose,
    plain_numbers,
    plain_scalar,
    refuse_infinite,
    sentence,
    writer,
)
from desim.mirror import members, mirror, mirrored, tag, union

__all__ = [
    "Codec",
    "codec",
    "encode",
    "from_plain",
    "json_schema",
    "members",
    "tag",
    "tagged",
    "to_plain",
]

_encode = msgspec.json.Encoder(enc_hook=plain_scalar).encode

#: What a value that does not fit, or is nested too deeply, makes msgspec and validators raise.
_FAULTS = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)


class Codec:
    """What a role does, compiled: checks an answer and turns it to and from its tagged object.

    Args:
        does: A frozen class or a union of frozen classes.

    Raises:
        SchemaError: One of them is not an attrs class, or two share a tag.
    """

    def __init__(self, does: type | UnionType) -> None:
        self.classes: dict[str, type] = {}
        for cls in members(does):
            if not attrs.has(cls):
                raise SchemaError(f"{cls!r} is not a frozen attrs class, so nobody can answer it")
            if tag(cls) in self.classes:
                raise SchemaError(f"two classes of one role share the tag {tag(cls)!r}")
            self.classes[tag(cls)] = cls
        self.mirror = union([mirror(cls, tagged=True) for cls in self.classes.values()])
        self._decode = msgspec.json.Decoder(self.mirror).decode
        self._writers = {cls: writer(cls) for cls in self.classes.values()}
        self._loose = {cls: loose(cls) for cls in self.classes.values()}

    def take(self, action: Any) -> tuple[Any, bytes]:
        """Check an answer, an instance or its tagged object.

        Returns:
            The action as its record will be read, and its tagged object as JSON.

        Raises:
            WrongAction: It does not fit; the text tells what came and what was expected.
        """
        write = self._writers.get(type(action))
        if write is None:
            if not isinstance(action, Mapping):
                raise WrongAction(f"{_shown(action)}; {self.expected()}")
            action = self.read(action)
            write = self._writers[type(action)]
        try:
            try:
                wire = write(action)
            except TypeError:
                action = plain_numbers(action)
                wire = write(action)
            loose, read = self._loose[type(action)], self._decode(wire)
            kept = as_read(action, read, loose) if loose else action
        except _FAULTS as fault:
            why = infinite(action) or sentence(fault)
            raise WrongAction(f"{_shown(action)}: {why}; {self.expected()}") from None
        # msgspec writes nan and infinity as null, which an optional number would accept.
        if b"null" in wire and (why := infinite(action)):
            raise WrongAction(f"{_shown(action)}: {why}; {self.expected()}")
        return kept, wire

    def read(self, given: Any) -> Any:
        """Build the action from a tagged object: a mapping, or JSON as text or bytes.

        Raises:
            WrongAction: It does not fit; the text holds the path of the fault.
        """
        try:
            refuse_infinite(given)
            return build(self._decode(given if isinstance(given, bytes | str) else _encode(given)))
        except _FAULTS as fault:
            raise WrongAction(
                f"{_shown(given)}: {self._explain(fault)}; {self.expected()}"
            ) from None

    def expected(self) -> str:
        """Say in words what may be answered."""
        names = [cls.__name__ for cls in self.classes.values()]
        return f"expected {' or '.join([', '.join(names[:-1]), names[-1]] if names[1:] else names)}"

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the tagged objects."""
        return msgspec.json.schema(self.mirror)

    def _explain(self, fault: Exception) -> str:
        unknown = re.search(r"Invalid value '(.*?)' - at `\$\.do`", str(fault))
        return sentence(fault) + (f"; {possible(unknown[1], self.classes)}" if unknown else "")


@cache
def codec(does: type | UnionType) -> Codec:
    """Return the compiled schema of a class or union, made once."""
    return Codec(does)


def json_schema(cls: Any) -> dict[str, Any]:
    """Return the JSON Schema of a frozen class as it is written untagged (an observation)."""
    return msgspec.json.schema(mirrored(cls))


def to_plain(value: Any) -> Any:
    """Turn a frozen class or a container of them into plain JSON values, as a file gives them."""
    return msgspec.json.decode(encode(value))


def encode(value: Any) -> bytes:
    """Write a frozen class or a container of them as JSON."""
    return _encode(as_told(value))


def tagged(action: Any) -> bytes:
    """Write an action, an instance or a tagged object already, as a tagged object in JSON."""
    cls: Any = type(action)
    return writer(cls)(action) if attrs.has(cls) else _encode(action)


def from_plain(value: Any, cls: Any, path: str = "$") -> Any:
    """Turn plain JSON values into `cls`, which may be any type msgspec knows or a frozen class.

    Raises:
        SchemaError: The value does not fit; the text holds the path of the fault.
    """
    try:
        refuse_infinite(value)
        return build(msgspec.convert(value, mirrored(cls)))
    except _FAULTS as fault:
        text = sentence(fault).replace("`$", f"`{path}")
        # msgspec leaves out the path of the whole.
        raise SchemaError(text if " - at `" in text else f"{text} - at `{path}`") from None


def _shown(value: Any, width: int = 120) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else repr(value)
    return text if len(text) <= width else text[:width] + "…"
