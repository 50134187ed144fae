"""The part of a report on records with statements, ledgers and tables at the end of the episode."""

import contextlib
import csv
import io
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from desim.core.model import Model, statements_of
from desim.core.reported import Rows, ledgers_of
from desim.faults import RAISED, fault_text
from desim.reports.page import Folded, Given, cleaned
from desim.reports.record.record_read import ReadRecord
from desim.show.labels import NOTHING, label_text, number_text, value_text, words_text
from desim.show.table import Table

#: Lines and columns of a table, and tables of a record.
_MOST_LINES, _MOST_COLUMNS, _MOST_TABLES = 100, 24, 40

#: The form in which ledgers give tables.
_FORM = "csv"

#: A sum of money in a ledger's table, and units with decimals or as a fraction: "2.5", "1/3".
_SUM = re.compile(r"-?\d{1,40}\.\d{1,8}")
_UNITS = re.compile(r"-?\d{1,300}[./]\d{1,300}")

_DIGITS = frozenset("0123456789.,-+% ")


def statements(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield the statements of each record, the tables of its ledgers, and those of its roles."""
    for one in each:
        model, state = one.replayed.model, one.replayed.state
        if model is None or state is None:
            continue
        if len(each) > 1:
            yield f"{one.name}:"
        try:
            found = [*_tables(model, state)]
        except RAISED as fault:  # in the middle of an episode, for which no statement is promised
            yield f"The tables could not be made: {fault_text(fault)}"
            continue
        yield from found[:_MOST_TABLES]
        if len(found) > _MOST_TABLES:
            yield f"{len(found) - _MOST_TABLES:,} further tables are left out."


def _tables(model: Model[Any], state: Any) -> Iterator[Given]:
    """Yield statements, ledgers, and what roles may look up, each table once."""
    shown: list[Rows] = []
    for name, rows in statements_of(model, state).items():
        shown.append(rows)
        yield Folded(f"Statement: {label_text(name)}", _table(rows))
    yield from _ledgers(model, state)
    if model.tables is None:
        return
    for role in model.default_roles:
        for name, rows in model.tables(state, role).items():
            if rows and rows not in shown:
                shown.append(rows)
                yield Folded(f"{label_text(name)} of {role} ({len(rows):,} lines)", _table(rows))


def _ledgers(model: Model[Any], state: Any) -> Iterator[Given]:
    """Yield the tables of ledgers; of one too long to be read, how long it is."""
    ledgers = ledgers_of(state)
    for number, ledger in enumerate(ledgers, 1):
        if _FORM not in getattr(ledger, "export_forms", ()):
            continue
        whose = ledger.name or (f"ledger {number}" if len(ledgers) > 1 else "ledger")
        for file, text in ledger.export(_FORM, model.time.date).items():
            head, *lines = csv.reader(io.StringIO(text, newline=""))
            name = f"{label_text(file.removesuffix(f'.{_FORM}'))} of {whose}"
            if len(lines) > _MOST_LINES:
                yield f"{name}: {len(lines):,} lines, which desim export RECORD writes."
            elif lines:
                rows = [dict(zip(head, map(_grouped, line), strict=False)) for line in lines]
                yield Folded(f"{name} ({len(lines):,} lines)", _table(rows))


def _grouped(cell: str) -> str:
    """Return a number with separated thousands; the number of an account has no decimals.

    Units with many decimals are rounded: `desim export` writes them exactly.
    """
    if _SUM.fullmatch(cell):
        return f"{Decimal(cell):,}"
    with contextlib.suppress(ZeroDivisionError, OverflowError):
        return number_text(float(Fraction(cell))) if _UNITS.fullmatch(cell) else cell
    return cell


def _table(rows: Rows) -> Table:
    """Return rows as a table; columns are those of all rows, in the order of their appearance."""
    names = list(dict.fromkeys(column for row in rows for column in row))
    columns = names[:_MOST_COLUMNS]
    more = len(names) - len(columns)
    lines = [[value_text(row.get(column)) for column in columns] for row in rows]
    return cleaned(
        (words_text(str(column)) for column in columns),
        lines,
        left=[at for at, _ in enumerate(columns) if not _is_number(line[at] for line in lines)],
        notes=[f"{more:,} further columns are left out"] if more else [],
        most=_MOST_LINES,
    )


def _is_number(cells: Iterator[str]) -> bool:
    return all(cell == NOTHING or set(cell) <= _DIGITS for cell in cells)
