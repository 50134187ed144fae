"""Frozen classes to tagged objects, back again, and to JSON Schema.

An action `Order(quantity=12)` is written `{"do": "order", "quantity": 12}`, `do` being the class
name in snake_case. For every frozen class a msgspec struct with the same fields, constraints and
texts is made once; decoding, type checks, refusal of unknown keys and JSON Schema are msgspec's.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
import msgspec
from msgspec import UNSET, Meta, Struct

from desim.errors import SchemaError, WrongAction, possible

__all__ = ["Codec", "codec", "encode", "from_plain", "json_schema", "tag", "tagged", "to_plain"]

#: The key that names the class of a tagged object.
TAG = "do"

_encode = msgspec.json.Encoder().encode

#: What a value that does not fit, or is nested too deeply, makes msgspec and validators raise.
_FAULTS = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)

_SCALARS = {int, float, str, bool, NoneType}


@cache
def tag(cls: type) -> str:
    """Return a class name in snake_case: `AssignAll` is `assign_all`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()


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
        self.mirror = _union([mirror(cls, tagged=True) for cls in self.classes.values()])
        self._decode = msgspec.json.Decoder(self.mirror).decode
        self._writers = {cls: _writer(cls) for cls in self.classes.values()}
        self._loose = {cls: _loose(cls) for cls in self.classes.values()}

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
            wire = write(action)
            loose, read = self._loose[type(action)], self._decode(wire)
            kept = _as_read(action, read, loose) if loose else action
        except _FAULTS as fault:
            why = _infinite(action) or _sentence(fault)
            raise WrongAction(f"{_shown(action)}: {why}; {self.expected()}") from None
        # msgspec writes nan and infinity as null, which an optional number would accept.
        if b"null" in wire and (why := _infinite(action)):
            raise WrongAction(f"{_shown(action)}: {why}; {self.expected()}")
        return kept, wire

    def read(self, given: Any) -> Any:
        """Build the action from a tagged object: a mapping, or JSON as text or bytes.

        Raises:
            WrongAction: It does not fit; the text holds the path of the fault.
        """
        try:
            _refuse_infinite(given)
            return _build(self._decode(given if isinstance(given, bytes | str) else _encode(given)))
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
        return _sentence(fault) + (f"; {possible(unknown[1], self.classes)}" if unknown else "")


@cache
def codec(does: type | UnionType) -> Codec:
    """Return the compiled schema of a class or union, made once."""
    return Codec(does)


def json_schema(cls: Any) -> dict[str, Any]:
    """Return the JSON Schema of a frozen class as it is written untagged (an observation)."""
    return msgspec.json.schema(_mirrored(cls))


def to_plain(value: Any) -> Any:
    """Turn a frozen class or a container of them into plain JSON values, as a file gives them."""
    return msgspec.json.decode(encode(value))


def encode(value: Any) -> bytes:
    """Write a frozen class or a container of them as JSON."""
    return _encode(_as_told(value))


def tagged(action: Any) -> bytes:
    """Write an action, an instance or a tagged object already, as a tagged object in JSON."""
    cls: Any = type(action)
    return _writer(cls)(action) if attrs.has(cls) else _encode(action)


def from_plain(value: Any, cls: Any, path: str = "$") -> Any:
    """Turn plain JSON values into `cls`, which may be any type msgspec knows or a frozen class.

    Raises:
        SchemaError: The value does not fit; the text holds the path of the fault.
    """
    try:
        _refuse_infinite(value)
        return _build(msgspec.convert(value, _mirrored(cls)))
    except _FAULTS as fault:
        text = _sentence(fault).replace("`$", f"`{path}")
        # msgspec leaves out the path of the whole.
        raise SchemaError(text if " - at `" in text else f"{text} - at `{path}`") from None


def members(does: Any) -> tuple[Any, ...]:
    """Return the classes of a union, or the one class."""
    return get_args(does) if get_origin(does) in (Union, UnionType) else (does,)


@cache
def mirror(cls: type, *, tagged: bool) -> type[Struct]:
    """Make the struct with the fields, constraints, defaults and texts of an attrs class."""
    hints = get_type_hints(cls, include_extras=True)
    texts = _attribute_texts(cls)
    fields: list[Any] = []
    for each in attrs.fields(cls):
        if not each.init:
            continue
        kind = _constrained(_mirrored(hints.get(each.name, Any)), _constraints(each.validator))
        if each.name in texts:
            kind = Annotated[kind, Meta(description=texts[each.name])]
        fields.append((each.alias, kind, *_default(each)))
    if tagged and any(name == TAG for name, *_ in fields):
        raise SchemaError(f"{cls.__name__} has a field {TAG!r}, the key that holds a class's name")
    named = {"tag": tag(cls), "tag_field": TAG} if tagged else {}
    return msgspec.defstruct(
        cls.__name__,
        fields,
        namespace={"__doc__": _summary(cls), "__mirrors__": cls},
        kw_only=True,
        forbid_unknown_fields=True,
        frozen=True,
        **named,  # type: ignore[arg-type]
    )


