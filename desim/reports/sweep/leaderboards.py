"""Which policy is best in a world, by how much, and how sure that is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve

from desim.core.roles import Knowledge, knowledge_legend, knowledge_order, with_knowledge
from desim.errors import UsageError, possible
from desim.jobs.rows.comparison_table import ComparisonTable, TableLine
from desim.jobs.rows.known_means import knowledge_of_policies
from desim.jobs.rows.rows import Rows
from desim.reports.elements.charts import dots
from desim.reports.elements.page import Figure, Given, cleaned
from desim.show.estimates import number_cell
from desim.show.table import Table
from desim.studies.boards.ranking import ranked

#: Policies of a world that are ranked: every pair is compared; and those that a figure shows.
_MOST_RANKED, _MOST_SHOWN = 60, 40

_LEVEL = 0.95


def leaderboard(rows: Rows, against: str = "") -> Iterator[Given]:
    """Yield the policies of one world by their mean score, and their differences to one of them.

    Args:
        rows: The rows of one world: one model with the same parameters.
        against: The policy with which the others are compared; empty for the highest mean.

    Raises:
        UsageError: The policy *against* does not exist.
    """
    knows = knowledge_of_policies(rows)
    plain = rows.table(level=_LEVEL)
    lines = _ordered(plain.lines, knows)
    ranks = _ranks(rows, knows, lines)
    yield Figure(
        "Mean score of each policy with its 95 % interval",
        dots(
            [_name(line, knows) for line in lines[:_MOST_SHOWN]],
            [line.estimate for line in lines[:_MOST_SHOWN]],
            "score",
        ),
        f"Mean scores with intervals of {len(lines[:_MOST_SHOWN])} policies, the highest on top.",
        _scores(plain, lines, ranks, knows),
    )
    if len(lines) > 1:
        yield from _differences(rows, lines, knows, against)


def _scores(
    plain: ComparisonTable,
    lines: Sequence[TableLine],
    ranks: dict[str, int | None],
    knows: Mapping[str, Knowledge],
) -> Table:
    """Return the table's own cells with a rank before them."""
    heads = [head for head in plain.heads() if head != "figure"]
    notes = ["higher scores are better", *plain.notes(), *plain.legend()]
    if ranks:
        notes.append(
            "rank: one more than the number of policies that are known to be better (intervals of "
            "all pairs hold together at 95 %), so policies that are not told apart share one; "
            "policies that know as much are ranked together"
        )
    else:
        notes.append(f"no ranks: more than {_MOST_RANKED} policies are not compared in pairs")
    if knows:
        notes += knowledge_legend(knows.values())
    if len(lines) > _MOST_SHOWN:
        notes.append(f"the figure shows the first {_MOST_SHOWN} of {len(lines):,} policies")
    shown = [
        [ranks.get(str(line.group[0])), _name(line, knows), *plain.cells(line)[2:]]
        for line in lines
    ]
    return cleaned(["rank", *heads], shown, left=(1,), notes=notes)


def _differences(
    rows: Rows, lines: Sequence[TableLine], knows: Mapping[str, Knowledge], against: str
) -> Iterator[Given]:
    names = [str(line.group[0]) for line in lines]
    if against and against not in names:
        raise UsageError(f"there is no policy {against!r}; {possible(against, names)}")
    reference = against or next((n for n in names if n not in knows), names[0])
    # After a look at the means every pair may be the one that is shown, so all hold together.
    level = _LEVEL if against else 1 - 2 * (1 - _LEVEL) / len(names)
    table = rows.table(against=reference, level=level)
    found = {str(line.group[0]): line for line in table.lines}
    each = [found[name] for name in names if name != reference]
    if not any(line.difference for line in each):
        return
    shown = each[:_MOST_SHOWN]
    yield Figure(
        f"Difference of each policy's mean score to that of {reference}, paired by seed",
        dots(
            [_name(line, knows) for line in shown],
            [line.difference.paired if line.difference else None for line in shown],
            f"score, difference to {reference}",
            zero=True,
        ),
        f"Differences with intervals of {len(shown)} policies to {reference}; a line marks 0.",
        cleaned(
            ["policy", "pairs", "difference", "95 % interval", "± unpaired", "correlation"],
            ([_name(line, knows), *_cells(table, line)] for line in each),
            notes=_notes(table, each, reference, chosen=bool(against)),
        ),
    )


def _cells(table: ComparisonTable, line: TableLine) -> list[Any]:
    """Return the table's own cells of a difference, and what pairing has gained."""
    found = line.difference
    if found is None:
        return [*table.cells(line)[-3:], None, None]
    correlation = None if found.correlation is None else f"{found.correlation:.2f}"
    return [*table.cells(line)[-3:], number_cell(found.unpaired, found.unpaired), correlation]


def _notes(
    table: ComparisonTable, lines: Sequence[TableLine], reference: str, *, chosen: bool
) -> list[str]:
    own = evolve(table, lines=tuple(lines)).notes()
    own.append("± unpaired: half the interval, had the two played different seeds")
    if chosen:
        return [note for note in own if "pair" in note]
    return [
        (
            f"{reference} has the highest mean of the policies that are rivals; as it was chosen "
            "by these results, the intervals of all pairs hold together at 95 % (Bonferroni)"
        ),
        *(note for note in own if "pair" in note and not note.startswith("difference")),
    ]


def _ordered(lines: Iterable[TableLine], knows: Mapping[str, Knowledge]) -> list[TableLine]:
    """Return policies that know less first, each level from the highest mean to those without."""
    return sorted(
        lines,
        key=lambda line: (
            knowledge_order(knows.get(str(line.group[0]), "observation")),
            line.estimate is None,
            -line.estimate.mean if line.estimate else 0.0,
        ),
    )


def _ranks(
    rows: Rows, knows: Mapping[str, Knowledge], lines: Sequence[TableLine]
) -> dict[str, int | None]:
    """Return ranks by policy; empty if there are too many for a comparison of all."""
    if len(lines) > _MOST_RANKED:
        return {}
    found = ranked(rows, str(lines[0].group[0]), knows)
    return {policy: line.rank for line in found for policy in line.policies}


def _name(line: TableLine, knows: Mapping[str, Knowledge]) -> str:
    name = str(line.group[0])
    return with_knowledge(name, knows.get(name))
