"""Files of items: JSON lines, one item a line, from the user's folder or shipped with the model.

A line is an object with the fields of an `Item`; `target` may stand for `answer`. An answer may be
a number, which becomes its text. A line `{"canary": TEXT}` is left out. An error is one sentence
that begins with the file and the line. A file is read as a whole into memory.
"""

import codecs
import os
from collections.abc import Iterable, Iterator
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
    """Read a file, or the files of a folder that end in .jsonl by name, or check given items.

    Raises:
        ValueError: *given* is of another type, a file cannot be read, a line has a fault, or the
            items are empty.
    """
    if isinstance(given, list | tuple):
        return _distinct((f"items: number {at}", item) for at, item in enumerate(given, 1))
    if not isinstance(given, str | os.PathLike) or "\0" in os.fspath(given):
        raise ValueError(f"items={short_repr(given)} was given; it is a file, a folder, or items")
    try:
        return _distinct(_lines(Path(given)))
    except OSError as fault:
        name = short_repr(fault.filename)
        raise ValueError(f"items: cannot read {name}: {fault.strerror}") from None


def _lines(path: Path) -> Iterator[tuple[str, Item]]:
    """Yield the place and the item of every line that is not blank."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"items: the folder {str(path)!r} has no files that end in .jsonl")
    for file in files:
        content = file.read_bytes().removeprefix(codecs.BOM_UTF8)
        for number, line in enumerate(content.split(b"\n"), 1):
            place = f"{file}, line {number}"
            if len(line) > MOST_BYTES:
                raise ValueError(f"{place}: a line has at most {MOST_BYTES:,} bytes")
            if line.strip() and (item := _item(line, place)):
                yield place, item


def _item(line: bytes, place: str) -> Item | None:
    """Return an item; None of a line by which a corpus shows that it holds the file."""
    try:
        row = decode_json(line)
        is_canary = isinstance(row, dict) and row.keys() == {"canary"}
        return None if is_canary else from_row(row)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"{place}: {sentence(fault)}") from None


def from_row(row: Any) -> Item:
    """Build an item from the plain values of a line.

    As in the published code a `target` that is the number 0 or empty counts as missing: `answer`
    takes its place, and without that an empty text.

    Raises:
        ValueError: A field is missing, unknown, of the wrong kind or out of range.
    """
    if not isinstance(row, dict):
        raise ValueError(f"it is an object, not {short_repr(row)}")  # noqa: TRY004 (one kind)
    given = dict(row)
    if "target" in given:
        given["answer"] = given.pop("target") or given.get("answer", "")
    for key in given:
        if key not in _FIELDS:
            raise ValueError(f"there is no field {short_repr(key)}; {possible(key, _FIELDS)}")
    for key in ("id", "task", "answer"):
        if key not in given:
            raise ValueError(f"the field {key} is missing")
    answer = given["answer"]
    if not isinstance(answer, str | int | float | list):
        raise ValueError(f"answer={short_repr(answer)} was given; it is a text, number or list")  # noqa: TRY004 (one kind)
    return Item(**{**given, "answer": str(answer)})


def _distinct(found: Iterable[tuple[str, Any]]) -> tuple[Item, ...]:
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
