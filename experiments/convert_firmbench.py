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
they are JSON lines, or one JSON list of rows (`.json`); that further fields of a row may be left
out, which is reported; that a row's `id`, where it has one, is a text or a number. An item's id is
the name of the data set, the split, and the row's id or its number.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from attrs import asdict, define, field, frozen

from desim.errors import possible, sentence
from desim.short_repr import short_repr
from models.reasoning.item import MOST_BYTES, MOST_ITEMS, TASKS, Item, from_row

#: Splits of each data set, by the counts of reference SPEC section 1.
_WITHOUT_VALID = ("ConvFinQA", "FormulaEval", "TAT-QA")
SPLITS: Mapping[str, tuple[str, ...]] = {
    name: ("train", "test") if name in _WITHOUT_VALID else ("train", "valid", "test")
    for name in TASKS
}

#: Tasks whose rows have no question of their own.
_ONE_TEXT = ("finer", "formula")

#: Endings of a file: a row a line, or a list of rows.
_ENDINGS = (".jsonl", ".json")

_FIELDS = ("question", "context", "answer", "target", "options", "program")

#: Bytes of a file at most.
_MOST_BYTES_OF_FILE = 1 << 30


class Fault(click.ClickException):
    """A file is missing, or a row is invalid; the command exits with 2."""

    exit_code = 2


@frozen
class Row:
    """A row of a file, and its place for errors."""

    place: str
    number: int
    value: Any


@define
class Converted:
    """The items of one data set.

    Attributes:
        name: The data set.
        items: Its items, in the order of splits and rows.
        left_out: Further fields of its rows, with the number of rows that have them.
    """

    name: str
    items: list[Item] = field(factory=list)
    left_out: Counter[str] = field(factory=Counter)

    @property
    def line(self) -> str:
        """The number of converted items by split, and the fields left out, in one line."""
        splits = Counter(item.split for item in self.items)
        counts = ", ".join(f"{count:,} {split}" for split, count in splits.items())
        fields = ", ".join(f"{name} ({count:,})" for name, count in self.left_out.items())
        return f"{self.name}: {counts}" + (f"; fields left out: {fields}" if fields else "")


def convert(folder: Path, names: Sequence[str] = ()) -> list[Converted]:
    """Return the items of data sets.

    Args:
        folder: Holds a folder for each data set.
        names: Those to convert, all splits of which must be there; empty: those that are there.

    Raises:
        Fault: A name or a file is missing, or a row cannot be an item; the text names the file that
            was expected, or file and line.
    """
    for name in names:
        if name not in SPLITS:
            raise Fault(f"there is no data set {short_repr(name)}; {possible(name, [*SPLITS])}")
    there = [name for name in SPLITS if (folder / name).is_dir()]
    if not there and not names:
        raise Fault(f"{folder} holds no data set; expected is a file such as {_expected(folder)}")
    return [_converted(folder, name) for name in names or there]


def rows_of(file: Path) -> Iterator[Row]:
    """Yield the rows of a file: of every line, or of a list.

    Raises:
        Fault: The file cannot be read, is larger than 1 GiB, or holds something else.
    """
    try:
        if file.stat().st_size > _MOST_BYTES_OF_FILE:
            raise Fault(f"{file} is larger than {_MOST_BYTES_OF_FILE >> 30} GiB")
        if file.suffix == ".json":
            rows = _decoded(file.read_bytes(), str(file))
            if not isinstance(rows, list):
                raise Fault(f"{file} holds {short_repr(rows)}; a .json file is a list of rows")
            yield from (Row(f"{file}, row {n}", n, row) for n, row in enumerate(rows, 1))
            return
        with file.open("rb") as lines:
            number = 0
            while line := lines.readline(MOST_BYTES + 1):
                number += 1
                place = f"{file}, line {number}"
                if len(line) > MOST_BYTES:
                    raise Fault(f"{place}: a line has at most {MOST_BYTES:,} bytes")
                if line.strip():
                    yield Row(place, number, _decoded(line, place))
    except OSError as fault:
        raise Fault(f"cannot read {file}: {fault.strerror}") from None


