"""The series of an episode that belong on one scale, as the model states them or by their unit."""

from collections.abc import Iterator, Sequence

from attrs import frozen

from desim.core.model_protocols import offers
from desim.core.reported import Debriefing, HasDebriefing, Overlay
from desim.faults import RAISED
from desim.reports.elements.page import clean
from desim.reports.record.measured import Measured, is_unchanged
from desim.reports.record.replayed import Replayed
from desim.show.labels import words_text

#: Lines of one chart: a reader cannot distinguish more.
MOST_LINES = 7

#: Characters of the name of a line, and lines that a title names.
_NAME, _NAMED = 34, 3


@frozen
class OverlaidLine:
    """One line of a chart.

    Attributes:
        label: Its name.
        places: The places of its values on the axis, increasing.
        values: One for each place; NaN if not known.
        number: Sets its colour, dashes and marker; None for the line that the others respond to.
    """

    label: str
    places: Sequence[float]
    values: Sequence[float]
    number: int | None


@frozen
class OverlaidSeries:
    """Series on one scale, ready to be drawn.

    Attributes:
        title: The measured quantity, with how many lines are left out, if any.
        x: The label of the axis; empty for dates.
        unit: The unit of the values; empty for a number without a unit.
        lines: At least one, the base line first.
        is_dated: Whether places are days since 1970.
        text: A sentence below the chart; may be empty.
    """

    title: str
    x: str
    unit: str
    lines: tuple[OverlaidLine, ...]
    is_dated: bool = False
    text: str = ""

    @classmethod
    def of(cls, given: Overlay, like: "OverlaidSeries | None" = None) -> "OverlaidSeries":
        """Return the overlay of a model; periods are counted from 1.

        Args:
            given: The overlay.
            like: A chart whose lines look like those of the same names.
        """
        numbers = {line.label: line.number for line in like.lines} if like else {}
        names = sorted(given.lines, key=lambda name: name != given.base)
        lines = []
        for at, name in enumerate(names, -1 if given.base else 0):
            label, values = clean(words_text(name), _NAME), [float(v) for v in given.lines[name]]
            number = None if name == given.base else numbers.get(label, at)
            lines.append(OverlaidLine(label, range(1, len(values) + 1), values, number))
        return _limited(given.title, given.column.period, given.column.unit, lines, text=given.text)


def _limited(
    title: str,
    x: str,
    unit: str,
    lines: Sequence[OverlaidLine],
    *,
    is_dated: bool = False,
    text: str = "",
) -> OverlaidSeries:
    more = len(lines) - MOST_LINES
    left_out = f" (the first {MOST_LINES} of {len(lines):,} lines)" if more > 0 else ""
    shown = tuple(lines[:MOST_LINES])
    return OverlaidSeries(clean(title + left_out), clean(x, _NAME), unit, shown, is_dated, text)


def debriefing_of(replayed: Replayed) -> Debriefing | None:
    """Return the debriefing of an episode; None without one, or if the model fails to make it."""
    model, state = replayed.model, replayed.state
    if model is None or state is None or not offers(model, HasDebriefing):
        return None
    try:
        return model.debriefing(state)
    except RAISED:  # a model that a stranger's parameters have broken
        return None


def overlaid(replayed: Replayed) -> list[OverlaidSeries]:
    """Return the charts of an episode: those of the model, or its series by unit."""
    debriefing = debriefing_of(replayed)
    if debriefing is None:
        return [*_by_unit(replayed.series.series if replayed.series else ())]
    made = [OverlaidSeries.of(one) for one in debriefing.overlays if one.lines]
    return [one for one in made if any(line.values for line in one.lines)]


def _by_unit(series: Sequence[Measured]) -> Iterator[OverlaidSeries]:
    """Yield the series that change, those of one unit and axis together."""
    groups: dict[tuple[str, str, bool, bool], list[Measured]] = {}
    for line in series:
        if line.values and not is_unchanged(line.values):
            # Numbers without a unit need not be comparable.
            key = (line.unit or line.name, line.x, line.is_dated, line.in_time)
            groups.setdefault(key, []).append(line)
    for (_, x, is_dated, _), mine in groups.items():
        unit = mine[0].unit
        lines = [
            OverlaidLine(_label(one), one.places, one.values, at) for at, one in enumerate(mine)
        ]
        names = ", ".join(line.label for line in lines)
        title = names if len(lines) <= _NAMED else f"All series in {unit}"
        yield _limited(title, x, unit, lines, is_dated=is_dated)


def _label(line: Measured) -> str:
    """Return the title of a series, with its role or part where the title does not name it."""
    whose = line.group.rpartition(".")[2]
    return clean(line.title if whose in line.title else f"{line.title}, {line.group}", _NAME)


def values_of(given: OverlaidSeries) -> list[float]:
    """Return the values of all lines, by which charts can share a scale."""
    return [value for line in given.lines for value in line.values]
