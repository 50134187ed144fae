"""Tables that lay our figures beside published ones."""

from collections.abc import Sequence

from rich.table import Table

__all__ = ["pair", "table", "verdict"]


def table(*columns: str) -> Table:
    """Return an empty table: the first column is text, the others are figures."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, justify="left" if column == columns[0] else "right")
    return made


def pair(published: float, ours: float) -> str:
    """Write a published figure and ours."""
    return f"{published:,.10g} → {ours:,.10g}"


def verdict(published: Sequence[float], ours: Sequence[float]) -> str:
    """Say whether all figures are the same."""
    return "yes" if list(published) == list(ours) else "NO"