def _decoded(text: bytes, place: str) -> Any:
    try:
        return msgspec.json.decode(text.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError:
        raise Fault(f"{place}: values are nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise Fault(f"{place}: {sentence(fault)}") from None


def _converted(folder: Path, name: str) -> Converted:
    """Return the items of all splits of a data set."""
    made = Converted(name)
    seen: dict[str, str] = {}
    for split in SPLITS[name]:
        for row in rows_of(_file(folder, name, split)):
            item = _item(row, name, split, made.left_out)
            if item.id in seen:
                raise Fault(f"{row.place}: the id {short_repr(item.id)} is that of {seen[item.id]}")
            if len(seen) == MOST_ITEMS:
                raise Fault(f"{row.place}: there are at most {MOST_ITEMS:,} items")
            seen[item.id] = row.place
            made.items.append(item)
    return made


def _file(folder: Path, name: str, split: str) -> Path:
    """Return the file of a split, of which there must be one."""
    files = [folder / name / f"{split}{ending}" for ending in _ENDINGS]
    found = [file for file in files if file.exists()]
    if not found:
        raise Fault(f"expected is {files[0]}, or {files[1].name} with a list; neither is there")
    if len(found) > 1:
        raise Fault(f"{files[0]} and {files[1].name} are both there; keep one of them")
    return found[0]


def _expected(folder: Path) -> Path:
    return folder / next(iter(SPLITS)) / "test.jsonl"


def _item(row: Row, name: str, split: str, left_out: Counter[str]) -> Item:
    """Return the item of a row; fields that no item has are counted."""
    given = row.value
    if not isinstance(given, dict):
        raise Fault(f"{row.place}: {short_repr(given)} was given; a row is an object")
    if name not in _ONE_TEXT and not given.get("question"):
        raise Fault(f"{row.place}: a row of {name} needs a question")
    if given.get("answer") and given.get("target") and given["answer"] != given["target"]:
        raise Fault(f"{row.place}: answer and target differ; a row has one of them")
    key = given.get("id", row.number)
    if not isinstance(key, str | int) or isinstance(key, bool):
        raise Fault(f"{row.place}: id={short_repr(key)} was given; it is a text or a whole number")
    left_out.update(key for key in given if key not in (*_FIELDS, "id"))
    # Null stands for a field that is not given.
    fields = {key: given[key] for key in _FIELDS if given.get(key) is not None}
    try:
        return from_row(fields | {"id": f"{name}-{split}-{key}", "task": name, "split": split})
    except (TypeError, ValueError) as fault:
        raise Fault(f"{row.place}: {sentence(fault)}") from None


def _write(made: Sequence[Converted], out: Path) -> None:
    """Write one new file for each data set.

    Raises:
        Fault: A file exists, or cannot be written.
    """
    files = [out / f"{each.name}.jsonl" for each in made]
    for file in files:
        if file.exists():
            raise Fault(f"{file} exists and is kept; choose another folder or remove it")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for each, file in zip(made, files, strict=True):
            with file.open("xb") as lines:
                lines.writelines(line_of(item) for item in each.items)
    except OSError as fault:
        raise Fault(f"cannot write to {out}: {fault.strerror}") from None


def line_of(item: Item) -> bytes:
    """Return an item as a line, without the fields that are empty."""
    plain = {k: v for k, v in asdict(item).items() if v not in ("", (), None) or k == "answer"}
    return msgspec.json.encode(plain) + b"\n"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--only", multiple=True, metavar="NAME", help="A data set; all of its files must be.")
def main(folder: Path, out: Path, only: Sequence[str]) -> None:
    """Convert the data sets in FOLDER to files of items in OUT."""
    made = convert(folder, only)
    _write(made, out)
    for each in made:
        print(each.line, file=sys.stderr)


if __name__ == "__main__":
    main()
