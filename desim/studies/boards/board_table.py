"""A board as a table; policies that know as much are under one heading."""

from collections.abc import Iterator, Sequence
from typing import Any

from desim.core.roles import KNOWLEDGE, Knowledge, knowledge_legend
from desim.jobs.rows.estimate_notes import estimate_legend, estimate_notes
from desim.show.estimates import HALF, PRECISION, half_cells, seeds_cell
from desim.show.labels import NOTHING
from desim.show.table import Table
from desim.studies.boards.ranking import BoardLine

_HEADS = ("policy", "rank", "n", "mean score", HALF, PRECISION, "difference", HALF, "ended")

_RANK = "rank: 1 more than the number of policies that are known to be better"
_APART = ", among those that know as much"
_JOINED = "a = b: the same scores, ends and ledgers on every seed"
_FIXED = f"n = 1: the episode is the same on every seed, so its score is exact ({NOTHING})"


def board_table(
    title: str, lines: Sequence[BoardLine], reference: str, seeds: int, known: str = ""
) -> Table:
    """Return the table of a board.

    Args:
        title: Above it.
        lines: Lines from `ranked`.
        reference: The policy with which the others are compared.
        seeds: The largest number of seeds on which a policy was played.
        known: The sentence on the best known scores, or empty.
    """
    cells = [row for level in KNOWLEDGE for row in _family(level, lines, reference)]
    rivals = sum(reference not in line.policies for line in lines)
    notes = estimate_notes(lines, reference, rivals, widths=False)
    if any(1 < line.episodes < seeds for line in lines):
        notes.append(
            f"n below {seeds:,}: played on the first seeds only, as an episode takes long; compare "
            "the difference, not the mean"
        )
    return Table(
        _HEADS,
        cells,
        left=(0, len(_HEADS) - 1),
        title=title,
        notes=[*notes, *([known] if known else [])],
        legend=[*_terms(lines, rivals, seeds), *estimate_legend(lines)],
        spare=(_HEADS.index(PRECISION),),
    )


def _family(level: Knowledge, lines: Sequence[BoardLine], reference: str) -> Iterator[list[Any]]:
    """Yield the rows of the policies of one level, below its name if policies know more."""
    own = [line for line in lines if line.knows == level]
    headed = any(line.knows != "observation" for line in lines)
    if own and headed:
        yield [f"{level}:", *[""] * (len(_HEADS) - 1)]
    yield from (_cells(line, reference, "  " * headed) for line in own)


def _cells(line: BoardLine, reference: str, indent: str = "") -> list[Any]:
    paired = line.difference.paired if line.difference else None
    return [
        indent + " = ".join(line.policies),
        line.rank,
        line.episodes,
        *half_cells(line.estimate),
        seeds_cell(line.estimate),
        *(["", ""] if reference in line.policies else half_cells(paired)),
        ", ".join(f"{count:,} {end}" for end, count in line.ended.items()),
    ]


def _terms(lines: Sequence[BoardLine], rivals: int, seeds: int) -> Iterator[str]:
    """Yield the sentences on heads and marks that only boards have."""
    yield f"{HALF}: half the confidence interval"
    if rivals:
        yield _RANK + _APART * (len({line.knows for line in lines}) > 1)
    if any(len(line.policies) > 1 for line in lines):
        yield _JOINED
    yield from knowledge_legend(line.knows for line in lines)
    if seeds > 1 and any(line.episodes == 1 for line in lines):
        yield _FIXED
