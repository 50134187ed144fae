"""Published sheets as tables, beside what desim rebuilds of them."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen
from fates import Entry, Parameter, Rebuilt, Rule, count, entries
from published import Cell, Line, Sheet
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from desim import Model
from desim.core.policy_protocols import is_informed
from desim.episodes.lineup import resolve
from desim.statistics.intervals import interval, t_quantile

#: Published columns in one printed table.
WIDEST = 8
OURS = {Rebuilt.name, Parameter.name}


def console() -> Console:
    """Return a console that is wide enough for the tables, wherever they are printed."""
    return Console(highlight=False, width=170)


def table(*columns: str) -> Table:
    """Return an empty table: the first column is text, the others are figures."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, justify="left" if column == columns[0] else "right")
    return made


def named(model: Model[Any], policy: str) -> str:
    """Return a policy's name, marked if it uses facts that its role cannot observe."""
    players = resolve(model, policy, 1).policies.values()
    informed = any(is_informed(player, model) for player in players)
    return f"{policy} (informed)" if informed else policy


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
            lie (by Student's t); of an unstated number of runs, as if it were one.
    """

    text: str
    agrees: bool


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
    return Beside(f"{found.mean:,.4g} ± {found.sd:.3g} ({found.n})", inside)


def _rounds_to(published: float, ours: float) -> bool:
    return abs(published - ours) <= _step(published) / 2 * (1 + 1e-9)


def _step(published: float) -> float:
    """Return the last decimal place of a published number; 1 for a whole one."""
    text = f"{published:.10g}"
    return 10.0 ** -len(text.partition(".")[2])


def show(out: Console, sheets: Sequence[Sheet], rules: Sequence[Rule]) -> None:
    """Print every sheet that the rules cover, what is rebuilt of it, and why the rest is not."""
    total: Counter[str] = Counter()
    agree: Counter[bool] = Counter()
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
            out.print(_ours(found, agree))
        for (name, note), mark in notes.items():
            out.print(f"{mark} {name}: {note}", markup=False)
        out.print()
    known = ", ".join(f"{number} {name}" for name, number in total.items())
    out.print(f"{total.total()} published numbers: {known}")
    out.print(f"of {agree.total()} cells beside ours {agree[True]} agree and {agree[False]} differ")


def _reasons(found: Sequence[Entry]) -> list[tuple[str, str]]:
    """Return why numbers are not rebuilt, without repetition."""
    kept = [entry.fate for entry in found if not isinstance(entry.fate, Rebuilt)]
    return list(dict.fromkeys((fate.name, fate.note) for fate in kept))


def _as_published(found: Sequence[Entry], notes: Mapping[tuple[str, str], str]) -> Iterator[Table]:
    """Yield rows as printed, a few columns at a time; a list leaves out what is rebuilt."""
    every = {entry.line.label: entry.line for entry in found}
    columns = list(dict.fromkeys(c for line in every.values() for c in _shown(line, found)))
    fates: dict[str, dict[str, None]] = {label: {} for label in every}
    for entry in found:
        mark = notes.get((entry.fate.name, entry.fate.note), "")
        fates[entry.line.label][f"{entry.fate.name} {mark}".strip()] = None
    if len(columns) == 1:
        every = {label: line for label, line in every.items() if not {*fates[label]} <= OURS}
    for first in range(0, len(columns) if every else 0, WIDEST):
        some = columns[first : first + WIDEST]
        made = table("published", *some, "desim")
        for label, line in every.items():
            texts = [line.cells[c].text if c in line.cells else "" for c in some]
            made.add_row(label, *texts, escape(", ".join(fates[label])))
        yield made


def _shown(line: Line, found: Sequence[Entry]) -> list[str]:
    """Return the columns of a row that hold something printed, or a number."""
    numeric = {entry.column for entry in found}
    return [c for c, cell in line.cells.items() if cell.printed or c in numeric]


def _ours(found: Sequence[Entry], agree: Counter[bool]) -> Table:
    """Return the rebuilt cells one below the other; counts those that agree."""
    made = table("beside ours", "figure", "published", "ours: mean ± sd (episodes)", "same", "by")
    for entry in found:
        if isinstance(entry.fate, Rebuilt):
            mine = beside(entry.cell, entry.ours(), entry.line.runs)
            agree[mine.agrees] += 1
            same = "yes" if mine.agrees else "NO"
            label, text = entry.line.label, entry.cell.text
            made.add_row(label, entry.column, text, mine.text, same, entry.fate.by)
    return made
