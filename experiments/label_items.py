"""Which capability does each item of the reasoning tasks demand, and how hard is it?

    python experiments/label_items.py ITEMS OUT --model NAME --base-url URL

ITEMS is a file of items or a folder of them; `-` stands for those that ship. OUT is a new file: the
same items in the same order, with the labels that a model gives at temperature 0. An item is
written as soon as it is labelled. If OUT holds the first of the items already, as after an
interruption, the rest is appended; nothing that was written changes. An item whose reply cannot be
read is written without labels and counted.

Source: reference SPEC of FirmBench, section 2.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import msgspec
from attrs import evolve
from convert_firmbench import Fault, line_of
from rich.progress import track

from desim.errors import PolicyFailed, UsageError
from models.reasoning.item import Item, from_row, read, shipped
from policies.llm.router.labels import bucket_of, labelled
from policies.llm.wires.calling import Calling
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.wire import Complete


def with_labels(item: Item, complete: Complete) -> Item:
    """Return an item with the labels that a model gives to it, whatever labels it had."""
    parts = item.task, item.question, item.context, item.options, item.program
    label = labelled(complete, *parts)
    return evolve(item, capability=label.capability, difficulty=label.score)


def resumed(file: Path, items: Sequence[Item]) -> list[Item]:
    """Return the items that a file holds already; a last line that was cut is taken off.

    Raises:
        Fault: The file holds something else than the first of the items with labels.
    """
    if not file.exists():
        return []
    lines = file.read_bytes().splitlines(keepends=True)
    whole = [line for line in lines if line.endswith(b"\n")]
    found = [_item(line, f"{file}, line {number}") for number, line in enumerate(whole, 1)]
    if [*map(_unlabelled, found)] != [*map(_unlabelled, items[: len(found)])]:
        raise Fault(f"{file} exists and holds other items; choose another name or remove it")
    # A cut line is the beginning of the next item's line; another program wrote any other text.
    if lines != whole and not _begins(lines[-1], items[len(found) : len(found) + 1]):
        raise Fault(f"{file} ends with something else than an item; remove it or another name")
    os.truncate(file, sum(map(len, whole)))
    return found


def _unlabelled(item: Item) -> Item:
    return evolve(item, capability="", difficulty=None)


def _item(line: bytes, place: str) -> Item:
    try:
        return from_row(msgspec.json.decode(line))
    except (AttributeError, TypeError, ValueError, RecursionError):
        raise Fault(f"{place}: the file exists and this line is no item; it is kept") from None


def _begins(rest: bytes, following: Sequence[Item]) -> bool:
    """Return whether a cut line is the beginning of the item that follows, before its labels."""
    whole = b"".join(line_of(_unlabelled(each)) for each in following)
    common = min(len(rest), whole.rfind(b"}"))
    return bool(whole) and rest[:common] == whole[:common]


def report(items: Iterable[Item], given: Iterable[Item]) -> list[str]:
    """Return how many items have which labels, and how many of these are those given before."""
    pairs = list(zip(items, given, strict=True))
    cells = Counter(_cell(item) for item, _ in pairs)
    lines = [f"{count:6,}  {name}" for name, count in sorted(cells.items())]
    before = [(item, old) for item, old in pairs if old.capability]
    if before:
        same = sum(item.capability == old.capability for item, old in before)
        cell = sum(_cell(item) == _cell(old) for item, old in before)
        lines.append(
            f"of {len(before):,} labelled before, {same:,} have the same capability and {cell:,} "
            "also the same bucket"
        )
    return lines


def _cell(item: Item) -> str:
    """Return the capability and the bucket of an item."""
    if not item.capability:
        return "without labels"
    known = item.difficulty is not None
    bucket = bucket_of(item.capability, item.difficulty or 0.0) if known else None
    return f"{item.capability}, {bucket}" if bucket else item.capability


def _complete(model: str, base_url: str, key_env: str) -> Complete:
    try:
        endpoint = Endpoint.of(model, base_url, key_env)
    except UsageError as fault:
        raise Fault(str(fault)) from None
    return Calling(endpoint, endpoint.name)


@click.command()
@click.argument("items", type=click.Path(allow_dash=True))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--model", required=True, help="The language model's name at the endpoint.")
@click.option("--base-url", default="", help="The endpoint, http://HOST:PORT/v1.")
@click.option("--key-env", default="OPENAI_API_KEY", show_default=True, help="Holds the key.")
def main(items: str, out: Path, model: str, base_url: str, key_env: str) -> None:
    """Write ITEMS with labels to OUT, and print how many have which."""
    complete = _complete(model, base_url, key_env)
    try:
        given = shipped() if items == "-" else read(items)
    except ValueError as fault:
        raise Fault(str(fault)) from None
    done = resumed(out, given)
    rest = given[len(done) :]
    try:
        with out.open("ab") as lines:
            for item in track(rest, "items", disable=not sys.stderr.isatty()):
                done.append(with_labels(item, complete))
                lines.write(line_of(done[-1]))
                lines.flush()
    except OSError as fault:
        raise Fault(f"cannot write {out}: {fault.strerror}") from None
    except PolicyFailed as fault:
        left = len(given) - len(done)
        raise click.ClickException(f"{fault}; the same command labels the other {left:,}") from None
    print("\n".join(report(done, given)))


if __name__ == "__main__":
    main()
