"""A role's actions as forms to fill in, made from the JSON Schema of the actions.

A field has the unit and the usual range of its `Column`, and the identifiers that a person may
choose from.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from desim.core.roles import Role
from desim.errors import UsageError, possible
from desim.schema import codec
from desim.schema.wire_types import TAG
from desim.show.column import Column
from desim.show.labels import label_text, number_text

#: The kinds of fields that hold a number.
NUMBERS = {"integer", "number"}
#: A larger bound is the range of the machine's numbers, which does not help a person.
_FAR = 1e15
#: Known values that a sentence lists.
_LISTED = 12
#: Observations that are searched for a list, the newest first.
_OBSERVATIONS = 200
#: Values of a list that are offered.
_MOST = 500
#: Characters of a label.
_LABEL = 80


@frozen
class KnownValue:
    """One value to choose.

    Attributes:
        value: The identifier.
        label: The identifier, and what else identifies it.
    """

    value: str | int
    label: str


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
        most_characters: Characters of a text at most, if it has a limit.
        pattern: The regular expression of a text whose form the explanation names; may be empty.
        column: Its unit, label and usual range.
        known: The values to choose from; empty if they are not known.
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
    most_characters: int | None = None
    pattern: str = ""
    column: Column = field(factory=Column)
    known: tuple[KnownValue, ...] = ()

    @property
    def key(self) -> str:
        """The name under which a person types the value: without a unit that it is not in."""
        return self.column.key(self.name)

    @property
    def label(self) -> str:
        """The name as words, and the unit in brackets."""
        return self.column.title(self.name)

    @property
    def wanted(self) -> str:
        """The values that may be typed, such as "a whole number of units from 0 on"."""
        if self.known:
            return f"one or more of {self._listed}" if self.kind == "list" else self._listed
        if self.kind in NUMBERS:
            return self._wanted_number
        words = {
            "choice": f"one of {', '.join(map(str, self.choices))}",
            "flag": "yes or no",
            "list": "values separated by commas",
            "json": "a value in JSON",
        }
        return words.get(self.kind) or self._wanted_text

    def takes(self, number: float) -> bool:
        """Return whether a number is whole where it must be, and within the bounds."""
        whole = self.kind != "integer" or isinstance(number, int)
        above = self.least is None or number >= self.least
        return whole and above and (self.most is None or number <= self.most)

    @property
    def _is_share(self) -> bool:
        return self.column.kind == "share" and self.kind in NUMBERS

    @property
    def _wanted_number(self) -> str:
        unit = f" of {self.column.unit}" if self.column.unit else ""
        kind = "a whole number" if self.kind == "integer" else "a number"
        if self.column.scale != 1:
            kind, unit = "a number", f"{unit} in steps of {self.column.scale:g}"
        least, most = _near(self.least), _near(self.most)
        limits = "" if least is None else f" from {self._bound(least)}"
        if most is not None:
            limits += f" {'up ' if least is None else ''}to {self._bound(most)}"
        elif least is not None:
            limits += " on"
        return f"{_SHARE if self._is_share else f'{kind}{unit}'}{limits}"

    @property
    def _wanted_text(self) -> str:
        if self.pattern:
            return f"a text of this form: {self.text.rstrip('.')}"
        most = self.most_characters
        return "a text" if most is None else f"a text of at most {most:,} characters"

    @property
    def _listed(self) -> str:
        texts = [f"#{at} {each.label}" for at, each in enumerate(self.known[:_LISTED], 1)]
        more = len(self.known) - _LISTED
        return ", ".join(texts) + (f", and {more} more" if more > 0 else "")

    def _bound(self, bound: float) -> str:
        return number_text(bound * self.column.scale if self.column.scale != 1 else bound)


#: The values of a share, in words.
_SHARE = "a share such as 0.4 or 40 %"


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
        """Return the field of a key.

        Raises:
            UsageError: The form has no field of that key.
        """
        for each in self.fields:
            if each.key == name:
                return each
        known = [each.key for each in self.fields]
        raise UsageError(f"{self.tag} has no {name!r}; {possible(name, known)}")


def forms(role: Role, seen: Sequence[Any] = ()) -> tuple[Form, ...]:
    """Return the forms of a role, one for each class of actions.

    Args:
        role: The role.
        seen: Observations of the role as plain values, the newest first; the lists in them are
            those that identifiers are chosen from.
    """
    schema = codec(role.action).json_schema()
    refs = schema.get("anyOf", [schema])
    shapes = [_resolved(ref, schema["$defs"]) for ref in refs]
    return tuple(_form(shape, schema["$defs"], role, seen) for shape in shapes)


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


def _form(
    schema: Mapping[str, Any], defs: Mapping[str, Any], role: Role, seen: Sequence[Any]
) -> Form:
    required = schema.get("required", ())
    tag = schema["properties"][TAG]["enum"][0]
    columns = role.columns_of(tag)
    fields = []
    for name, each in schema["properties"].items():
        if name != TAG:
            column = columns.get(name, Column())
            known = known_values(column, seen)
            plain = _field(name, each, defs, required=name in required)
            fields.append(evolve(plain, column=column, known=known))
    return Form(tag, schema.get("description", ""), tuple(fields))


def _field(
    name: str, schema: Mapping[str, Any], defs: Mapping[str, Any], *, required: bool
) -> Field:
    choices = [_resolved(each, defs) for each in schema.get("anyOf", [schema])]
    present = [each for each in choices if each.get("type") != "null"]
    kind, values, items = _kind(present, defs)
    # An exclusive bound is shown like an inclusive one; the codec's error states which it is.
    least = [each[k] for each in present for k in ("minimum", "exclusiveMinimum") if k in each]
    most = [each[k] for each in present for k in ("maximum", "exclusiveMaximum") if k in each]
    lengths = [each["maxLength"] for each in present if "maxLength" in each]
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
        most_characters=min(lengths, default=None),
        pattern=next((each["pattern"] for each in present if "pattern" in each), ""),
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


# -- known values ----------------------------------------------------------------------------------


def known_values(column: Column, seen: Sequence[Any]) -> tuple[KnownValue, ...]:
    """Return the values that an identifier may have, as far as they are known.

    Args:
        column: The description of the identifier.
        seen: Observations as plain values, the newest first. Each path of `column.of` is looked up
            in the newest observation that has it.
    """
    found: dict[str | int, KnownValue] = {
        value: KnownValue(value, value) for value in column.choices
    }
    for path in column.of:
        for known in _newest(path, seen[:_OBSERVATIONS]):
            found.setdefault(known.value, known)
    return tuple(found.values())[:_MOST]


def _newest(path: str, seen: Sequence[Any]) -> list[KnownValue]:
    for plain in seen:
        if (values := _listed(path.split("."), plain)) is not None:
            return values
    return []


def _listed(path: Sequence[str], plain: Any) -> list[KnownValue] | None:
    """Return the values of the list at a path; None without such a list."""
    for at, name in enumerate(path):
        name, _, needed = name.partition(":")  # noqa: PLW2901 (without the condition)
        plain = plain.get(name) if isinstance(plain, Mapping) else None
        if isinstance(plain, list):
            if at + 1 == len(path):
                return [KnownValue(each, _label(each)) for each in plain if _is_value(each)]
            if not all(isinstance(row, Mapping) and needed in ("", *row) for row in plain):
                return None
            return list(_identified(path[at + 1], plain))
    return None


def _identified(key: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[KnownValue]:
    for row in rows:
        value: Any = row.get(key)
        if _is_value(value):
            names = [text for name, text in row.items() if name != key and isinstance(text, str)]
            yield KnownValue(value, _label(value, *names[:1]))


def _label(value: str | int, *names: str) -> str:
    return " · ".join(filter(None, (str(value), *names)))[:_LABEL]


def _is_value(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
