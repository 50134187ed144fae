"""Tables longer than the terminal go to a pager; the terminal is a pty."""

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.paths import PYTHONPATH

#: A table of more than 24 lines, and one of fewer.
LONG, SHORT = ("list", "beer_game"), ("list", "--policy", "greedy")

Terminal = Callable[..., tuple[int, str]]


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """Run desim on a terminal of 24 lines; *typed* is sent when *after* has been printed."""
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\nexec cat\n")
    pager.chmod(0o755)

    def run(*arguments: str, after: str = "", typed: str = "", **variables: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 100))
        known = {"PYTHONPATH": PYTHONPATH, "PATH": os.environ["PATH"], "TERM": "xterm"}
        process = subprocess.Popen(
            [sys.executable, "-m", "desim", *arguments],
            cwd=tmp_path,
            env=known | {"PAGER": str(pager)} | variables,
            preexec_fn=lambda: log_in(theirs),  # noqa: PLW1509 (no threads fork)
        )
        os.close(theirs)
        try:
            printed = read(ours, after, typed)
            return process.wait(60), printed
        finally:
            process.kill()
            os.close(ours)

    return run


def log_in(theirs: int) -> None:
    """Make a pty the terminal of a process, which Ctrl-C typed there stops."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.login_tty(theirs)


def read(ours: int, after: str, typed: str) -> str:
    """Return what a terminal prints until its program ends."""
    printed = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            printed += os.read(ours, 65_536)
        except OSError:  # no program has the terminal any more
            return printed.decode()
        if typed and after in printed.decode(errors="ignore"):
            for key in typed:
                time.sleep(0.5)  # Ctrl-C discards the keys that are typed after it but not read yet
                os.write(ours, key.encode())
            typed = ""
    raise AssertionError(f"the program is stuck after {printed!r}")


def test_a_table_longer_than_the_terminal_is_paged(terminal: Terminal) -> None:
    """A shorter one is not, and neither is data."""
    code, printed = terminal(*LONG)
    assert (code, printed.startswith("PAGED")) == (0, True)
    assert "policies of every model" in printed
    for arguments in (SHORT, ("list", "beer_game", "--json"), ("list", "beer_gam")):
        assert "PAGED" not in terminal(*arguments)[1]


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        ((*LONG, "--no-pager"), {}),
        (("--no-pager", *LONG), {}),
        (LONG, {"PAGER": "cat"}),
        (LONG, {"DESIM_PAGER": "cat"}),
        (LONG, {"DESIM_PAGER": ""}),
    ],
)
def test_a_pager_is_switched_off(
    terminal: Terminal, arguments: tuple[str, ...], variables: dict[str, str]
) -> None:
    """By an option before or behind the command, or by a variable; the table has its colours."""
    code, printed = terminal(*arguments, **variables)
    assert (code, "PAGED" in printed, "\x1b[1m" in printed) == (0, False, True)


def test_a_pager_of_desim_alone_takes_precedence(terminal: Terminal, tmp_path: Path) -> None:
    """DESIM_PAGER is used where PAGER names another one."""
    ours = str(tmp_path / "pager")
    assert "PAGED" in terminal(*LONG, PAGER="cat", DESIM_PAGER=ours)[1]


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
@pytest.mark.parametrize("typed", ["q", "\x03q"], ids=["q", "Ctrl-C"])
def test_less_shows_colours_and_ends_cleanly(terminal: Terminal, typed: str) -> None:
    """Ctrl-C does not end it, as in other programs; `q` does, without an error."""
    code, printed = terminal(*LONG, after="what it is", typed=typed, DESIM_PAGER="less")
    assert code == 0
    assert "\x1b[m" in printed  # the end of a colour
    assert "ESC" not in printed
    assert "desim:" not in printed
    assert "policies of every model" not in printed
