"""A role's actions as forms, made from its JSON Schema; texts filled in become tagged objects.

Only what has to be parsed is judged here (a list, a JSON text). Whether a value fits is for the
role's own codec to say, which every answer meets: so a person reads the errors a policy gets.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from attrs import frozen

from desim.doors.words import humanised
from desim.errors import UsageError, WrongAction, possible
from desim.kernel import Option, Role
from desim.mirror import TAG
from desim.schema import codec, tagged

__all__ = ["Field", "Form", "action_tag", "as_text", "filled", "forms", "read"]

_NUMBERS = {"integer", "number"}
#: A bound beyond this keeps machines in order.
_FAR = 1e15
_YES, _NO = {"true", "yes", "y", "1"}, {"false", "no", "n", "0"}


@frozen
class Field:
    """One value of an action.

    Attributes:
        name: The key in the tagged object.
        kind: integer, number, flag, choice, text, list (of simple values) or json.
        text: What it is, from the docstring.
        required: Whether it must be given.
        default: What it is otherwise, where that is known.
        empty: Whether it may be null, for which a person leaves it empty.
        choices: The values of a choice.
        least: Lower bound of a number, if it has one.
        most: Upper bound of a number, if it has one.
        items: The kind of a list's values.
    """

    name: str
    kind: str
    text: str = ""
    required: bool = True
    default: Any = None
    empty: bool = False
    choices: tuple[Any, ...] = ()
    least: float | None = None
    most: float | None = None
    items: str = "text"

    @property
    def label(self) -> str:
        """Its name for people."""
        return humanised(self.name)

    @property
    def hint(self) -> str:
        """Say what may be filled in."""
        bounds = [f"at least {self.least:,g}"] if _bounds(self.least) else []
        bounds += [f"at most {self.most:,g}"] if _bounds(self.most) else []
        words = {
            "integer": "whole number",
            "number": "number",
            "list": "values with commas between",
            "json": "JSON",
        }
        told = [words[self.kind]] if self.kind in words else []
        free = [] if self.required else ["may stay empty"]
        return ", ".join([*told, *bounds, *free])


@frozen
class Form:
    """One action to fill in.

    Attributes:
        tag: What its tagged object is called.
        text: What it does, from the docstring.
        fields: Its values, those that must be given first in their own order.
    """

    tag: str
    text: str
    fields: tuple[Field, ...]

    @property
    def label(self) -> str:
        """Its name for people."""
        return humanised(self.tag)

    def field(self, name: str) -> Field:
        """Return a field.

        Raises:
            UsageError: There is none of that name.
        """
        for field in self.fields:
            if field.name == name:
                return field
        known = [field.name for field in self.fields]
        raise UsageError(f"{self.tag} has no {name!r}; {possible(name, known)}")


def forms(role: Role) -> tuple[Form, ...]:
    """Make the forms of a role, one an action class."""
    schema = codec(role.does).json_schema()
    refs = schema.get("anyOf", [schema])
    return tuple(_form(_resolved(ref, schema["$defs"]), schema["$defs"]) for ref in refs)


def filled(form: Form, options: Sequence[Option]) -> dict[str, str]:
    """Return the texts a form starts with: those of its best option, else the defaults."""
    for option in options:
        plain = _plain(option.action)
        if plain.pop(TAG) == form.tag:
            return {field.name: as_text(field, plain.get(field.name)) for field in form.fields}
    return {field.name: as_text(field, field.default) for field in form.fields}


def as_text(field: Field, value: Any) -> str:
    """Write a value as somebody would type it."""
    if value is None:
        return ""
    if field.kind == "flag":
        return "true" if value else "false"
    if field.kind == "list" and isinstance(value, list):
        parts = [each if isinstance(each, str) else _json(each) for each in value]
        # A comma inside a value would part it.
        return ", ".join(parts) if not any("," in part for part in parts) else _json(value)
    return value if isinstance(value, str) else _json(value)


def action_tag(action: Any) -> str:
    """Return what an action's tagged object is called."""
    return str(_plain(action)[TAG])


