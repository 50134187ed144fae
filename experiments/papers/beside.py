"""Published sheets as tables, with the fate of every number and what desim rebuilds of it.

A number is rebuilt by playing, is a parameter of a preset, waits for a language model, or cannot be
rebuilt.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
from attrs import frozen
from published import Absent, Cell, Line, Sheet, find, numbers
from rich.console import Console

from desim import Model
from desim.core.roles import with_knowledge
from desim.episodes.lineup import lineup_knows
from desim.show.table import Table
from desim.statistics.intervals import interval, t_quantile
from desim.studies.sweep import read_seeds
from desim.suites.suite_file import read_suite

#: Half a range of means, as a share of the published value, from which agreement says nothing.
_VAGUE = 0.2

#: By whether a figure agrees, in the order printed: the text of its cell, and of the cells counted.
_SAME = {
    False: ("NO", "differ"),
    None: ("cannot be told", "cannot be told"),
    True: ("yes", "agree"),
}

#: Published columns in one printed table.
WIDEST = 8

SUITES = Path(__file__).parents[1] / "suites"


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
        return self.by


class Parameter(Rebuilt):
    """A number that a preset holds as a parameter: the world is the published one."""

    name = "parameter"


def suite_size(file: str) -> Parameter:
    """Return the fate of the sizes of an experiment that its suite in `experiments/suites` has."""

    def size(line: Line, _: str) -> int:
        suite = read_suite(SUITES / file)
        models = [entry for entry in suite.entries.values() if entry.model]
        seeds = len(read_seeds(suite.seeds) if isinstance(suite.seeds, str) else suite.seeds)
        own = {
            "models": len(models),
            "seeds": seeds,
            "rounds": seeds,
            "runs": seeds * len(models),
            "iterations": max(world.episodes for world in suite.worlds.values()),
            # The router chooses among them.
            "base_methods": len({entry.method for entry in models if entry.method} - {"router"}),
        }
        return own[line.label]

    return Parameter(f"experiments/suites/{file}", size)


@frozen
class NeedsModel:
    """A number of a language model, and the suite in `experiments/suites` that runs the model."""

    suite: str
    name = "needs a model"

    @property
    def note(self) -> str:
        return f"experiments/suites/{self.suite}"


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


_OURS = {Rebuilt.name, Parameter.name}


def named(model: Model[Any], policy: str) -> str:
    """Return a policy's name, marked if it knows more than its role observes."""
    return with_knowledge(policy, lineup_knows(model, policy))


def pair(published: float, ours: float) -> str:
    """Return a published figure and ours as text."""
    return f"{published:,.10g} → {ours:,.10g}"


def verdict(published: Sequence[float], ours: Sequence[float]) -> str:
    """Return "yes" if all figures are equal, else "NO"."""
    return "yes" if list(published) == list(ours) else "NO"


@frozen
class Beside:
    """Our figure for a published one.

    Attributes:
        text: Our number, or mean ± standard deviation and the number of episodes.
        agrees: Whether it is the published number. An exact figure is rounded as the published one
            is. The published mean of n runs must lie where 95 % of the means of n of our episodes
            lie (by Student's t); of an unstated number of runs, as if it were one. None where it
            does but could hardly fail to: half that range is above a fifth of the published value.
    """

    text: str
    agrees: bool | None


def beside(cell: Cell, ours: Any, runs: int | None = None) -> Beside:
    """Compare a published cell with our figure: a number, several, or a list of episodes."""
    if not isinstance(ours, list):
        published = cell.value if isinstance(cell.value, list) else [cell.value]
        mine = list(ours) if isinstance(ours, tuple) else [ours]
        same = all(map(_rounds_to, published, mine)) and len(published) == len(mine)
        return Beside(", ".join(f"{number:,.10g}" for number in mine), same)
    if not ours:
        return Beside("no episode has it", agrees=False)
    found = interval(ours)
    if found.sd is None:
        return Beside(f"{found.mean:,.4g} (1)", _rounds_to(cell.value, found.mean))
    reach = t_quantile(0.975, found.n - 1) * found.sd * math.sqrt(1 / (runs or 1) + 1 / found.n)
    inside = abs(found.mean - cell.value) <= reach + _step(cell.value) / 2
    vague = inside and reach > _VAGUE * abs(cell.value)
    return Beside(f"{found.mean:,.4g} ± {found.sd:.3g} ({found.n})", None if vague else inside)


