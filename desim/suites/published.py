"""Published numbers beside ours: cells of a data file, found by table, row and column.

A file holds `tables`, each with `rows` of a `label` and `values` by column; a value has what was
`printed`. Entries are rows of a table, or its columns. The folder is the one that the suite names,
otherwise `FIGURES`. A plan to print has the numbers that were found when it was played.
"""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from desim.suites.suite_plan import Plan, PlannedWorld

#: The figures of the reproduced papers, in the wheel and in a checkout.
FIGURES = Path(__file__).resolve().parents[2] / "models" / "published"


def published_text(plan: Plan, world: PlannedWorld, entry: str, column: str) -> str:
    """Return the published number of an entry as text; empty if it or the data file is missing.

    Args:
        plan: The suite.
        world: One of its worlds.
        entry: The entry's name in the suite.
        column: See `SuiteColumn.published`; the name of a row if the entries are columns.
    """
    if plan.published is not None:
        return plan.published.get((world.name, entry, column), "")
    sheet, given = world.table.published, plan.entries[entry].table.published
    if sheet is None or not column:
        return ""
    table, _, name = column.rpartition("/")
    rows = _rows(_folder(plan) / sheet.file, table or sheet.table)
    for label in [given] if isinstance(given, str) else given:
        places = [(sheet.row, label)] if sheet.row else [(label, name), (name, label)]
        for row, key in places:
            if isinstance(cell := rows.get(row, {}).get(key), dict):
                printed = cell.get("printed") or cell.get("value")
                return "" if printed is None else str(printed)
    return ""


def _folder(plan: Plan) -> Path:
    named = plan.suite.reference
    return plan.path.resolve().parent / named if named else FIGURES


@cache
def _rows(file: Path, table: str) -> dict[str, dict[str, Any]]:
    """Return the cells of a table by row and column; empty if the file is not as expected."""
    try:
        data = msgspec.json.decode(file.read_bytes())
        return {row["label"]: row["values"] for row in data["tables"][table]["rows"]}
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return {}
