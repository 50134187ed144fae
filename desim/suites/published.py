"""Published numbers beside ours: cells of a data file, found by table, row and column.

A file holds `tables` and `figures`, each with `rows` of a `label` and `values` by column; a value
has what was `printed`. A figure may hold `values` alone, each a row by its `id`. Entries are rows
of a table, or its columns. Files are in `models/published`: desim's, or those of one's own folder
of this name.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from desim.show.files import read_text
from desim.suites.suite_plan import Plan

#: The figures of the reproduced papers, in the wheel and in a checkout.
FIGURES = Path(__file__).resolve().parents[2] / "models" / "published"


def published_text(plan: Plan, shown: str, entry: str, column: str) -> str:
    """Return the published number of an entry as text; empty if it or the data file is missing.

    The table is that of a world or over several (*shown*); of a sheet whose columns are entries,
    *column* is the name of a row.
    """
    sheet, given = plan.shown[shown].published, plan.suite.entries[entry].published
    if sheet is None or not column:
        return ""
    labels = [given] if isinstance(given, str) else given
    other, _, name = column.rpartition("/")
    # The names of rows may hold the sign that parts a table from its column.
    for table, key in ((sheet.table, column), (other or sheet.table, name)):
        # The name alone, as a stranger's suite may name any file.
        rows = _rows(Path(sheet.file).name, table)
        for label in labels:
            for row, place in [(label, key), (key, label)]:
                if isinstance(cell := rows.get(row, {}).get(place), dict):
                    printed = cell.get("printed") or cell.get("value")
                    return "" if printed is None else str(printed)
    return ""


def _rows(file: str, table: str) -> dict[str, dict[str, Any]]:
    folders = (Path(folder) / "published" for folder in import_module("models").__path__)
    path = next((path for folder in folders if (path := folder / file).is_file()), None)
    return _cells(path, table) if path else {}


@cache
def _cells(file: Path, table: str) -> dict[str, dict[str, Any]]:
    """Return the cells of a table by row and column; empty if the file is not as expected."""
    try:
        data = msgspec.json.decode(read_text(file))
        sheet = (data["tables"] | data.get("figures", {}))[table]
        if "values" in sheet:  # a figure
            return {one["id"]: {"value": one} for one in sheet["values"]}
        return {row["label"]: row["values"] for row in sheet["rows"]}
    except (OSError, UnicodeDecodeError, msgspec.DecodeError, KeyError, TypeError):
        return {}
