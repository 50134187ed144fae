"""The state of every published number: rebuilt, waiting for a model, or out of reach."""

from collections import Counter
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from attrs import frozen
from published import Cell, Line, Sheet, find, numbers

SUITES = Path(__file__).parent / "suites"


@frozen
class Rebuilt:
    """A number that desim rebuilds by playing.

    Attributes:
        by: Policy and preset, or the preset whose parameter it is.
        ours: Returns our figure for a row and a column: a number or several where nothing is drawn
            (a parameter, a world without chance), a `list` with a value of each seed otherwise.
    """

    by: str
    ours: Callable[[Line, str], Any]
    name = "rebuilt"

    @property
    def note(self) -> str:
        """The policy and preset, or the preset alone, from which it is rebuilt."""
        return self.by


class Parameter(Rebuilt):
    """A number that a preset holds as a parameter: the world is the published one."""

    name = "parameter"


@frozen
class NeedsModel:
    """A number of a language model, and the suite in `experiments/suites` that runs the model."""

    suite: str | None
    name = "needs a model"

    @property
    def note(self) -> str:
        """The file that will run it, and whether it is there."""
        if self.suite is None:
            return "no suite yet"
        there = (SUITES / self.suite).exists()
        file = f"experiments/suites/{self.suite}"
        return file if there else f"no suite yet; {file} is to run it"


@frozen
class CannotBe:
    """A number that no run of desim rebuilds, and why."""

    note: str
    name = "cannot be"


Fate = Rebuilt | NeedsModel | CannotBe


@frozen
class Rule:
    """The fate of the numbers of some sheets, rows and columns: patterns, several joined by `|`."""

    sheets: str
    rows: str
    columns: str
    fate: Fate

    def covers(self, *place: str) -> bool:
        """Whether a number (sheet, row, column) is among them."""
        wanted = zip((self.sheets, self.rows, self.columns), place, strict=True)
        return all(any(fnmatchcase(name, p) for p in ps.split("|")) for ps, name in wanted)


@frozen
class Entry:
    """A published cell that holds numbers, and their fate."""

    sheet: Sheet
    line: Line
    column: str
    cell: Cell
    fate: Fate

    def ours(self) -> Any:
        """Return our figure, for the cell that a sentence repeats as for the cell itself."""
        assert isinstance(self.fate, Rebuilt)
        if self.line.same_as is None:
            return self.fate.ours(self.line, self.column)
        sheet, row, column = self.line.same_as
        return self.fate.ours(find(self.sheet.paper, sheet)[row], column)


def entries(sheet: Sheet, rules: Sequence[Rule]) -> list[Entry]:
    """Return the cells of a sheet whose numbers the rules cover; the first rule counts."""
    found = []
    for line in sheet.lines:
        for column, cell in line.cells.items():
            place = line.same_as or (sheet.key, line.label, column)
            fate = next((rule.fate for rule in rules if rule.covers(*place)), None)
            if fate is not None and numbers(cell):
                found.append(Entry(sheet, line, column, cell, fate))
    return found


def count(found: Sequence[Entry]) -> Counter[str]:
    """Return how many numbers have which fate."""
    total: Counter[str] = Counter()
    for entry in found:
        total[entry.fate.name] += len(numbers(entry.cell))
    return total
