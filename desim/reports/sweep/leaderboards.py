"""Which policy is best in a world, by how much, and how sure that is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from desim.core.roles import Knowledge, knowledge_order, with_knowledge
from desim.errors import UsageError, possible
from desim.reports.charts import dots
from desim.reports.page import Figure, Given, cleaned
from desim.rows.compare import ComparisonTable, TableLine
from desim.rows.known_means import knowledge
from desim.rows.rows import Rows
from desim.show.estimates import better_note, number_cell
from desim.show.table import Table
from desim.studies.boards.ranking import (
    BoardLine,
    rank_cell,
    rank_notes,
    rank_terms,
    ranked,
    to_best_cell,
)

#: Policies of a world that are ranked: every pair is compared; and those that a figure shows.
_MOST_RANKED, _MOST_SHOWN = 60, 40

_LEVEL = 0.95


def leaderboard(rows: Rows, against: str = "", minimise: str = "") -> Iterator[Given]:
    """Yield the policies of one world by their mean, ranked and compared with the best.

    Args:
        rows: The rows of one world: one model with the same parameters.
        against: A policy with which the others are compared as well; empty for none.
        minimise: The figure of the means, of which lower is better; empty for the score.

    Raises:
        UsageError: The policy *against* does not exist.
    """
    knows = knowledge({cell["policy"]: cell for cell in rows.gathered.cells})
    figure = minimise or "score"
    plain = rows.table(show=figure, level=_LEVEL)
    lines = _ordered(plain.lines, knows, -1 if minimise else 1)
    ranks = _ranks(rows, knows, lines, minimise)
    yield Figure(
        f"Mean {figure} of each policy with its 95 % interval",
        dots(
            [_name(line, knows) for line in lines[:_MOST_SHOWN]],
            [line.estimate for line in lines[:_MOST_SHOWN]],
            figure,
        ),
        f"Mean {figure} with intervals of {len(lines[:_MOST_SHOWN])} policies, the best on top.",
        _scores(plain, lines, ranks, knows, minimise),
    )
    if against:
        yield from _differences(rows, lines, knows, against, figure)


def _scores(
    plain: ComparisonTable,
    lines: Sequence[TableLine],
    ranks: dict[str, BoardLine],
    knows: Mapping[str, Knowledge],
    minimise: str,
) -> Table:
    """Return the table's own cells with ranks and intervals to the best."""
    heads = [head for head in plain.heads() if head != "figure"]
    better = better_note(minimise, "lower") if minimise else ["higher scores are better"]
    notes, legend = [*plain.notes], [*better, *plain.legend]
    if ranks:
        notes = [*rank_notes([*ranks.values()]), *notes]
        legend += rank_terms([*ranks.values()], lower=bool(minimise))
    else:
        legend.append(f"no ranks: more than {_MOST_RANKED} policies are not compared in pairs")
    if len(lines) > _MOST_SHOWN:
        legend.append(f"the figure shows the first {_MOST_SHOWN} of {len(lines):,} policies")
    shown = [
        [rank, _name(line, knows), *plain.cells(line)[2:], to_best]
        for line in lines
        for rank, to_best in [_rank_cells(ranks.get(str(line.group[0])))]
    ]
    return cleaned(["rank", *heads, "to the best"], shown, left=(0, 1), notes=notes, legend=legend)


def _rank_cells(line: BoardLine | None) -> tuple[Any, Any]:
    return (rank_cell(line), to_best_cell(line)) if line else (None, None)


def _differences(
    rows: Rows,
    lines: Sequence[TableLine],
    knows: Mapping[str, Knowledge],
    against: str,
    figure: str,
) -> Iterator[Given]:
    names = [str(line.group[0]) for line in lines]
    if against not in names:
        raise UsageError(f"there is no policy {against!r}; {possible(against, names)}")
    table = rows.table(show=figure, against=against, level=_LEVEL)
    found = {str(line.group[0]): line for line in table.lines}
    each = [found[name] for name in names if name != against]
    if not any(line.difference for line in each):
        return
    shown = each[:_MOST_SHOWN]
    yield Figure(
        f"Difference of each policy's mean {figure} to that of {against}, paired by seed",
        dots(
            [_name(line, knows) for line in shown],
            [line.difference.paired if line.difference else None for line in shown],
            f"{figure}, difference to {against}",
            zero=True,
        ),
        f"Differences with intervals of {len(shown)} policies to {against}; a line marks 0.",
        cleaned(
            ["policy", "pairs", "difference", "95 % interval", "± unpaired", "correlation"],
            ([_name(line, knows), *_cells(table, line)] for line in each),
            legend=[
                *(note for note in [*table.legend, *table.notes] if "pair" in note),
                "± unpaired: half the interval, had the two played different seeds",
            ],
        ),
    )


def _cells(table: ComparisonTable, line: TableLine) -> list[Any]:
    """Return the table's own cells of a difference, and what pairing has gained."""
    found = line.difference
    if found is None:
        return [None] * 5
    correlation = None if found.correlation is None else f"{found.correlation:.2f}"
    pairs = table.cells(line)[-4:-1]
    return [*pairs, number_cell(found.unpaired, found.unpaired), correlation]


def _ordered(
    lines: Iterable[TableLine], knows: Mapping[str, Knowledge], sign: int
) -> list[TableLine]:
    """Return policies that know less first, each level from the best mean to those without."""
    return sorted(
        lines,
        key=lambda line: (
            knowledge_order(knows.get(str(line.group[0]), "observation")),
            line.estimate is None,
            -sign * line.estimate.mean if line.estimate else 0.0,
        ),
    )


def _ranks(
    rows: Rows, knows: Mapping[str, Knowledge], lines: Sequence[TableLine], minimise: str
) -> dict[str, BoardLine]:
    """Return ranked lines by policy; empty if there are too many for a comparison of all."""
    found = ranked(rows, knows, minimise=minimise) if len(lines) <= _MOST_RANKED else ()
    return {policy: line for line in found for policy in line.policies}


def _name(line: TableLine, knows: Mapping[str, Knowledge]) -> str:
    name = str(line.group[0])
    return with_knowledge(name, knows.get(name))
