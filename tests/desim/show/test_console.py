"""Texts from outside steer no terminal."""

import io

from rich.table import Table
from rich.text import Text

from desim.errors import UsageError
from desim.show.console import SafeConsole

HOSTILE = "\x1b[2J\x07\x9b31m\u202e"
ESCAPED = r"\x1b[2J\x07\x9b31m\u202e"


def test_a_console_prints_what_would_steer_a_terminal_as_text() -> None:
    """In lines, heads and cells; its own colours stay."""
    table = Table(HOSTILE, title=Text(HOSTILE))
    table.add_row(Text(f"key {HOSTILE}", "bold"))
    out = io.StringIO()
    console = SafeConsole(file=out, width=200, force_terminal=True, highlight=False)
    console.print(table)
    console.print(HOSTILE, style="bold", markup=False)
    printed = out.getvalue()
    assert printed.count("\x1b[1m") >= 2
    # Without the bell, which rich leaves out of texts itself.
    assert ESCAPED.replace(r"\x07", "") in printed
    assert not any(mark in printed for mark in ("\x1b[2J", "\x07", "\x9b", "\u202e"))


def test_an_error_holds_no_escape_and_keeps_its_lines() -> None:
    """It is the same when it is built again from its text, as it is between processes."""
    error = UsageError(f"{HOSTILE}\n" * 300)
    assert not any(mark in str(error) for mark in ("\x1b", "\x07", "\x9b", "\u202e"))
    assert len(str(error)) <= 4_000
    assert str(error).startswith(ESCAPED + "\n")
    assert str(UsageError(str(error))) == str(error)
