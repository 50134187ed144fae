"""An observation as figures, tables, texts and nested groups, for the page and the terminal.

Nothing here knows a model: names and explanations come from the JSON Schema of the observation,
the kind of display from its values.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import attrs
from attrs import field, frozen

from desim.schema import class_of, codec, json_schema, to_plain
from desim.schema.codecs import tagged_object
from desim.schema.wire_types import TAG
from desim.show.column import Column, columns_of, columns_within
from desim.show.labels import class_text, inner_label, is_number, label_text
from desim.show.table import Table
from desim.ui.history import time_field

#: A text that is longer, or has several lines, is shown as a block.
_LINE = 80
_EMPTY: tuple[Any, ...] = (None, "", [], {})
#: The description of a figure without one.
_PLAIN = Column()


@frozen
class NamedValue:
    """One value with its name.

    Attributes:
        label: The name.
        text: The value.
        help: The explanation from the docstring; may be empty.
        name: The field that holds it.
        value: The plain value.
        column: The description of the field.
    """

    label: str
    text: str
    help: str = ""
    name: str = field(default="", eq=False)
    value: Any = field(default=None, eq=False)
    column: Column = field(default=_PLAIN, eq=False)


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
    """Lay out an observation, with the units and labels that its classes declare.

    Args:
        observation: An instance of *cls*, or the plain values that a record holds of it.
        cls: The role's frozen class, or union of classes, whose name is then the label.
    """
    plain, own = to_plain(observation), class_of(observation, cls)
    shape = _shape(own)
    name, about = "", ""
    if own is not cls:
        plain.pop(TAG, None)
        name, about = class_text(own.__name__), shape.schema.get("description", "")
    return _group(name, plain, shape, about)


def time_figure(observation: Any, cls: Any) -> NamedValue | None:
    """Return the time of an observation: its first tick, else its first field.

    None if that is not a scalar.
    """
    name, value = time_field(observation, cls)
    if not isinstance(value, int | float | str):
        return None
    shape = _shape(class_of(observation, cls))
    column = shape.column(name)
    text = column.text(value)
    return NamedValue(column.name(name), text, shape.help(name), name, value, column)


def action_text(action: Any, classes: Any) -> str:
    """Return an action in one line: its name, and the values that are not empty.

    Args:
        action: An instance, or its tagged object.
        classes: The role's action classes.
    """
    plain = tagged_object(action)
    name = plain.pop(TAG)
    cls = codec(classes).classes[name]
    columns = columns_of(cls)
    given = [
        (columns.get(each.name, _PLAIN), each.alias)
        for each in attrs.fields(cls)
        if plain.get(each.alias) not in _EMPTY
    ]
    values = ", ".join(
        f"{inner_label(column.name(key))} {column.text(plain[key])}" for column, key in given
    )
    return f"{label_text(name)}: {values}" if values else label_text(name)


def text_table(
    label: str,
    rows: Sequence[Mapping[str, Any]],
    help: str = "",  # noqa: A002
    columns: Mapping[str, Column] = {},
) -> Table:
    """Return a table of plain rows; its columns are the keys in the order in which they occur.

    Args:
        label: The title.
        rows: Plain values by key.
        help: The legend.
        columns: Descriptions of keys; the head has the unit.
    """
    keys = list(dict.fromkeys(key for row in rows for key in row))
    given = [[row[key] for row in rows if row.get(key) is not None] for key in keys]
    words = [place for place, values in enumerate(given) if not all(map(is_number, values))]
    of = {key: columns.get(key, _PLAIN) for key in keys}
    heads = [of[key].name(key) if of[key].kind == "money" else of[key].title(key) for key in keys]
    cells = ([of[key].text(row.get(key), unit=False) for key in keys] for row in rows)
    return Table(heads, cells, words, label, legend=[help] if help else [])


@frozen
class _Shape:
    """The schema of a mapping, its own columns, and those of all classes by name."""

    schema: Mapping[str, Any]
    defs: Mapping[str, Any]
    by_class: Mapping[str, Mapping[str, Column]]
    columns: Mapping[str, Column]

    def column(self, name: str) -> Column:
        """Return the description of a field or key."""
        return self.columns.get(name, _PLAIN)

    def help(self, name: str) -> str:
        """Return the explanation of a field; may be empty."""
        text: str = self.schema.get("properties", {}).get(name, {}).get("description", "")
        return text

    def inner(self, name: str) -> "_Shape":
        """Return the shape of a nested record; keys without a class keep these columns."""
        about = self.schema.get("properties", {}).get(name, {})
        for choice in about.get("anyOf", [about]):
            if ref := choice.get("items", choice).get("$ref", ""):
                key = ref.rsplit("/", 1)[-1]
                return _Shape(self.defs[key], self.defs, self.by_class, self.by_class.get(key, {}))
        return _Shape({}, self.defs, self.by_class, self.columns)


def _group(label: str, plain: Any, shape: _Shape, help: str) -> ValueGroup:  # noqa: A002
    figures: list[NamedValue] = []
    tables: list[Table] = []
    texts: list[NamedValue] = []
    groups: list[ValueGroup] = []
    for name, value in _ordered(plain, shape.schema).items():
        column = shape.column(name)
        if not column.shown:
            continue
        # The docstring names the unit of the field, which is not the one that is shown.
        about = shape.help(name) if column.scale == 1 else ""
        title = column.name(name)
        if _is_records(value):
            inner = shape.inner(name)
            rows = [_ordered(row, inner.schema) for row in value]
            tables.append(text_table(title, rows, about, inner.columns))
        elif isinstance(value, dict) and value:
            groups.append(_group(title, value, shape.inner(name), about))
        elif isinstance(value, str) and (len(value) > _LINE or "\n" in value):
            texts.append(NamedValue(title, value, about))
        else:
            figures.append(NamedValue(title, column.text(value), about, name, value, column))
    return ValueGroup(label, tuple(figures), tuple(tables), tuple(texts), tuple(groups), help)


def _ordered(plain: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """Put fields in the order of their class; encoding has sorted them by name."""
    names = dict.fromkeys((*schema.get("properties", ()), *plain))
    return {name: plain[name] for name in names if name in plain}


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


@cache
def _shape(cls: Any) -> _Shape:
    schema = json_schema(cls)
    defs = schema.get("$defs", {})
    own = defs.get(schema.get("$ref", "").rsplit("/", 1)[-1], schema)
    return _Shape(own, defs, columns_within(cls), columns_of(cls))
