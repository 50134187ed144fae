"""The console on which the command line and the terminal game print."""

import os

from rich.console import Console

from desim.safe_console import SafeConsole

__all__ = ["console"]

#: Columns of a file or a pipe, unless the environment variable COLUMNS states another number.
_PIPE_COLUMNS = 200


def console() -> Console:
    """Return a console for standard output: as wide as the terminal, COLUMNS, or 200 columns."""
    out = SafeConsole(highlight=False)
    columns = os.environ.get("COLUMNS", "")
    if out.is_terminal or (columns.isdigit() and int(columns) > 0):
        return out
    return SafeConsole(highlight=False, width=_PIPE_COLUMNS)
