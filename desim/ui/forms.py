"""A role's actions as forms to fill in, made from the JSON Schema of the actions.

Texts that a person types into a form become a tagged object. Only texts that need parsing (a list,
JSON) are checked here. The role's codec checks the values, as for every answer, so a person reads
the same errors that a policy gets.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from attrs import evolve, frozen

from desim.core.roles import Role
from desim.errors import UsageError, WrongAction, possible
from desim.schema import codec
from desim.schema.wire_types import TAG
from desim.short_repr import short_repr
from desim.show.column import Column, columns_of
from desim.show.labels import is_number, label_text, number_text

#: The kinds of fields that hold a number.
NUMBERS = {"integer", "number"}
#: A larger bound is the range of the machine's numbers, which does not help a person.
_FAR = 1e15
#: The words for a flag.
_YES, _NO = {"true", "yes", "y", "1"}, {"false", "no", "n", "0"}


@frozen
class Field:
    """One value of an action.

    Attributes:
        name: The key in the tagged object.
        kind: integer, number, flag, choice, text, list (of simple values) or json.
        text: The explanation from the docstring.
        required: Whether it must be given.
        default: The value if it is not given; None if the schema does not state it.
        nullable: Whether it may be null; an empty input gives null.
        choices: The values of a choice.
        least: Lower bound of a number, if it has one.
        most: Upper bound of a number, if it has one.
        items: The kind of a list's values.
        unit: The unit of a number, such as "units"; empty for none.
    """

    name: str
    kind: str
    text: str = ""
    required: bool = True
    default: Any = None
    nullable: bool = False
    choices: tuple[Any, ...] = ()
    least: float | None = None
    most: float | None = None
    items: str = "text"
    unit: str = ""

    @property
    def label(self) -> str:
        """The name as words, and the unit in brackets."""
        return f"{label_text(self.name)} ({self.unit})" if self.unit else label_text(self.name)

    @property
    def wanted(self) -> str:
        """The numbers that may be typed, such as "a whole number of units from 0 on"."""
        kind = "a whole number" if self.kind == "integer" else "a number"
        unit = f" of {self.unit}" if self.unit else ""
        least, most = _near(self.least), _near(self.most)
        limits = "" if least is None else f" from {number_text(least)}"
        if most is not None:
            limits += f" {'up ' if least is None else ''}to {number_text(most)}"
        elif least is not None:
            limits += " on"
        return f"{kind}{unit}{limits}"

    @property
    def hint(self) -> str:
        """The kind, the bounds, and whether the field may be left empty, as a text."""
        kinds = {
            "integer": "whole number",
            "number": "number",
            "list": "values separated by commas",
            "json": "JSON",
        }
        parts = [kinds[self.kind]] if self.kind in kinds else []
        bounds = (("at least", self.least), ("at most", self.most))
        parts += [
            f"{text} {number_text(b)}" for text, bound in bounds if (b := _near(bound)) is not None
        ]
        parts += [] if self.required else ["may be left empty"]
        return ", ".join(parts)

    def takes(self, number: float) -> bool:
        """Return whether a number is whole where it must be, and within the bounds."""
        whole = self.kind != "integer" or isinstance(number, int)
        above = self.least is None or number >= self.least
        return whole and above and (self.most is None or number <= self.most)


@frozen
class Form:
    """One action to fill in.

    Attributes:
        tag: The action's name in its tagged object.
        text: What it does, from the docstring.
        fields: Its values, in the order of the schema.
    """

    tag: str
    text: str
    fields: tuple[Field, ...]

    @property
    def label(self) -> str:
        """The action's name as words."""
        return label_text(self.tag)

    def field(self, name: str) -> Field:
        """Return a field.

        Raises:
            UsageError: The form has no field of that name.
        """
        for field in self.fields:
            if field.name == name:
                return field
        known = [field.name for field in self.fields]
        raise UsageError(f"{self.tag} has no {name!r}; {possible(name, known)}")


def forms(role: Role) -> tuple[Form, ...]:
    """Return the forms of a role, one for each class of actions."""
    schema = codec(role.action).json_schema()
    refs = schema.get("anyOf", [schema])
    shapes = [_resolved(ref, schema["$defs"]) for ref in refs]
    return tuple(_form(shape, schema["$defs"], role) for shape in shapes)


def amount_form(known: Sequence[Form]) -> Form | None:
    """Return the form that a single number fills in.

    Args:
        known: The forms of a role.

    Returns:
        The only form with fields, if it has exactly one field and that is a number; else None.
    """
    filled_in = [form for form in known if form.fields]
    if len(filled_in) != 1 or len(filled_in[0].fields) != 1:
        return None
    return filled_in[0] if filled_in[0].fields[0].kind in NUMBERS else None


def _form(schema: Mapping[str, Any], defs: Mapping[str, Any], role: Role) -> Form:
    required = schema.get("required", ())
    tag = schema["properties"][TAG]["enum"][0]
    columns = columns_of(codec(role.action).classes[tag])
    fields = [
        evolve(_field(name, each, defs, required=name in required), unit=_unit(columns.get(name)))
        for name, each in schema["properties"].items()
        if name != TAG
    ]
    return Form(tag, schema.get("description", ""), tuple(fields))


