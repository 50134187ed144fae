"""Pictures of an episode under way, for people who watch: a table as text, a chart as pixels."""

import importlib.util
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from desim.adapters.seat.stepped_session import SteppedSession
from desim.core.world import Decision
from desim.errors import UsageError, possible
from desim.schema import to_plain
from desim.short_repr import short_repr

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.figure import Figure


#: A table of what the seats observe, and a chart of the world's series.
_TABLE, _PIXELS = "ansi", "rgb_array"

#: The render modes that work here; the chart needs matplotlib.
MODES = (_TABLE, _PIXELS) if importlib.util.find_spec("matplotlib") else (_TABLE,)

#: Decisions of the table, panels of the chart, characters of a value.
_LAST, _PANELS, _WIDTH = 5, 6, 72

#: Inches of the chart, drawn with 150 dots an inch.
_SIZE = (6.4, 4.8)


class Renderer:
    """Draws an episode in a render mode.

    Raises:
        UsageError: The mode is unknown, or matplotlib is not installed.
    """

    def __init__(self, mode: str | None) -> None:
        if mode == _PIXELS and mode not in MODES:
            raise UsageError(
                "render_mode='rgb_array' needs matplotlib: pip install 'desim[report]'"
            )
        if mode is not None and mode not in MODES:
            raise UsageError(f"render_mode={mode!r} was given; {possible(mode, MODES)}")
        self.mode = mode
        self._taken: deque[str] = deque(maxlen=_LAST)

    def begin(self) -> None:
        """Forget the decisions of the last episode."""
        self._taken.clear()

    def taken(self, session: SteppedSession, role: str, action: Any) -> None:
        """Keep a decision for the table."""
        line = f"t={session.tick} {role}: {short_repr(to_plain(action))}"
        self._taken.append(line[:_WIDTH])

    def render(self, session: SteppedSession | None, shown: Iterable[Decision]) -> Any:
        """Return the table as text, the chart as an array of height, width and 3 colours."""
        if self.mode is None:
            return None
        if session is None:
            raise UsageError("no episode has begun; call reset before render")
        return self._table(session, shown) if self.mode == _TABLE else _chart(session)

    def _table(self, session: SteppedSession, shown: Iterable[Decision]) -> str:
        lines = [f"{type(session.model).__name__}, seed {session.seed}, t={session.tick}"]
        for decision in shown:
            lines += ["", decision.role, *_rows(decision.observation)]
        if self._taken:
            lines += ["", "last decisions", *(f"  {line}" for line in self._taken)]
        if session.done:
            facts = session.end_facts()
            lines += ["", f"ended: {facts['ended']}, score {facts['score']:,.6g}"]
        return "\n".join(lines) + "\n"


def _rows(observation: Any) -> list[str]:
    """Return a line for each field, in the order of the class."""
    plain = to_plain(observation)
    names = [each.alias for each in attrs.fields(type(observation)) if each.alias in plain]
    width = max(map(len, names), default=0)
    return [f"  {name:<{width}}  {short_repr(plain[name])[:_WIDTH]}" for name in names]


def _chart(session: SteppedSession) -> Any:
    """Return the world's series so far, one panel each, as an array of bytes."""
    from io import BytesIO

    import numpy as np
    from matplotlib.image import imread

    from desim.reports.elements.drawing import pictured

    series = dict(list(session.series().items())[:_PANELS])

    def draw(figure: "Figure") -> None:
        _panels(figure, series or {"score": [session.score]})

    pixels = imread(BytesIO(pictured(*_SIZE, draw, form="png")))
    return np.ascontiguousarray((pixels[:, :, :3] * 255).round().astype(np.uint8))


def _panels(figure: "Figure", series: Mapping[str, Sequence[float]]) -> None:
    from matplotlib.ticker import MaxNLocator

    from desim.reports.elements.drawing import COLOURS, drawable, finish

    panels = figure.subplots(len(series), squeeze=False, sharex=True)[:, 0]
    last = len(series) - 1
    for number, (panel, (name, values)) in enumerate(zip(panels, series.items(), strict=True)):
        heights = drawable(values)
        marker = "o" if len(heights) == 1 else ""
        panel.plot(range(1, len(heights) + 1), heights, color=COLOURS[0], marker=marker)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        finish(panel, name, "period" if number == last else "")
