"""An observation as figures, tables, texts and nested groups, for the page and the terminal.

Nothing here knows a model: names and explanations come from the JSON Schema of the observation,
the kind of display from its values.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import attrs
import msgspec
from attrs import frozen

from desim.schema import class_of, codec, json_schema, to_plain
from desim.schema.codecs import tagged_object
from desim.schema.wire_types import TAG
from desim.show.labels import class_text, is_number, label_text, value_text, words_text
from desim.show.table import Table
from desim.ui.history import first_field

#: A text that is longer, or has several lines, is shown as a block.
_LINE = 80
#: Deeper mappings are written in one line.
_DEPTH_MAX = 6
_EMPTY: tuple[Any, ...] = (None, "", [], {})


@frozen
class NamedValue:
    """One value with its name.

    Attributes:
        label: The name.
        text: The value.
        help: The explanation from the docstring; may be empty.
    """

    label: str
    text: str
    help: str = ""


@frozen
class ValueGroup:
    """An observation, or a mapping nested in it.

    Attributes:
        label: Its name; empty for the whole observation of a role with one class.
        figures: Single values.
        tables: Lists of records.
        texts: Long texts.
        groups: Nested mappings.
        help: The explanation; may be empty.
    """

    label: str
    figures: tuple[NamedValue, ...] = ()
    tables: tuple[Table, ...] = ()
    texts: tuple[NamedValue, ...] = ()
    groups: tuple["ValueGroup", ...] = ()
    help: str = ""


def lay_out(observation: Any, cls: Any) -> ValueGroup:
    """Lay out an observation.

    Args:
        observation: An instance of *cls*, or the plain values that a record holds of it.
        cls: The role's frozen class, or union of classes, whose name is then the label.
    """
    plain, own = to_plain(observation), class_of(observation, cls)
    schema = _schema(own)
    name, about = "", ""
    if own is not cls:
        plain.pop(TAG, None)
        name, about = class_text(own.__name__), schema.get("description", "")
    return _group(name, plain, schema, schema.get("$defs", {}), 0, about)


def time_figure(observation: Any, cls: Any) -> NamedValue | None:
    """Return the first field of an observation, by convention the time; None if not a scalar."""
    name, value = first_field(observation, cls)
    if not isinstance(value, int | float | str):
        return None
    schema = _schema(class_of(observation, cls))
    return NamedValue(label_text(name), value_text(value), _help(schema, name))


def action_text(action: Any, classes: Any) -> str:
    """Return an action in one line: its name, and the values that are not empty.

    Args:
        action: An instance, or its tagged object.
        classes: The role's action classes.
    """
    plain = tagged_object(action)
    name = plain.pop(TAG)
    order = [each.alias for each in attrs.fields(codec(classes).classes[name])]
    given = [(key, value_text(plain[key])) for key in order if plain.get(key) not in _EMPTY]
    values = ", ".join(f"{words_text(key)} {text}" for key, text in given)
    return f"{label_text(name)}: {values}" if values else label_text(name)


def text_table(label: str, rows: Sequence[Mapping[str, Any]], help: str = "") -> Table:  # noqa: A002
    """Return a table of plain rows; its columns are the keys in the order in which they occur."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    given = [[row[key] for row in rows if row.get(key) is not None] for key in keys]
    words = [place for place, values in enumerate(given) if not all(map(is_number, values))]
    cells = ([value_text(row.get(key)) for key in keys] for row in rows)
    return Table(map(label_text, keys), cells, words, label, legend=[help] if help else [])


def _group(
    label: str,
    plain: Any,
    schema: Any,
    defs: Any,
    depth: int,
    help: str,  # noqa: A002
) -> ValueGroup:
    figures: list[NamedValue] = []
    tables: list[Table] = []
    texts: list[NamedValue] = []
    groups: list[ValueGroup] = []
    for name, raw in _ordered(plain, schema).items():
        value, title, about = _unpacked(raw), label_text(name), _help(schema, name)
        if _is_records(value):
            inner = _inner(schema, name, defs)
            tables.append(text_table(title, [_ordered(row, inner) for row in value], about))
        elif isinstance(value, dict) and value and depth < _DEPTH_MAX:
            inner = _inner(schema, name, defs)
            groups.append(_group(title, value, inner, defs, depth + 1, about))
        elif isinstance(value, str) and (len(value) > _LINE or "\n" in value):
            texts.append(NamedValue(title, value, about))
        else:
            figures.append(NamedValue(title, value_text(value), about))
    return ValueGroup(label, tuple(figures), tuple(tables), tuple(texts), tuple(groups), help)


def _ordered(plain: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """Put fields in the order of their class; encoding has sorted them by name."""
    names = dict.fromkeys((*schema.get("properties", ()), *plain))
    return {name: plain[name] for name in names if name in plain}


def _unpacked(value: Any) -> Any:
    """Decode a text that is itself JSON, such as the messages of some models."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value
    return value


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


@cache
def _schema(cls: Any) -> Any:
    schema = json_schema(cls)
    defs = schema.get("$defs", {})
    return {**defs.get(schema.get("$ref", "").rsplit("/", 1)[-1], schema), "$defs": defs}


def _help(schema: Any, name: str) -> str:
    text: str = schema.get("properties", {}).get(name, {}).get("description", "")
    return text


def _inner(schema: Any, name: str, defs: Any) -> Any:
    """Return the schema of a nested record; empty if the class does not state one."""
    field = schema.get("properties", {}).get(name, {})
    for choice in field.get("anyOf", [field]):
        if ref := choice.get("items", choice).get("$ref", ""):
            return defs[ref.rsplit("/", 1)[-1]]
    return {}
