"""A page as HTML: every text is escaped, and the file refers to nothing outside itself."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from desim.reports.page import Page
from desim.version import __version__

if TYPE_CHECKING:  # jinja2 is an extra
    from jinja2 import Template

__all__ = ["MARK", "rendered"]

#: What the first lines of a report hold, by which one is known.
MARK = b'<meta name="generator" content="desim report">'


def rendered(page: Page) -> bytes:
    """Return a page as HTML in UTF-8."""
    text = _template().render(page=page, version=__version__)
    # A record may hold half of a surrogate pair, which UTF-8 has no bytes for.
    return text.encode("utf-8", errors="replace")


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    source = Path(__file__).with_name("page.html.jinja").read_text(encoding="utf-8")
    return environment.from_string(source)
