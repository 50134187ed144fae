"""How do the ten public data sets of FirmBench become items of the reasoning tasks?

    python experiments/convert_firmbench.py FOLDER OUT

FOLDER holds a folder for each data set that is there, with a file for each of its splits:

    CodeFinQA/train.jsonl  CodeFinQA/valid.jsonl  CodeFinQA/test.jsonl  CodeTAT-QA/test.jsonl  ...

OUT gets one file of items for each, OUT/CodeFinQA.jsonl and so on, which `--set items=OUT` plays.
Nothing is downloaded, nothing is overwritten, and nothing is written before every row was checked.

Known (reference SPEC, sections 1 and 3, and the rows in its vectors): the names of the data sets,
the splits that each has, and the fields of a row: `question`, `context`, `answer` or `target` (a
text, a number or a list), `options`, `program`. Rows of finer and formula have everything in
`context`. A row with more than six options cannot be used. Assumed: the names of the files; that
they are JSON lines; that further fields of a row may be left out; that a row's `id`, where it has
one, is a text or a number. An item's id is the name of the data set, the split, and the row's id or
its number.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from attrs import asdict

from desim.errors import sentence
from desim.short_repr import short_repr
from models.reasoning.item import MOST_BYTES, TASKS, Item, from_row

#: Splits of each data set, by the counts of reference SPEC section 1.
_WITHOUT_VALID = ("ConvFinQA", "FormulaEval", "TAT-QA")
SPLITS: Mapping[str, tuple[str, ...]] = {
    name: ("train", "test") if name in _WITHOUT_VALID else ("train", "valid", "test")
    for name in TASKS
}

#: Tasks whose rows have no question of their own.
_ONE_TEXT = ("finer", "formula")

_FIELDS = ("question", "context", "answer", "target", "options", "program")


class Fault(click.ClickException):
    """A file is missing, or a row is invalid; the command exits with 2."""

    exit_code = 2


#: A row of a file: its place for errors, its number, its value.
Row = tuple[str, int, Any]


def convert(folder: Path) -> dict[str, list[Item]]:
    """Return the items of the data sets in a folder, in the order of splits and rows.

    Raises:
        Fault: A file is missing, or a row cannot be an item; the text names the file that was
            expected, or file and line.
    """
    there = [name for name in SPLITS if (folder / name).is_dir()]
    if not there:
        expected = folder / next(iter(SPLITS)) / "test.jsonl"
        raise Fault(f"{folder} holds no data set; expected is a file such as {expected}")
    return {name: _converted(folder, name) for name in there}


def _converted(folder: Path, name: str) -> list[Item]:
    """Return the items of all splits of a data set."""
    items: dict[str, Item] = {}
    for split in SPLITS[name]:
        for row in rows_of(folder / name / f"{split}.jsonl"):
            item = _item(row, name, split)
            if item.id in items:
                raise Fault(f"{row[0]}: the id {short_repr(item.id)} is that of another row")
            items[item.id] = item
    return [*items.values()]


def rows_of(file: Path) -> Iterator[Row]:
    """Yield the rows of a file of JSON lines.

    Raises:
        Fault: The file cannot be read, or holds something else.
    """
    try:
        with file.open("rb") as lines:
            number = 0
            while line := lines.readline(MOST_BYTES + 1):
                number += 1
                place = f"{file}, line {number}"
                if len(line) > MOST_BYTES:
                    raise Fault(f"{place}: a line has at most {MOST_BYTES:,} bytes")
                if line.strip():
                    yield place, number, _decoded(line, place)
    except OSError as fault:
        raise Fault(f"cannot read {file}: {fault.strerror}") from None


def _decoded(text: bytes, place: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise Fault(f"{place}: values are nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise Fault(f"{place}: {sentence(fault)}") from None


def _item(row: Row, name: str, split: str) -> Item:
    """Return the item of a row, without fields that no item has."""
    place, number, given = row
    if not isinstance(given, dict):
        raise Fault(f"{place}: {short_repr(given)} was given; a row is an object")
    if name not in _ONE_TEXT and not given.get("question"):
        raise Fault(f"{place}: a row of {name} needs a question")
    if given.get("answer") and given.get("target") and given["answer"] != given["target"]:
        raise Fault(f"{place}: answer and target differ; a row has one of them")
    key = given.get("id", number)
    if not isinstance(key, str | int) or isinstance(key, bool):
        raise Fault(f"{place}: id={short_repr(key)} was given; it is a text or a whole number")
    # Null stands for a field that is not given.
    fields = {key: given[key] for key in _FIELDS if given.get(key) is not None}
    try:
        return from_row(fields | {"id": f"{name}-{split}-{key}", "task": name, "split": split})
    except (TypeError, ValueError) as fault:
        raise Fault(f"{place}: {sentence(fault)}") from None


def _write(made: Mapping[str, Sequence[Item]], out: Path) -> None:
    """Write one new file for each data set.

    Raises:
        Fault: A file exists, or cannot be written.
    """
    files = [out / f"{name}.jsonl" for name in made]
    for file in files:
        if file.exists():
            raise Fault(f"{file} exists and is kept; choose another folder or remove it")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for items, file in zip(made.values(), files, strict=True):
            with file.open("xb") as lines:
                lines.writelines(map(line_of, items))
    except OSError as fault:
        raise Fault(f"cannot write to {out}: {fault.strerror}") from None


def line_of(item: Item) -> bytes:
    """Return an item as a line, without the fields that are empty."""
    plain = {k: v for k, v in asdict(item).items() if v not in ("", (), None) or k == "answer"}
    return msgspec.json.encode(plain) + b"\n"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
def main(folder: Path, out: Path) -> None:
    """Convert the data sets in FOLDER to files of items in OUT."""
    made = convert(folder)
    _write(made, out)
    for name, items in made.items():
        splits = Counter(item.split for item in items)
        counts = ", ".join(f"{count:,} {split}" for split, count in splits.items())
        print(f"{name}: {counts}", file=sys.stderr)


if __name__ == "__main__":
    main()
