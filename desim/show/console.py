"""The console on which the command line and the terminal game print.

A console of rich that prints texts from outside without what steers a terminal.
"""

import os
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from desim.short_repr import visible_text


class SafeConsole(Console):
    """A console whose texts are escaped by `visible_text`, whichever table or line holds them.

    The control codes of its own colours and positions are not escaped.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of a renderable with visible texts."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible_text(text), style, control)


#: Columns of a file or a pipe, unless the environment variable COLUMNS states another number.
_PIPE_COLUMNS = 200


def console() -> Console:
    """Return a console for standard output: as wide as the terminal, COLUMNS, or 200 columns."""
    out = SafeConsole(highlight=False)
    columns = os.environ.get("COLUMNS", "")
    if out.is_terminal or (columns.isdigit() and int(columns) > 0):
        return out
    return SafeConsole(highlight=False, width=_PIPE_COLUMNS)
