"""The console of a command, and the pager that shows a table longer than the terminal."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console

from desim.show.console import console

#: Keeps colours, and what was printed after the end; ends by itself where all fits.
_LESS = "FRX"


@contextmanager
def paged() -> Iterator[Console]:
    """Yield a console on which a command prints its result.

    On a terminal, what was printed is shown at the end of the block: by the pager of the
    environment variables DESIM_PAGER or PAGER, otherwise `less`, if it has more lines than the
    terminal. After --no-pager, and with the pager `cat`, it is printed at once.
    """
    out = console()
    if not _is_paging():
        yield out
        return
    with out.capture() as capture:
        yield out
    text = capture.get()
    if text.count("\n") < out.height:
        out.file.write(text)
        return
    os.environ.setdefault("LESS", _LESS)
    if pager := os.environ.get("DESIM_PAGER"):
        os.environ["PAGER"] = pager
    click.echo_via_pager(text)


def _is_paging() -> bool:
    context = click.get_current_context(silent=True)
    if context and context.find_root().params.get("no_pager"):
        return False
    pager = os.environ.get("DESIM_PAGER", os.environ.get("PAGER", "less"))
    return sys.stdout.isatty() and pager not in ("", "cat")
