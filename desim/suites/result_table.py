"""The results of a world as tables for people, no wider than the console."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from desim.episodes.usage import MOST_DEFAULTS
from desim.jobs.rows.comparison_table import UNKNOWN, rich_table
from desim.show.labels import estimate_text, number_text
from desim.statistics.variance import MOST_RUNS
from desim.suites.apart import Apart, apart_from_best
from desim.suites.results import Cell, ResultLine

if TYPE_CHECKING:  # commands start fast
    from rich.table import Table

__all__ = ["result_notes", "result_tables"]

#: Spaces between two columns.
_GAP = 2

#: A block of columns: a head, and one text for each line.
_Block = list[tuple[str, list[str]]]


def result_tables(world: str, lines: Sequence[ResultLine], width: int) -> "Iterator[Table]":
    """Yield the tables of a world, each with the names of the entries.

    Args:
        world: Its name.
        lines: Its entries.
        width: The columns of the console.
    """
    names = ("entry", [line.entry for line in lines])
    first: _Block = [("n", [f"{line.n:,}" for line in lines])]
    for head in ("cut", "training", "not played", "failed", "open"):
        counts = [getattr(line, head.replace(" ", "_")) for line in lines]
        if any(counts) or head == "cut":
            first.append((head, [f"{count:,}" for count in counts]))
    if any(line.defaults is not None for line in lines):
        first.append(("defaults", [_share(line.defaults) for line in lines]))
    cells = list(zip(*(line.cells for line in lines), strict=True))
    blocks = [first, *(_block(column) for column in cells)]
    blocks = [block for block in blocks if block]
    title = world
    for columns in _fitted(blocks, width - _width(names)):
        heads = [names, *columns]
        rows = zip(*(texts for _, texts in heads), strict=True)
        yield rich_table([head for head, _ in heads], rows, {0: _width(names)}, title)
        title = ""


def result_notes(lines: Sequence[ResultLine]) -> Iterator[str]:
    """Yield the lines under the table of a world: what was left out, variances, seeds needed.

    Args:
        lines: Its entries.
    """
    if any(line.training for line in lines):
        yield "training: episodes that were only learned from; they are in no mean."
    if any(line.defaults for line in lines):
        yield (
            "defaults: share of a language model's decisions that took the default action, as no "
            "reply came or none could be read."
        )
    if any(line.not_played for line in lines):
        yield f"not played: episodes with more than {MOST_DEFAULTS:.0%} defaults; in no mean."
    firsts = [(line.entry, line.main) for line in lines]
    parts = [f"{entry} {_parts(cell)}" for entry, cell in firsts if cell.parts]
    if parts:
        yield f"Variance of {firsts[0][1].head} between seeds + within a seed: {'; '.join(parts)}."
    apart = apart_from_best(lines)
    if apart:
        best = next(iter(apart.values()))
        needed = "; ".join(f"{entry} {_needed(one)}" for entry, one in apart.items())
        yield f"To tell from {best.best} by {best.column} (95 %, power 0.8): {needed}."


def _share(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share:.0%}"


def _parts(cell: Cell) -> str:
    assert cell.parts is not None
    between = "0 (estimate negative)" if cell.parts.negative else _short(cell.parts.between, 3)
    return f"{between} + {_short(cell.parts.within, 3)}"


def _short(value: float, digits: int = 4) -> str:
    return number_text(float(f"{value:.{digits}g}"))


def _needed(apart: Apart) -> str:
    if apart.difference == 0:
        return "no difference"
    number = f"more than {MOST_RUNS:,}" if apart.needed is None else f"{apart.needed:,}"
    return f"{number} {apart.unit} (played {apart.played:,})"


def _block(column: Sequence[Cell]) -> _Block:
    """Return the texts of a column, its interval and published numbers; none where all is empty."""
    if not any(cell.estimate or cell.published for cell in column):
        return []
    head = column[0].head
    if column[0].used:
        return [(head, [_used(cell) for cell in column])]
    spread = " ± sd" if column[0].show == "mean" else ""
    block = [(f"{head}{spread}", [_mean(cell) for cell in column])]
    if any(cell.estimate and cell.estimate.half for cell in column):
        block.append(("95 %", [_ends(cell) for cell in column]))
    if any(cell.published for cell in column):
        block.append(("published", [cell.published or UNKNOWN for cell in column]))
    return block


def _used(cell: Cell) -> str:
    """Return the mean of what episodes used: money, tokens or minutes."""
    if cell.estimate is None:
        return UNKNOWN
    mean = cell.estimate.mean
    return {"tokens": f"{mean:,.0f}", "minutes": f"{mean:,.1f}"}.get(cell.head, _short(mean))


def _mean(cell: Cell) -> str:
    if cell.estimate is None:
        return UNKNOWN
    if cell.show != "mean":
        return _short(cell.estimate.mean)
    # Without an interval the spread says how many digits mean something.
    half = cell.estimate.half or cell.sd
    sd = f" ± {estimate_text(cell.sd, half)}" if cell.sd else ""
    return estimate_text(cell.estimate.mean, half) + sd


def _ends(cell: Cell) -> str:
    estimate = cell.estimate
    if estimate is None or estimate.low is None or estimate.high is None:
        return UNKNOWN
    low, high = (estimate_text(end, estimate.half) for end in (estimate.low, estimate.high))
    return f"[{low}, {high}]"


def _fitted(blocks: Sequence[_Block], width: int) -> Iterator[_Block]:
    """Yield the columns of as many blocks as fit into a width, at least one block each time."""
    row: _Block = []
    for block in blocks:
        if row and sum(map(_width, [*row, *block])) > width:
            yield row
            row = []
        row = [*row, *block]
    yield row


def _width(column: tuple[str, list[str]]) -> int:
    head, texts = column
    return max(map(len, [head, *texts])) + _GAP