def _mirrored(kind: Any) -> Any:
    """Replace every attrs class inside a type by its struct."""
    if isinstance(kind, type) and attrs.has(kind):
        return mirror(kind, tagged=False)
    if get_origin(kind) is Annotated:
        return Annotated[(_mirrored(get_args(kind)[0]), *kind.__metadata__)]
    if not get_args(kind) or get_origin(kind) is Literal:
        return kind
    args = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        several = sum(isinstance(a, type) and attrs.has(a) for a in args) > 1
        return _union([mirror(a, tagged=several) if attrs.has(a) else _mirrored(a) for a in args])
    return get_origin(kind)[tuple(_mirrored(a) if a is not ... else a for a in args)]


def _union(kinds: list[Any]) -> Any:
    return reduce(or_, kinds)


def _default(each: "attrs.Attribute[Any]") -> tuple[Any, ...]:
    if each.default is attrs.NOTHING:
        return ()
    # The attrs class fills in its own default, which may run code: absent is all there is to know.
    if isinstance(each.default, int | float | str | NoneType):
        return (each.default,)
    return (UNSET,)


# -- constraints -----------------------------------------------------------------------------------

_NUMBERS = {">=": "ge", ">": "gt", "<=": "le", "<": "lt"}


def _constraints(validator: Any) -> dict[str, Any]:  # noqa: PLR0911 (one line a kind)
    """Read bounds from attrs' own validators; others run when the instance is built."""
    match type(validator).__name__:
        case "_AndValidator":
            return {k: v for part in validator._validators for k, v in _constraints(part).items()}  # noqa: SLF001
        case "_OptionalValidator":
            return _constraints(validator.validator)
        case "_NumberValidator":
            return {_NUMBERS[validator.compare_op]: validator.bound}
        case "_MinLengthValidator":
            return {"min_length": validator.min_length}
        case "_MaxLengthValidator":
            return {"max_length": validator.max_length}
        case "_MatchesReValidator":
            # attrs matches the whole string; JSON Schema searches in it.
            return {"pattern": f"^(?:{validator.pattern.pattern})$"}
        case "_InValidator":
            return _choices(validator.options)
        case _:
            return {}


def _choices(options: Any) -> dict[str, Any]:
    """Read the options of attrs' `in_` where JSON Schema can list them."""
    listed = isinstance(options, tuple | list | set | frozenset)
    if not listed or not options or {type(o) for o in options} - {int, str}:
        return {}
    # A set has no order of its own, but a schema should always read the same.
    ordered = sorted(options, key=str) if isinstance(options, set | frozenset) else options
    return {"options": tuple(ordered)}


def _constrained(kind: Any, limits: dict[str, Any]) -> Any:
    if kind is int and "options" not in limits:
        # msgspec bounds whole numbers by whole numbers; attrs' own validator is left for the rest.
        limits = {k: int(v) for k, v in limits.items() if v % 1 == 0}
    if not limits:
        return kind
    if get_origin(kind) in (Union, UnionType):
        return _union([a if a is NoneType else _constrained(a, limits) for a in get_args(kind)])
    return Literal[limits["options"]] if "options" in limits else Annotated[kind, Meta(**limits)]


# -- texts -----------------------------------------------------------------------------------------


def _summary(cls: type) -> str | None:
    text = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    # attrs writes a signature where no text was given; that helps nobody.
    return None if not text or text.startswith("Method generated by attrs") else text


def _attribute_texts(cls: type) -> dict[str, str]:
    """Read the `Attributes:` section of a docstring: name to text."""
    lines = inspect.cleandoc(cls.__doc__ or "").splitlines()
    if "Attributes:" not in lines:
        return {}
    texts: dict[str, str] = {}
    name = ""
    for line in lines[lines.index("Attributes:") + 1 :]:
        if line and not line.startswith(" "):
            break
        if found := re.match(r"    (\w+): (.*)", line):
            name = found[1]
            texts[name] = found[2]
        elif name and line.strip():
            texts[name] += " " + line.strip()
    return texts


# -- instances -------------------------------------------------------------------------------------


@cache
def _writer(cls: type) -> Callable[[Any], bytes]:
    """Return the fastest way to write an instance as a tagged object."""
    if _flat(cls):
        head, empty = f'{{"{TAG}":"{tag(cls)}"'.encode(), f'{{"{TAG}":"{tag(cls)}"}}'.encode()

        def write(action: Any) -> bytes:
            body = _encode(action)
            return empty if body == b"{}" else head + b"," + body[1:]

        return write
    return lambda action: _encode(_mirror_of(action, frozenset((cls,))))


def _decorated(cls: type) -> bool:
    """Whether attrs made this class itself; a mere subclass of one is unknown to msgspec."""
    return "__attrs_attrs__" in vars(cls)


