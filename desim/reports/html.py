"""The HTML file of a report, which replaces only another report.

Every text is escaped, and the file refers to nothing outside itself and holds no script.
"""

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from desim.errors import UsageError
from desim.reports.page import Page
from desim.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template


#: The mark in the first lines of a report, which identifies it.
MARK = b'<meta name="generator" content="desim report">'


def rendered(page: Page) -> bytes:
    """Return a page as HTML in UTF-8."""
    text = _template().render(page=page, version=__version__)
    # A record may hold half of a surrogate pair, which UTF-8 cannot encode.
    return text.encode("utf-8", errors="replace")


@cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    return environment.get_template("page.html.jinja")


#: Bytes at the start of a file that contain the mark of a report.
_START = 1_024


def check_target(path: Path, *, force: bool) -> None:
    """Check before anything is drawn that a file may be written.

    Args:
        path: The file.
        force: Whether a file other than a report may be replaced.

    Raises:
        UsageError: Without *force* the path exists and is not a report of desim.
    """
    if os.path.lexists(path) and not force and not _is_report(path):
        raise UsageError(
            f"{path} exists and is no report of desim; choose another name (--out), "
            "or replace it (--force)"
        )


def _is_report(path: Path) -> bool:
    if not path.is_file():  # to open a pipe would wait
        return False
    try:
        with path.open("rb") as file:
            return MARK in file.read(_START)
    except OSError:
        return False