def _unit(column: Column | None) -> str:
    """Return the unit in which a value is typed, which is the unit of the action's field."""
    return column.unit if column and column.scale == 1 else ""


def _field(
    name: str, schema: Mapping[str, Any], defs: Mapping[str, Any], *, required: bool
) -> Field:
    choices = [_resolved(each, defs) for each in schema.get("anyOf", [schema])]
    present = [each for each in choices if each.get("type") != "null"]
    kind, values, items = _kind(present, defs)
    # An exclusive bound is shown like an inclusive one; the codec's error states which it is.
    least = [each[k] for each in present for k in ("minimum", "exclusiveMinimum") if k in each]
    most = [each[k] for each in present for k in ("maximum", "exclusiveMaximum") if k in each]
    return Field(
        name,
        kind,
        schema.get("description", ""),
        required=required,
        default=schema.get("default"),
        nullable=len(present) < len(choices),
        choices=values,
        least=min(least, default=None),
        most=max(most, default=None),
        items=items,
    )


def _kind(schemas: Sequence[Mapping[str, Any]], defs: Mapping[str, Any]) -> tuple[str, Any, str]:
    """Return the kind of a field, the values of a choice, and the kind of a list's values."""
    types = {each.get("type", "any") for each in schemas}
    if all("enum" in each for each in schemas) and schemas:
        return "choice", tuple(value for each in schemas for value in each["enum"]), ""
    if types and types <= NUMBERS:
        return ("integer" if types == {"integer"} else "number"), (), ""
    if types == {"boolean"}:
        return "flag", (), ""
    if types == {"string"}:
        return "text", (), ""
    if types == {"array"} and len(schemas) == 1 and "items" in schemas[0]:
        item = _resolved(schemas[0]["items"], defs)
        inner = _kind([_resolved(each, defs) for each in item.get("anyOf", [item])], defs)[0]
        if inner in {*NUMBERS, "text"}:
            return "list", (), inner
    return "json", (), "any" if "any" in types or not types else ""


def _resolved(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    ref = schema.get("$ref", "")
    target: Mapping[str, Any] = defs[ref.rsplit("/", 1)[-1]] if ref else schema
    return target


def _near(bound: float | None) -> float | None:
    """Return a bound that a person may reach; None for any other."""
    return bound if bound is not None and abs(bound) < _FAR else None


def initial_texts(form: Form) -> dict[str, str]:
    """Return the initial texts of a form: the defaults of its action.

    No value of an option is filled in, as the first option is the one that a rule would take.
    """
    return {field.name: field_text(field, field.default) for field in form.fields}


def field_text(field: Field, value: Any) -> str:
    """Return a value as a person would type it."""
    if value is None:
        return ""
    if field.kind == "flag":
        return "true" if value else "false"
    if field.kind == "list" and isinstance(value, list):
        parts = [each if isinstance(each, str) else _json(each) for each in value]
        # A comma inside a value would split it.
        return ", ".join(parts) if not any("," in part for part in parts) else _json(value)
    return value if isinstance(value, str) else _json(value)


def read_form(form: Form, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the tagged object for the texts of a form.

    Args:
        form: The action.
        texts: Texts by field; a field with an empty or missing text gets the action's own default.

    Raises:
        WrongAction: A text cannot be parsed.
        UsageError: The form has no field of a given name.
    """
    action: dict[str, Any] = {TAG: form.tag}
    for name, text in texts.items():
        field = form.field(name)
        bare = text if field.kind == "text" else text.strip()
        if bare or (field.required and (field.nullable or field.kind == "text")):
            action[name] = _parsed(field, bare)
        elif field.required and field.kind in NUMBERS:
            raise WrongAction(f"{field.label}: type {field.wanted}; nothing was typed")
    return action


def _parsed(field: Field, text: str) -> Any:
    if field.nullable and not text:
        return None
    match field.kind:
        case "list":
            return _parsed_list(field, text)
        case "json":
            return _decoded(field, text)
        case "choice":
            return next((choice for choice in field.choices if str(choice) == text), text)
        case kind if kind in NUMBERS:
            return _parsed_number(field, text)
        case kind:
            return _parsed_word(kind, text)


def _parsed_number(field: Field, text: str) -> int | float:
    """Read a number of a field.

    Raises:
        WrongAction: The text is not a number that the field takes.
    """
    number: Any = _parsed_word(field.kind, text)
    if not is_number(number) or not math.isfinite(number) or not field.takes(number):
        raise WrongAction(f"{field.label}: type {field.wanted}; {short_repr(text)} was typed")
    given: int | float = number
    return given


def _parsed_word(kind: str, text: str) -> Any:
    """Read a number or a flag; return any other text unchanged, which the codec refuses."""
    if kind == "flag":
        word = text.lower()
        return True if word in _YES else False if word in _NO else text
    for number in (int, float) if kind in NUMBERS else ():
        try:
            return number(text.replace(",", ""))
        except ValueError:
            continue
    return text


def _parsed_list(field: Field, text: str) -> Any:
    if text.startswith("["):
        return _decoded(field, text)
    return [_parsed_word(field.items, part.strip()) for part in text.split(",") if part.strip()]


def _decoded(field: Field, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as fault:
        # A field without a type accepts a text that is not JSON as it is.
        if field.items == "any":
            return text
        raise WrongAction(f"{field.name} is no JSON: {fault}") from None


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