def _rounds_to(published: float, ours: float) -> bool:
    return abs(published - ours) <= _step(published) / 2 * (1 + 1e-9)


def _step(published: float) -> float:
    """Return the last decimal place of a published number; 1 for a whole one."""
    text = f"{published:.10g}"
    return 10.0 ** -len(text.partition(".")[2])


def show(out: Console, sheets: Sequence[Sheet], rules: Sequence[Rule]) -> None:
    """Print every sheet that the rules cover, what is rebuilt of it, and why the rest is not."""
    total: Counter[str] = Counter()
    compared: Counter[tuple[str, bool | None]] = Counter()
    for sheet in sheets:
        found = entries(sheet, rules)
        if not found:
            continue
        total += count(found)
        out.print(f"[bold]{sheet.paper} {sheet.key}[/bold]: {sheet.title}")
        notes = {note: f"[{n}]" for n, note in enumerate(_reasons(found), 1)}
        for part in _as_published(found, notes):
            out.print(part)
        if any(isinstance(entry.fate, Rebuilt) for entry in found):
            out.print(_ours(found, compared))
        for (name, note), mark in notes.items():
            out.print(f"{mark} {name}: {note}", markup=False)
        out.print()
    known = ", ".join(f"{number} {name}" for name, number in total.items())
    out.print(f"{total.total()} published numbers: {known}")
    out.print(
        Table(
            ["cells compared", "parameters", "figures rebuilt"],
            [
                [counted, *(compared[fate.name, agrees] for fate in (Parameter, Rebuilt))]
                for agrees, (_, counted) in _SAME.items()
            ],
        )
    )


def show_reference(out: Console, *tables: Callable[[], Table]) -> None:
    """Print tables made of reference data, or one sentence on stderr where the data are absent."""
    try:
        for made in tables:
            out.print(made())
    except Absent as fault:
        click.echo(f"tables of the reference are left out: {fault.message}", err=True)


def _reasons(found: Sequence[Entry]) -> list[tuple[str, str]]:
    """Return why numbers are not rebuilt, without repetition."""
    kept = [entry.fate for entry in found if not isinstance(entry.fate, Rebuilt)]
    return list(dict.fromkeys((fate.name, fate.note) for fate in kept))


def _as_published(found: Sequence[Entry], notes: Mapping[tuple[str, str], str]) -> Iterator[Table]:
    """Yield rows as printed, a few columns at a time; a list leaves out what is rebuilt."""
    every = {entry.line.label: entry.line for entry in found}
    columns = list(dict.fromkeys(c for line in every.values() for c in _columns_of(line, found)))
    fates: dict[str, dict[str, None]] = {label: {} for label in every}
    for entry in found:
        mark = notes.get((entry.fate.name, entry.fate.note), "")
        fates[entry.line.label][f"{entry.fate.name} {mark}".strip()] = None
    if len(columns) == 1:
        every = {label: line for label, line in every.items() if not {*fates[label]} <= _OURS}
    for first in range(0, len(columns) if every else 0, WIDEST):
        some = columns[first : first + WIDEST]
        yield Table(
            ["published", *some, "desim"],
            [
                [label, *_printed(line, some), ", ".join(fates[label])]
                for label, line in every.items()
            ],
        )


def _printed(line: Line, columns: Sequence[str]) -> list[str]:
    return [line.cells[c].text if c in line.cells else "" for c in columns]


def _columns_of(line: Line, found: Sequence[Entry]) -> list[str]:
    """Return the columns of a row that hold something printed, or a number."""
    numeric = {entry.column for entry in found}
    return [c for c, cell in line.cells.items() if cell.printed or c in numeric]


def _ours(found: Sequence[Entry], compared: Counter[tuple[str, bool | None]]) -> Table:
    """Return the rebuilt cells, those that differ first; counts cells by fate and agreement."""
    lines: dict[bool | None, list[list[str]]] = {agrees: [] for agrees in _SAME}
    for entry in found:
        if isinstance(entry.fate, Rebuilt):
            mine = beside(entry.cell, entry.ours(), entry.line.runs)
            compared[entry.fate.name, mine.agrees] += 1
            same, _ = _SAME[mine.agrees]
            place = entry.line.label, entry.column, entry.cell.text
            lines[mine.agrees].append([*place, mine.text, same, entry.fate.by])
    heads = ("beside ours", "figure", "published", "ours: mean ± sd (episodes)", "same", "by")
    return Table(heads, [line for some in lines.values() for line in some])