def read(form: Form, texts: Mapping[str, str]) -> dict[str, Any]:
    """Make the tagged object that the texts of a form stand for.

    Args:
        form: The action.
        texts: By field; one that is empty or missing is left to the action's own default.

    Raises:
        WrongAction: A text cannot be parsed.
        UsageError: A name is no field of the form.
    """
    action: dict[str, Any] = {TAG: form.tag}
    for name, text in texts.items():
        field = form.field(name)
        bare = text if field.kind == "text" else text.strip()
        if bare or (field.required and (field.empty or field.kind == "text")):
            action[name] = _value(field, bare)
    return action


def _value(field: Field, text: str) -> Any:
    if field.empty and not text:
        return None
    match field.kind:
        case "list":
            return _listed(field, text)
        case "json":
            return _decoded(field, text)
        case "choice":
            return next((choice for choice in field.choices if str(choice) == text), text)
        case kind:
            return _simple(kind, text)


def _simple(kind: str, text: str) -> Any:
    """Read a number or a flag; a text that is none stays as it is, and the codec will tell."""
    if kind == "flag":
        word = text.lower()
        return True if word in _YES else False if word in _NO else text
    for number in (int, float) if kind in _NUMBERS else ():
        try:
            return number(text.replace(",", ""))
        except ValueError:
            continue
    return text


def _listed(field: Field, text: str) -> Any:
    if text.startswith("["):
        return _decoded(field, text)
    return [_simple(field.items, part.strip()) for part in text.split(",") if part.strip()]


def _decoded(field: Field, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as fault:
        # Where anything may stand, a text that is no JSON is a text.
        if field.items == "any":
            return text
        raise WrongAction(f"{field.name} is no JSON: {fault}") from None


def _bounds(bound: float | None) -> bool:
    """Say whether a bound is one that a person may meet."""
    return bound is not None and abs(bound) < _FAR


# -- from the schema -------------------------------------------------------------------------------


def _form(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Form:
    required = schema.get("required", ())
    named = [(name, told) for name, told in schema["properties"].items() if name != TAG]
    fields = [_field(name, told, defs, required=name in required) for name, told in named]
    tag = schema["properties"][TAG]["enum"][0]
    return Form(tag, schema.get("description", ""), tuple(fields))


def _field(
    name: str, schema: Mapping[str, Any], defs: Mapping[str, Any], *, required: bool
) -> Field:
    kinds = [_resolved(each, defs) for each in schema.get("anyOf", [schema])]
    some = [each for each in kinds if each.get("type") != "null"]
    kind, choices, items = _kind(some, defs)
    # Whole numbers and others are bounded alike.
    least = [each[key] for each in some for key in ("minimum", "exclusiveMinimum") if key in each]
    most = [each[key] for each in some for key in ("maximum", "exclusiveMaximum") if key in each]
    return Field(
        name,
        kind,
        schema.get("description", ""),
        required=required,
        default=schema.get("default"),
        empty=len(some) < len(kinds),
        choices=choices,
        least=min(least, default=None),
        most=max(most, default=None),
        items=items,
    )


def _kind(schemas: Sequence[Mapping[str, Any]], defs: Mapping[str, Any]) -> tuple[str, Any, str]:
    """Return the kind of a field, its choices, and the kind of its items."""
    types = {each.get("type", "any") for each in schemas}
    if all("enum" in each for each in schemas) and schemas:
        return "choice", tuple(value for each in schemas for value in each["enum"]), ""
    if types and types <= _NUMBERS:
        return ("integer" if types == {"integer"} else "number"), (), ""
    if types == {"boolean"}:
        return "flag", (), ""
    if types == {"string"}:
        return "text", (), ""
    if types == {"array"} and len(schemas) == 1 and "items" in schemas[0]:
        item = _resolved(schemas[0]["items"], defs)
        inner = _kind([_resolved(each, defs) for each in item.get("anyOf", [item])], defs)[0]
        if inner in {*_NUMBERS, "text"}:
            return "list", (), inner
    return "json", (), "any" if "any" in types or not types else ""


def _resolved(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    ref = schema.get("$ref", "")
    found: Mapping[str, Any] = defs[ref.rsplit("/", 1)[-1]] if ref else schema
    return found


def _plain(action: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(tagged(action))
    return plain


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
