"""The results of a world of a suite as a table."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from desim.core.roles import knowledge_legend, knowledge_order, with_knowledge
from desim.episodes.usage import MOST_DEFAULTS
from desim.rows.estimate_notes import DEFAULTS_MEANS, estimate_notes, missing_note
from desim.show.estimates import ends_cell
from desim.show.labels import estimate_text, number_text
from desim.show.table import Printed, Table
from desim.statistics.variance import MOST_RUNS
from desim.studies.sample_size import SampleSize
from desim.suites.results import ResultCell, SuiteLine, sizes_needed
from desim.suites.suite_seeds import listed

#: A block of columns: a head, and one cell for each line.
_Block = list[tuple[str, list[Any]]]

_TRAINING = "training: episodes that were only learned from; they are in no mean."
_NOT_PLAYED = (
    f"not played: episodes with more than {MOST_DEFAULTS:.0%} defaults of a role; in no mean."
)


def result_table(world: str, lines: Sequence[SuiteLine]) -> Table:
    """Return the table of a world: its entries with the means of their columns.

    Entries that know less come first.

    Args:
        world: Its name.
        lines: Its entries.
    """
    lines = by_knowledge(lines)
    counts: _Block = [("n", [line.n for line in lines])]
    for head in ("cut", "training", "not played", "failed", "open"):
        each = [getattr(line, head.replace(" ", "_")) for line in lines]
        if any(each) or head == "cut":
            counts.append((head, each))
    if any(line.defaults is not None for line in lines):
        counts.append(("defaults", [_share(line.defaults) for line in lines]))
    figures = map(_block, zip(*(line.cells for line in lines), strict=True))
    blocks = [
        [("entry", [with_knowledge(line.entry, line.knows) for line in lines])],
        counts,
        *filter(None, figures),
    ]
    heads, columns = zip(*(column for block in blocks for column in block), strict=True)
    return Table(
        heads,
        zip(*columns, strict=True),
        title=world,
        notes=_notes(lines),
        legend=_legend(lines),
        breaks=accumulate(map(len, blocks[:-1])),
    )


def by_knowledge(lines: Sequence[SuiteLine]) -> list[SuiteLine]:
    """Return the lines of a table in its order: those that know less first."""
    return sorted(lines, key=lambda line: knowledge_order(line.knows))


def _legend(lines: Sequence[SuiteLine]) -> Iterator[str]:
    """Yield the sentences on what the heads of counts and shares mean."""
    if any(line.training for line in lines):
        yield _TRAINING
    if any(line.defaults for line in lines):
        yield DEFAULTS_MEANS
    if any(line.not_played for line in lines):
        yield _NOT_PLAYED
    yield from _parts_legend(lines)
    yield from knowledge_legend(line.knows for line in lines)


def _parts_legend(lines: Sequence[SuiteLine]) -> Iterator[str]:
    """Yield the sentence on the columns that are parts of the column `tokens`."""
    own = ("cost", "tokens", "minutes")
    heads = [cell.head for cell in lines[0].cells if cell.used and cell.head not in own]
    if heads:
        yield f"{', '.join(heads)}: parts of tokens, read and written; reasoning is all written."


def _pooled_note(lines: Sequence[SuiteLine]) -> Iterator[str]:
    """Yield the worlds over which a table averages, and who has episodes in fewer of them."""
    worlds = dict.fromkeys(world for line in lines for world in line.pooled)
    if worlds:
        fewer = (
            f"; {line.entry}: {', '.join(line.pooled) or 'none'} alone"
            for line in lines
            if len(line.pooled) < len(worlds)
        )
        yield f"Over the episodes of {', '.join(worlds)} together{''.join(fewer)}."


def _notes(lines: Sequence[SuiteLine]) -> Iterator[str]:
    """Yield the sentences on lines that cannot be compared, what intervals count, seeds needed."""
    tuned = (
        f"{line.entry} was tuned on seeds of the report: {listed(line.tuned_on)}."
        for line in lines
        if line.tuned_on
    )
    if sentence := " ".join(tuned):
        yield sentence
    yield from _pooled_note(lines)
    cells = [
        (line, cell) for line in lines for cell in line.cells if cell.estimate or not cell.used
    ]
    lacking = {f"{line.entry} in {cell.head}": (cell.missing, line.n) for line, cell in cells}
    yield from missing_note(lacking)
    yield from estimate_notes(line.main.sample for line in lines)
    sizes = sizes_needed(lines)
    if sizes:
        best = next(iter(sizes.values()))
        needed = "; ".join(f"{entry} {_needed(size)}" for entry, size in sizes.items())
        yield f"To tell from {best.best} by {best.column} (95 %, power 0.8): {needed}."


def _share(share: float | None) -> Printed | None:
    return None if share is None else Printed(share, f"{share:.0%}")


def _short(value: float, digits: int = 4) -> str:
    return number_text(float(f"{value:.{digits}g}"))


def _needed(size: SampleSize) -> str:
    if size.difference == 0:
        return "no difference"
    number = f"more than {MOST_RUNS:,}" if size.needed is None else f"{size.needed:,}"
    return f"{number} {size.unit} (played {size.played:,})"


def _block(column: Sequence[ResultCell]) -> _Block:
    """Return a column, its interval and published numbers; none where all is empty."""
    if not any(cell.estimate or cell.published for cell in column):
        return []
    head = column[0].head
    if column[0].used:
        return [(head, [_used(cell) for cell in column])]
    spread = " ± sd" if column[0].show == "mean" else ""
    block: _Block = [(f"{head}{spread}", [_mean(cell) for cell in column])]
    if any(cell.estimate and cell.estimate.half for cell in column):
        block.append(("95 %", [_ends(cell) for cell in column]))
    if any(cell.published for cell in column):
        block.append(("published", [cell.published or None for cell in column]))
    return block


def _used(cell: ResultCell) -> Printed | None:
    """Return the mean of what episodes used: money, tokens or minutes."""
    if cell.estimate is None:
        return None
    mean = cell.estimate.mean
    if cell.head == "minutes":
        return Printed(mean, f"{mean:,.1f}")
    return Printed(mean, _short(mean) if cell.head == "cost" else f"{mean:,.0f}")


def _mean(cell: ResultCell) -> Printed | None:
    if cell.estimate is None:
        return None
    mean = cell.estimate.mean
    if cell.show != "mean":
        return Printed(mean, _short(mean))
    # Without an interval the spread says how many digits mean something.
    half = cell.estimate.half or cell.sd
    sd = f" ± {estimate_text(cell.sd, half)}" if cell.sd else ""
    return Printed(mean, estimate_text(mean, half) + sd)


def _ends(cell: ResultCell) -> Printed | None:
    return ends_cell(cell.estimate.low, cell.estimate.high) if cell.estimate else None
