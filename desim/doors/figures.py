"""What somebody sees, laid out: figures, tables, texts and sections.

Nothing here knows a world. Names and explanations come from the JSON Schema of the observation,
shapes from its values.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import attrs
import msgspec
from attrs import frozen

from desim.doors.past import first
from desim.doors.words import humanised, told
from desim.mirror import TAG
from desim.schema import codec, json_schema, tagged, to_plain

__all__ = [
    "Figure",
    "Grid",
    "Section",
    "answer_line",
    "clock",
    "grid",
    "laid_out",
]

#: A text longer than this, or of several lines, gets a block of its own.
_LINE = 80
_NESTED = 6
_NOTHING: tuple[Any, ...] = (None, "", [], {})


@frozen
class Figure:
    """One value with its name.

    Attributes:
        label: The name for people.
        text: The value.
        help: What it is; empty where the docstring does not say.
    """

    label: str
    text: str
    help: str = ""


@frozen
class Grid:
    """A table.

    Attributes:
        label: What it shows.
        columns: Headings for people.
        rows: Texts, one a column.
        numeric: Which columns hold numbers.
        help: What it is.
    """

    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    help: str = ""


@frozen
class Section:
    """A piece of an observation.

    Attributes:
        label: Its name; empty for the whole.
        figures: Single values.
        grids: Lists of records.
        texts: Long texts, by label.
        sections: Nested pieces.
        help: What it is.
    """

    label: str
    figures: tuple[Figure, ...] = ()
    grids: tuple[Grid, ...] = ()
    texts: tuple[Figure, ...] = ()
    sections: tuple["Section", ...] = ()
    help: str = ""


def laid_out(observation: Any, sees: type) -> Section:
    """Lay an observation out.

    Args:
        observation: An instance of *sees*, or plain values as a record has them.
        sees: The frozen class.
    """
    schema = _schema(sees)
    return _section("", to_plain(observation), schema, schema.get("$defs", {}), 0)


def clock(observation: Any, sees: type) -> Figure | None:
    """Return the first field of an observation if it is a single value: by custom, the time."""
    name, value = first(observation, sees)
    if not isinstance(value, int | float | str):
        return None
    return Figure(humanised(name), told(value), _text(_schema(sees), name))


def answer_line(action: Any, does: Any) -> str:
    """Write an action of a role in a line: its name, and the values that it has."""
    plain = _action(action)
    name = plain.pop(TAG)
    order = [each.alias for each in attrs.fields(codec(does).classes[name])]
    given = [(key, told(plain[key])) for key in order if plain.get(key) not in _NOTHING]
    values = ", ".join(f"{humanised(key).lower()} {text}" for key, text in given)
    return f"{humanised(name)}: {values}" if values else humanised(name)


def grid(label: str, rows: Sequence[Mapping[str, Any]], help: str = "") -> Grid:  # noqa: A002
    """Make a table of plain rows, whose columns are the keys in the order in which they come."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    numeric = [all(_is_number(row.get(key, 0)) for row in rows) for key in keys]
    cells = tuple(tuple(told(row.get(key)) for key in keys) for row in rows)
    return Grid(label, tuple(map(humanised, keys)), cells, tuple(numeric), help)


def _section(label: str, plain: Any, schema: Any, defs: Any, depth: int, help: str = "") -> Section:  # noqa: A002
    figures: list[Figure] = []
    grids: list[Grid] = []
    texts: list[Figure] = []
    sections: list[Section] = []
    for name, raw in _ordered(plain, schema).items():
        value, title, about = _unpacked(raw), humanised(name), _text(schema, name)
        if _is_records(value):
            inner = _inner(schema, name, defs)
            grids.append(grid(title, [_ordered(row, inner) for row in value], about))
        elif isinstance(value, dict) and value and depth < _NESTED:
            inner = _inner(schema, name, defs)
            sections.append(_section(title, value, inner, defs, depth + 1, about))
        elif isinstance(value, str) and (len(value) > _LINE or "\n" in value):
            texts.append(Figure(title, value, about))
        else:
            figures.append(Figure(title, told(value), about))
    return Section(label, tuple(figures), tuple(grids), tuple(texts), tuple(sections), help)


def _ordered(plain: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """Put fields in the order of their class, which writing has sorted by name."""
    names = dict.fromkeys((*schema.get("properties", ()), *plain))
    return {name: plain[name] for name in names if name in plain}


def _unpacked(value: Any) -> Any:
    """Open a text that is JSON itself, as messages of some worlds are."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value
    return value


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _action(action: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(tagged(action))
    return plain


@cache
def _schema(sees: Any) -> Any:
    told = json_schema(sees)
    defs = told.get("$defs", {})
    return {**defs.get(told.get("$ref", "").rsplit("/", 1)[-1], told), "$defs": defs}


def _text(schema: Any, name: str) -> str:
    text: str = schema.get("properties", {}).get(name, {}).get("description", "")
    return text


def _inner(schema: Any, name: str, defs: Any) -> Any:
    """Return the schema of a nested record, or nothing where it is free."""
    told = schema.get("properties", {}).get(name, {})
    for given in told.get("anyOf", [told]):
        each = given.get("items", given)
        if ref := each.get("$ref", ""):
            return defs[ref.rsplit("/", 1)[-1]]
    return {}
