"""The part of a report on records with their series: a plot for each, by role or part."""

import math
from collections.abc import Iterator, Mapping, Sequence

from desim.reports.page import Figure, Gallery, Given, cleaned
from desim.reports.record.plots import Span, panel_chart
from desim.reports.record.record_read import ReadRecord
from desim.reports.record.series import Line, is_unchanged
from desim.show.estimates import number_cell
from desim.show.labels import estimate_text
from desim.show.table import Printed

#: Series that are drawn.
_MOST_SERIES = 120

#: The head of the series that are of no role and no part.
_WHOLE = "The whole world"

#: One series: a line for each record that has it, by the record's name, or an only record's "".
_Found = Mapping[str, Line]


def series(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield the series of records of one world and seed, a plot each with a line for each record.

    The records are in the order of their colours.
    """
    for one in each:
        for note in one.replayed.notes:
            yield f"{one.name}: {note}"
    found = _by_name(each)
    if not found:
        if any(one.replayed.state is not None for one in each):
            yield "The world reports no series that could be drawn."
        return
    yield "A value of a period stands at its end." + _about_marks(each)
    changing = [name for name, lines in found.items() if not _is_unchanged(lines)]
    groups: dict[str, list[_Found]] = {}
    for lines in found.values():
        groups.setdefault(_first(lines).group, []).append(lines)
    span = _span(each)
    for group, mine in groups.items():
        title = group or (_WHOLE if len(groups) > 1 else "")
        drawn = [lines for lines in mine if _first(lines).name in changing[:_MOST_SERIES]]
        if drawn:
            yield Gallery(title, tuple(_figure(each, lines, span) for lines in drawn))
        if still := [_first(lines) for lines in mine if _is_unchanged(lines)]:
            yield f"{title or 'Series'}, the same throughout: {', '.join(map(_still, still))}."
    if more := changing[_MOST_SERIES:]:
        yield f"{len(more):,} further series are left out: {', '.join(more)}."


def _about_marks(each: Sequence[ReadRecord]) -> str:
    if len(each) > 1:
        return ""
    return (
        " Short vertical lines at the bottom of a plot are decisions: those of the role or part "
        "that it is about, or else of all roles."
    )


def _by_name(each: Sequence[ReadRecord]) -> Mapping[str, _Found]:
    """Return by name the series of all records that can share an axis with that of the first."""
    found: dict[str, dict[str, Line]] = {}
    for one in each:
        for line in one.replayed.series.lines if one.replayed.series else ():
            mine = found.setdefault(line.name, {}) if line.values else None
            if mine is not None and (not mine or _first(mine).axis == line.axis):
                mine[one.name if len(each) > 1 else ""] = line
    return found


def _first(lines: _Found) -> Line:
    return next(iter(lines.values()))


def _is_unchanged(lines: _Found) -> bool:
    """Return whether all records have one and the same value throughout."""
    return is_unchanged([value for line in lines.values() for value in line.values])


def _still(line: Line) -> str:
    return f"{line.title} {estimate_text(line.values[0])} {line.unit}".strip()


def _span(each: Sequence[ReadRecord]) -> Span | None:
    """Return the first and the last place of all records."""
    known = [span for one in each if one.replayed.series and (span := one.replayed.series.span)]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def _figure(each: Sequence[ReadRecord], lines: _Found, span: Span | None) -> Figure:
    """Return the plot of one series, with its ends and extremes as a table."""
    first, found = _first(lines), each[0].replayed.series
    title = f"{first.title} ({first.unit})" if first.unit else first.title
    is_single = len(each) == 1
    marks = found.marks(first.group) if found and is_single else ()
    return Figure(
        title,
        panel_chart(lines, marks, span),
        f"{title} over {first.x or 'time'}, "
        f"{'a line' if len(lines) == 1 else f'{len(lines)} lines'}; its extremes are in the table.",
        cleaned(
            ["record", "first", "lowest", "highest", "last"][is_single:],
            ([name, *_extremes(line.values)][is_single:] for name, line in lines.items()),
            left=() if is_single else (0,),
        ),
    )


def _extremes(values: Sequence[float]) -> list[Printed | None]:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return [None] * 4
    return [number_cell(one) for one in (known[0], min(known), max(known), known[-1])]
