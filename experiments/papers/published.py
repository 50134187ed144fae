"""The published numbers: every table, curve and sentence of the papers, read from the data files.

A number that a paper prints is written in these files and nowhere else; they ship with the models.
Traces and specifications are in `$DESIM_REFERENCE`, otherwise in `../shared/reference` beside the
checkout.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click
from attrs import field, frozen

from desim.suites.published import FIGURES

#: The data files, by the name that addresses use.
PAPERS = ("enterprise_arena", "firmbench", "yc_bench")


class Absent(click.ClickException):
    """Data that a command needs are not there; it exits with 2."""

    exit_code = 2


@frozen
class Cell:
    """A published number or text.

    Attributes:
        value: A number, a list of numbers, a text, or None.
        printed: As the source prints it; None for a paraphrase or a value measured in a figure.
        spread: The number after a plus-minus sign in the source, or None.
    """

    value: Any
    printed: str | None = None
    spread: float | None = None

    @property
    def text(self) -> str:
        """The number as printed; one that is not printed with up to eight digits."""
        if self.printed is not None or self.value is None:
            return self.printed or ""
        return f"{self.value:.8g}" if isinstance(self.value, float) else str(self.value)


@frozen
class Line:
    """A row of a table.

    Attributes:
        label: Its name.
        cells: By column.
        runs: Number of runs that the source states, or None.
        same_as: Sheet, row and column that a sentence repeats, or None.
    """

    label: str
    cells: Mapping[str, Cell]
    runs: int | None = None
    same_as: tuple[str, str, str] | None = None


@frozen
class Sheet:
    """A published table, figure, list of parameters or list of sentences.

    Attributes:
        paper: The data file, without its ending.
        key: Its name in the data file: "table_2", "figure_3a", "curves", "text", ...
        title: What it shows.
        lines: Its rows.
        units: By column; none for text.
    """

    paper: str
    key: str
    title: str
    lines: tuple[Line, ...]
    units: Mapping[str, str] = field(factory=dict)


def reference(name: str = "") -> Path:
    """Return the path of a reference file.

    Raises:
        Absent: It is not there.
    """
    beside = Path(__file__).resolve().parents[3] / "shared" / "reference"
    path = Path(os.environ.get("DESIM_REFERENCE") or beside) / name
    if not path.exists():
        raise Absent(
            f"no reference data at {path}; set DESIM_REFERENCE to the folder that holds it"
        )
    return path


@cache
def read(paper: str) -> tuple[Sheet, ...]:
    """Return all sheets of a paper, in the order of its data file."""
    data = json.loads((FIGURES / f"{paper}.json").read_text())
    return tuple(sheet for sheet in _sheets(paper, data) if sheet.lines)


def find(paper: str, key: str) -> Mapping[str, Line]:
    """Return the rows of a sheet by label."""
    sheet = next(sheet for sheet in read(paper) if sheet.key == key)
    return {line.label: line for line in sheet.lines}


def numbers(cell: Cell) -> list[float]:
    """Return the numbers of a cell, its spread included; a text or a yes holds none."""
    return [*_flat(cell.value), *_flat(cell.spread)]


def _flat(value: Any) -> list[float]:
    if isinstance(value, list):
        return [number for each in value for number in _flat(each)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def _sheets(paper: str, data: Mapping[str, Any]) -> Iterator[Sheet]:
    for key, table in (data["tables"] | data["figures"]).items():
        rows = [_row(row) for row in table.get("rows", ())]
        rows += [_single(value) for value in table.get("values", ())]
        rows += [Line(k, {"count": Cell(v)}) for k, v in table.get("counts", {}).items()]
        if "market_share_line" in table:
            rows.append(Line("market share line", {"mean": _cell(table["market_share_line"])}))
        units = {column["name"]: column["unit"] or "" for column in table.get("columns", ())}
        yield Sheet(paper, key, table["caption"], tuple(rows), units)
    if board := data.get("leaderboard"):
        series = [*board["series"].values(), *board["removed_series"].values()]
        curves = [_curve(each, board["months"]) for each in series]
        units = dict.fromkeys(board["months"], "USD")
        yield Sheet(paper, "curves", "mean funds at the end of each month", tuple(curves), units)
    given = data.get("parameters", {})
    groups = given if isinstance(given, dict) else {"all": given}
    for group, values in groups.items():
        title = f"parameters, {group.replace('_', ' ')}"
        yield Sheet(paper, f"parameters_{group}", title, tuple(map(_single, values)))
    sentences = tuple(map(_single, data["text_statements"]))
    yield Sheet(paper, "text", "numbers in the text", sentences)


def _row(row: Mapping[str, Any]) -> Line:
    return Line(row["label"], {k: _cell(v) for k, v in row["values"].items()}, row.get("n"))


def _single(value: Mapping[str, Any]) -> Line:
    same = value.get("table_ref")
    place = (same["table"], same["row"], same["column"]) if same else None
    return Line(value["id"], {"value": _cell(value)}, same_as=place)


def _curve(series: Mapping[str, Any], months: list[str]) -> Line:
    cells = {month: Cell(v) for month, v in zip(months, series["values"], strict=True)}
    return Line(series["display_name"], cells, series.get("n"))


def _cell(given: Mapping[str, Any] | None) -> Cell:
    given = given or {}
    return Cell(given.get("value"), given.get("printed"), given.get("plus_minus"))


def markdown(name: str, heading: str, which: int = 0) -> list[list[str]]:
    """Return the rows of a Markdown table below a heading of a reference file, head first."""
    text = reference(name).read_text()
    start = re.search(rf"^#+ .*{re.escape(heading)}.*$", text, re.MULTILINE)
    assert start is not None
    found = re.findall(r"(?:^\|.*\n)+", text[start.end() :], re.MULTILINE)[which]
    rows = [[cell.strip(" *") for cell in line[1:-1].split("|")] for line in found.splitlines()]
    return [rows[0], *rows[2:]]


def number(text: str) -> float:
    """Return a number as a reference file prints it."""
    return float(text.replace(",", ""))