def _flat(cls: type) -> bool:
    """Whether no field can hold another attrs class and every name is its alias."""
    hints = get_type_hints(cls)
    return _decorated(cls) and all(
        _mirrored(hints.get(f.name, Any)) == hints.get(f.name, Any) and f.init and f.alias == f.name
        for f in attrs.fields(cls)
    )


def _as_told(value: Any) -> Any:
    """Mirror an instance that msgspec alone would write otherwise than its schema says."""
    cls: Any = type(value)
    return value if _told(cls) else _mirror_of(value)


@cache
def _told(cls: type) -> bool:
    """Whether msgspec writes instances as they are read: every field, and no class to be tagged."""
    if not attrs.has(cls):
        return True
    if not _decorated(cls):
        return False
    try:
        kinds = get_type_hints(cls)
    except NameError:
        return True
    return all(
        f.init and f.alias == f.name and not beside and all(map(_told, _held(kinds.get(f.name))))
        for f, beside in zip(attrs.fields(cls), _beside(cls).values(), strict=True)
    )


def _held(kind: Any) -> Iterator[type]:
    """Yield the attrs classes inside a type."""
    if isinstance(kind, type) and attrs.has(kind):
        yield kind
    for inner in get_args(kind):
        yield from _held(inner)


@cache
def _beside(cls: type) -> dict[str, frozenset[type]]:
    """Return by field the classes that share a union with others and are therefore tagged."""
    hints = get_type_hints(cls)
    return {f.name: frozenset(_alternatives(hints.get(f.name, Any))) for f in attrs.fields(cls)}


def _alternatives(kind: Any) -> Iterator[type]:
    inside = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        classes = [a for a in inside if isinstance(a, type) and attrs.has(a)]
        yield from classes if len(classes) > 1 else ()
    for inner in inside:
        yield from _alternatives(inner)


def _mirror_of(value: Any, alternatives: frozenset[type] = frozenset()) -> Any:
    """Turn attrs instances into structs; those of `alternatives` are tagged."""
    cls: Any = type(value)
    if attrs.has(cls):
        inside = _beside(cls)
        return mirror(cls, tagged=cls in alternatives)(
            **{
                f.alias: _mirror_of(getattr(value, f.name), inside[f.name])
                for f in attrs.fields(cls)
                if f.init
            }
        )
    if isinstance(value, list | tuple):
        return [_mirror_of(v, alternatives) for v in value]
    if isinstance(value, Mapping):
        return {k: _mirror_of(v, alternatives) for k, v in value.items()}
    return value


def _loose(cls: type) -> tuple[str, ...]:
    """Name the fields that may be read as something else than was given: all but plain scalars."""
    hints = get_type_hints(cls)
    kinds = {f.alias: {*members(hints.get(f.name, Any))} for f in attrs.fields(cls) if f.init}
    # A number stays what it is where both kinds are welcome; for a float alone, 3 becomes 3.0.
    exact = (_SCALARS - {float}, _SCALARS)
    return tuple(name for name, kind in kinds.items() if not kind <= exact[int in kind])


def _as_read(action: Any, struct: Struct, loose: tuple[str, ...]) -> Any:
    """Return the action as a replay will read it: with 3.0 where 3 was given for a float."""
    for name in loose:
        given = type(getattr(action, name, None))
        if given not in _SCALARS or given is not type(getattr(struct, name)):
            return _build(struct)
    return action


def _build(value: Any, path: str = "$") -> Any:
    """Turn structs back into the attrs classes they mirror; their own validators run here."""
    if isinstance(value, Struct):
        given = {name: getattr(value, name) for name in value.__struct_fields__}
        built = {n: _build(v, f"{path}.{n}") for n, v in given.items() if v is not UNSET}
        try:
            return value.__mirrors__(**built)  # type: ignore[attr-defined]
        except (TypeError, ValueError) as fault:
            raise ValueError(f"{_sentence(fault)} - at `{path}`") from None
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(_build(v, f"{path}[{n}]") for n, v in enumerate(value))
    if isinstance(value, dict):
        return {k: _build(v, f"{path}.{k}") for k, v in value.items()}
    return value


def _not_finite(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of every nan and infinity."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield path
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _not_finite(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _not_finite(inner, f"{path}[{index}]")
    elif attrs.has(type(value)):
        for each in attrs.fields(type(value)):
            yield from _not_finite(getattr(value, each.name), f"{path}.{each.name}")


def _infinite(value: Any) -> str:
    path = next(_not_finite(value, "$"), None)
    return f"not a finite number - at `{path}`" if path else ""


def _refuse_infinite(value: Any) -> None:
    if why := _infinite(value):
        raise ValueError(why)


def _shown(value: Any, width: int = 120) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else repr(value)
    return text if len(text) <= width else text[:width] + "…"


def _sentence(fault: Exception) -> str:
    # attrs passes the text first and the pieces behind it; Unicode's errors begin with a codec.
    told = fault.args and not isinstance(fault, UnicodeError)
    return str(fault.args[0]) if told else str(fault)
