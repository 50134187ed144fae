"""A board as a table; policies that know as much are under one heading."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from desim.core.policy import sees_more_than_rules
from desim.core.roles import knowledge_legend
from desim.engine.plan import DEFAULTS
from desim.rows.estimate_notes import (
    DEFAULTS_MEANS,
    estimate_legend,
    estimate_notes,
    to_tell_term,
)
from desim.show.column import Column
from desim.show.estimates import HALF, TO_TELL, half_cells, number_cell
from desim.show.labels import estimate_text
from desim.show.table import Printed, Table
from desim.studies.boards.ranking import BoardLine, families

_HEADS = ("policy", "rank", "n", "mean score", HALF, "to the best", TO_TELL, "ended")

#: The mark of a rank whose policy may be the best.
_BEST = " *"

#: The least number of lines that are compared.
_COMPARED = 2

_RANK = "rank: the lowest and the highest that the data leave possible (95 %, all together)"
_AMONG = ", among those that know as much"
#: The lower and the upper end of an interval to the best that leave out 0.
_BEYOND = (">0", "<0")

_TO_BEST = (
    "to the best: the mean less the highest mean of the others (95 %, all together); "
    f"{_BEYOND[1]}: it is lower"
)
_TO_LOWEST = _TO_BEST.replace("highest", "lowest").replace("<0: it is lower", ">0: it is higher")
_MAY_BE_BEST = "; * may be the best"
_INTERVAL = " (95 %)"
_JOINED = "a = b: the same scores and ends on every seed"
_APART = "each policy has played seeds of its own, so differences are not paired (Welch)"


def board_table(
    title: str,
    lines: Sequence[BoardLine],
    of_world: Sequence[str] = (),
    *,
    columns: Mapping[str, Column] = MappingProxyType({}),
    paired: bool = True,
) -> Table:
    """Return the table of a board.

    Args:
        title: Above it.
        lines: Lines from `ranked`.
        of_world: Sentences on the world, such as its best known scores.
        columns: Units and labels of the metrics beside the score.
        paired: Whether the policies have played the same seeds.
    """
    cells: list[list[Any]] = []
    beside = [*dict.fromkeys(name for line in lines for name in line.beside)]
    labels = [column.label.lower() if (column := columns.get(one)) else "" for one in beside]
    heads = [
        *_HEADS[:-1],
        *(label or name for label, name in zip(labels, beside, strict=True)),
        _HEADS[-1],
    ]
    headed = any(line.knows != "observation" for line in lines)
    for family in families(lines):
        if headed:
            cells.append([f"{family[0].knows}:", *[""] * (len(heads) - 1)])
        cells += [_cells(line, "  " * headed, columns) for line in family]
    notes = [*([] if paired else [_APART]), *rank_notes(lines), *estimate_notes(lines)]
    return Table(
        heads,
        cells,
        left=(0, 1, len(heads) - 1),
        title="\n".join(filter(None, [title, headline(lines)])),
        notes=[*notes, *of_world],
        legend=[*_terms(lines), *estimate_legend(lines)],
        spare=(_HEADS.index(TO_TELL),),
        breaks=(len(_HEADS) - 1,) if beside else (),
    )


def headline(lines: Sequence[BoardLine]) -> str:
    """Return which policies are best, or may be, among those that know as much, in one sentence.

    Policies that know hidden state or the future are left out, and so are lone ones.
    """
    every = families(lines)
    fair = (family for family in every if not sees_more_than_rules(family[0].knows))
    return "; ".join(
        f"{family[0].knows}: " * (len(every) > 1) + text
        for family in fair
        if (text := _best_text(family))
    )


def _best_text(family: Sequence[BoardLine]) -> str:
    rivals = [line.name for line in family if line.may_be_best]
    if len(family) < _COMPARED or not rivals:
        return ""
    rest = " of those that have not failed" * any(line.estimate is None for line in family)
    if len(rivals) > 1:
        return f"{', '.join(rivals[:-1])} or {rivals[-1]} may be best{rest}"
    return f"{rivals[0]} is best{rest}{_lead_text(family[1])}"


def _lead_text(second: BoardLine) -> str:
    """Return how much less the second mean is, where an interval is known."""
    less = second.difference.paired if second.difference else None
    if less is None or less.low is None or less.high is None:
        return ""
    ends = dict.fromkeys(estimate_text(abs(end), less.half) for end in (less.high, less.low))
    return f", by {' to '.join(ends)} over {second.name}{_INTERVAL * (len(ends) > 1)}"


def rank_cell(line: BoardLine) -> Printed | None:
    """Return the ranks that a line may have as a cell, those of a possible best marked."""
    if line.ranks is None:
        return None
    low, high = line.ranks
    text = f"{low}" if low == high else f"{low}-{high}"
    is_compared = high > 1 or line.to_best is not None
    return Printed(line.ranks, text + _BEST * (line.may_be_best and is_compared))


def to_best_cell(line: BoardLine) -> Printed | None:
    """Return the interval of a line to the best of the others as a cell."""
    if line.to_best is None:
        return None
    low, high = line.to_best
    texts = [estimate_text(end, (high - low) / 2) if end else "0" for end in line.to_best]
    if not line.may_be_best:  # Hsu's interval ends at 0 also where that is excluded
        texts = [text if text != "0" else one for text, one in zip(texts, _BEYOND, strict=True)]
    return Printed(line.to_best, " to ".join(dict.fromkeys(texts)))


def rank_terms(lines: Sequence[BoardLine], *, lower: bool = False) -> Iterator[str]:
    """Yield the sentences on ranks, and on the column to the best; of lower or higher means."""
    if any(line.ranks for line in lines):
        yield _RANK + _AMONG * (len(families(lines)) > 1) + _MAY_BE_BEST
    if any(line.to_best for line in lines):
        yield _TO_LOWEST if lower else _TO_BEST


def _cells(line: BoardLine, indent: str, columns: Mapping[str, Column]) -> list[Any]:
    return [
        indent + " = ".join(line.policies),
        rank_cell(line),
        line.episodes,
        *half_cells(line.estimate, exact=line.sample.is_exact),
        to_best_cell(line),
        line.to_tell,
        *(_beside_cell(mean, columns.get(name)) for name, mean in line.beside.items()),
        ", ".join(f"{count:,} {end}" for end, count in line.ended.items()),
    ]


def _beside_cell(mean: float | None, column: Column | None) -> Printed | None:
    if mean is None or column is None or column.kind != "share":
        return number_cell(mean)
    return Printed(mean, column.text(mean))


def rank_notes(lines: Sequence[BoardLine]) -> Iterator[str]:
    """Yield what ranks do not tell: which policies have fewer seeds."""
    seeds = max((line.episodes for line in lines), default=0)
    if any(1 < line.episodes < seeds for line in lines):
        yield (
            f"n below {seeds:,}: played on the first seeds only, as an episode takes long; compare "
            "the rank, not the mean"
        )


def _terms(lines: Sequence[BoardLine]) -> Iterator[str]:
    """Yield the sentences on heads and marks that only boards have."""
    yield from rank_terms(lines)
    if any(line.to_tell for line in lines):
        yield to_tell_term("the highest mean")
    if any(len(line.policies) > 1 for line in lines):
        yield _JOINED
    if any(DEFAULTS in line.beside for line in lines):
        yield DEFAULTS_MEANS
    yield from knowledge_legend(line.knows for line in lines)
