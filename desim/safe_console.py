"""A console of rich that prints texts from outside without what steers a terminal."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from desim.formatting import visible_text

__all__ = ["SafeConsole"]


class SafeConsole(Console):
    """A console whose texts are escaped by `visible_text`, whichever table or line holds them.

    Its own colours and positions are no texts, and stay.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of a renderable with visible texts."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible_text(text), style, control)
