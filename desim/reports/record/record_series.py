"""The part of a report on records with their series: a plot for each, by role or part."""

from collections.abc import Iterator, Mapping, Sequence

from desim.reports.elements.page import Figure, Gallery, Given, cleaned
from desim.reports.record.measured import EXTREMES, Measured, extremes, is_unchanged
from desim.reports.record.record_read import ReadRecord
from desim.reports.record.series_charts import MOST_MARKED, Shown, Span, decided_chart, panel_chart
from desim.show.labels import NOTHING, estimate_text

#: Series that are drawn, of all records of a page.
MOST_SERIES = 120

#: The head of the series that are of no role and no part.
_WHOLE = "The whole world"

#: A line of a record, and the series that it draws.
_Found = tuple[ReadRecord, Measured]


def series(each: Sequence[ReadRecord], most: int = MOST_SERIES) -> Iterator[Given]:
    """Yield the series of records of one world and seed, a plot each with a line for each record.

    Args:
        each: The records, in the order of their colours.
        most: Series that are drawn.
    """
    for one in each:
        for note in one.replayed.notes:
            yield f"{one.name}: {note}"
    found = _by_name(each)
    if not found:
        if any(one.replayed.state is not None for one in each):
            yield "The world reports no series that could be drawn."
        return
    yield _caption(each, found)
    if len(each) == 1:
        yield from _roles(each[0])
    changing = {name: lines for name, lines in found.items() if not _is_unchanged(lines)}
    names, span = list(changing), _span(each)
    drawn = {name: changing[name] for name in names[:most]}
    for group, mine in _groups(found).items():
        figures = tuple(_figure(each, lines, span) for lines in mine if lines[0][1].name in drawn)
        title = group or (_WHOLE if len(_groups(found)) > 1 else "")
        if figures:
            yield Gallery(title, figures)
        if still := [lines[0][1] for lines in mine if _is_unchanged(lines)]:
            yield f"{title or 'Series'}, the same throughout: {', '.join(map(_still, still))}."
    if len(names) > most:
        yield f"{len(names) - most:,} further series are left out: {', '.join(names[most:])}."


def _is_unchanged(lines: Sequence[_Found]) -> bool:
    """Return whether all records have one and the same value throughout."""
    return is_unchanged([value for _, line in lines for value in line.values])


def _still(line: Measured) -> str:
    return f"{line.title} {estimate_text(line.values[0])} {line.unit}".strip()


def _span(each: Sequence[ReadRecord]) -> Span | None:
    """Return the first and the last place of all records."""
    spans = [one.replayed.series.span for one in each if one.replayed.series]
    known = [span for span in spans if span]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def _by_name(each: Sequence[ReadRecord]) -> Mapping[str, list[_Found]]:
    """Return by name the series of all records that can share an axis with that of the first."""
    found: dict[str, list[_Found]] = {}
    for one in each:
        for line in one.replayed.series.series if one.replayed.series else ():
            if not line.values:
                continue
            mine = found.setdefault(line.name, [])
            if not mine or _axis(mine[0][1]) == _axis(line):
                mine.append((one, line))
    return found


def _axis(line: Measured) -> tuple[object, ...]:
    return line.x, line.is_dated, line.in_time, line.unit


def _groups(found: Mapping[str, list[_Found]]) -> Mapping[str, list[list[_Found]]]:
    groups: dict[str, list[list[_Found]]] = {}
    for lines in found.values():
        groups.setdefault(lines[0][1].group, []).append(lines)
    return groups


def _caption(each: Sequence[ReadRecord], found: Mapping[str, list[_Found]]) -> str:
    lines = [line for mine in found.values() for _, line in mine]
    texts = ["A figure of a period stands at its end, at the latest at that of the episode."]
    if any(line.is_held for line in lines):
        texts.append("Lines with steps were recorded whenever they changed.")
    if any(line.in_time for line in lines):
        if len(each) <= MOST_MARKED:
            whose = "; each record has a row of its colour" if len(each) > 1 else ""
            texts.append(
                "The short vertical lines at the bottom of a plot are decisions: those of the role "
                f"or part that the plot is about, or else of all roles{whose}."
            )
        else:
            texts.append(f"Decisions are marked for up to {MOST_MARKED} records.")
    if not all(line.in_time for line in lines):
        texts.append(
            "Where periods have no time of their own they are counted, and decisions not marked."
        )
    return " ".join(texts)


def _roles(one: ReadRecord) -> Iterator[Given]:
    """Yield when each role decided, if there are several."""
    found = one.replayed.series
    if found is None or len(found.decided) <= 1:
        return
    timeline, decided = found.timeline, found.decided
    picture = decided_chart(decided, x=timeline.label, is_dated=timeline.is_dated)
    steps = {role: len(places) for role, places in decided.items()}
    yield Figure(
        "Decisions of each role",
        picture,
        f"A row of short vertical lines for each of {len(steps)} roles, a line for each decision.",
        cleaned(["role", "decisions"], steps.items()),
    )


def _figure(each: Sequence[ReadRecord], lines: Sequence[_Found], span: Span | None) -> Figure:
    """Return the plot of one series, with its ends and extremes as a table."""
    first = lines[0][1]
    labels = _labels(each)
    places = {id(one): at for at, one in enumerate(each)}
    shown = [
        Shown(
            labels[places[id(one)]] if len(each) > 1 else "",
            places[id(one)],
            line,
            one.replayed.series.decided if one.replayed.series else {},
        )
        for one, line in lines
    ]
    title = f"{first.title} ({first.unit})" if first.unit else first.title
    head = ["record"] if len(each) > 1 else []
    return Figure(
        title,
        panel_chart(shown, span),
        f"{title} over {first.x or 'time'}, "
        f"{'a line' if len(lines) == 1 else f'{len(lines)} lines'}; its extremes are in the table.",
        cleaned(
            [*head, *EXTREMES],
            (
                [*([one.name.partition(" ")[0]] if head else []), *extremes(line.values)]
                for one, line in lines
            ),
            left=(0,) if head else (),
        ),
    )


def _labels(each: Sequence[ReadRecord]) -> list[str]:
    """Return what legends say of each record: its letter, and the policies that differ."""
    policies = [one.episode.header.policies for one in each]
    roles = list(dict.fromkeys(role for one in policies for role in one))
    other = [role for role in roles if len({one.get(role) for one in policies}) > 1]
    labels = []
    for one, mine in zip(each, policies, strict=True):
        named = {role: mine.get(role, NOTHING) for role in other}
        if len({*named.values()}) == 1 and (len(named) > 1 or len(roles) == 1):
            text = next(iter(named.values()))
        else:
            text = ", ".join(f"{role}={label}" for role, label in named.items())
        letter = one.name.partition(" ")[0]
        labels.append(f"{letter}  {text or one.name.partition(' ')[2]}")
    return labels
