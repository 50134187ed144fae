"""The scores of a training run: those of its folder, and those that a page prints."""

import csv
import re
from pathlib import Path

from support.paths import ROOT

Scores = list[tuple[str, int, int, int]]

PAGE = ROOT / "desim" / "docs" / "coming_from_gymnasium.md"

_ROW = re.compile(r"^\| `?([^|`]+?)`? \| (-[\d,]+) \| \[(-[\d,]+), (-[\d,]+)\] \|$", re.MULTILINE)


def run_scores(folder: Path) -> Scores:
    """Return the rounded scores and their intervals that a script has written, by name."""
    with (folder / "scores.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return sorted(
        (row["policy"], *(round(float(row[name])) for name in ("mean", "low", "high")))  # type: ignore[misc] # three of them
        for row in rows
    )


def page_scores(heading: str) -> Scores:
    """Return the table of a section of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = _ROW.findall(section)
    return sorted(
        (name, *(int(each.replace(",", "")) for each in numbers))  # type: ignore[misc] # three of them
        for name, *numbers in rows
    )
