"""Files of items: JSON lines, one item a line, from the user's folder or shipped with the model.

A line is an object with the fields of an `Item`; `target` may stand for `answer`. An answer may be
a number, which becomes its text. A line `{"canary": TEXT}` is left out. An error is one sentence
that begins with the file and the line.
"""

import codecs
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from desim.errors import possible, sentence
from desim.schema.untrusted import decode_json
from desim.short_repr import short_repr
from models.reasoning.item import Item

#: Items of all files together, and bytes of a line.
MOST_ITEMS, MOST_BYTES = 100_000, 1_000_000

_FIELDS = tuple(each.name for each in attrs.fields(Item))


@cache
def shipped() -> tuple[Item, ...]:
    """Return the items that ship with the model, twenty of each category."""
    return read(Path(__file__).with_name("items"))


def read(given: Any) -> tuple[Item, ...]:
    """Read the items of a file, or of all files of a folder that end in .jsonl, by name.

    Args:
        given: A path, or the items themselves; empty for none.

    Raises:
        ValueError: *given* is of another type, a file cannot be read, a line has a fault, or the
            items are empty.
    """
    if isinstance(given, list | tuple):
        return _distinct((f"items: number {at}", item) for at, item in enumerate(given, 1))
    if not isinstance(given, str | os.PathLike):
        raise ValueError(  # noqa: TRY004 (one kind)
            f"items={short_repr(given)} was given; it is a file, a folder, or items"
        )
    if not os.fspath(given):
        return ()
    if "\0" in os.fspath(given):
        raise ValueError(f"items={short_repr(given)} was given; a path has no zero character")
    return _distinct(pair for file in _files(Path(given)) for pair in _lines(file))


def from_row(row: Mapping[str, Any]) -> Item:
    """Build an item from the plain values of a line.

    As in the published code a `target` that is the number 0 or empty counts as missing: `answer`
    takes its place, and without that an empty text.

    Raises:
        ValueError: A field is missing, unknown, of the wrong kind or out of range.
    """
    unknown = [key for key in row if key not in (*_FIELDS, "target")]
    if unknown:
        raise ValueError(
            f"there is no field {short_repr(unknown[0])}; {possible(unknown[0], _FIELDS)}"
        )
    missing = [key for key in ("id", "task") if key not in row]
    if missing or not {"answer", "target"} & row.keys():
        raise ValueError(f"the field {(*missing, 'answer')[0]} is missing")
    answer = row.get("target") or row.get("answer", "")
    if not isinstance(answer, str | int | float | list):
        raise ValueError(f"answer={short_repr(answer)} was given; it is a text, number or list")  # noqa: TRY004 (one kind)
    given = {key: value for key, value in row.items() if key != "target"}
    return Item(**{**given, "answer": str(answer)})


def _files(path: Path) -> list[Path]:
    """Return the file, or the files of a folder by name."""
    try:
        if not path.is_dir():
            return [path]
    except OSError as fault:  # a name that is too long
        raise ValueError(f"items: cannot read {short_repr(str(path))}: {fault.strerror}") from None
    found = sorted(path.glob("*.jsonl"))
    if not found:
        raise ValueError(f"items: the folder {str(path)!r} has no files that end in .jsonl")
    return found


def _lines(file: Path) -> Iterator[tuple[str, Item]]:
    """Yield the place and the item of every line that is not blank."""
    try:
        with file.open("rb") as lines:
            number = 0
            # A limit for each read, because a file without line breaks is one line.
            while line := lines.readline(MOST_BYTES + 1):
                number += 1
                place = f"{file}, line {number}"
                if len(line) > MOST_BYTES:
                    raise ValueError(f"{place}: a line has at most {MOST_BYTES:,} bytes")
                content = line.removeprefix(codecs.BOM_UTF8)
                if content.strip() and (item := _item(content, place)):
                    yield place, item
    except OSError as fault:
        raise ValueError(f"items: cannot read {str(file)!r}: {fault.strerror}") from None


def _item(line: bytes, place: str) -> Item | None:
    """Return the item of a line; None of one by which a corpus shows that it holds the file."""
    try:
        row = decode_json(line)
        if not isinstance(row, dict):
            raise ValueError(f"it is an object, not {short_repr(row)}")  # noqa: TRY004, TRY301 (one kind)
        return None if row.keys() == {"canary"} else from_row(row)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"{place}: {sentence(fault)}") from None


def _distinct(found: Iterable[tuple[str, Any]]) -> tuple[Item, ...]:
    """Return the items; their number is limited, and no id is used twice."""
    items: dict[str, Item] = {}
    for place, item in found:
        if not isinstance(item, Item):
            raise ValueError(f"{place} is no item: {short_repr(item)}")  # noqa: TRY004 (one kind)
        if item.id in items:
            raise ValueError(f"{place}: the id {short_repr(item.id)} is used twice")
        if len(items) == MOST_ITEMS:
            raise ValueError(f"{place}: there are at most {MOST_ITEMS:,} items")
        items[item.id] = item
    if not items:
        raise ValueError("items: there are none in what was given")
    return tuple(items.values())
