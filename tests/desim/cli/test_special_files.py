"""A command waits for no pipe that a stranger has named."""

import os
from pathlib import Path

import pytest
from support.command_line import Desim


@pytest.mark.parametrize("command", [
    ("memory", "FILE"),
    ("bench", "FILE", "--dry-run"),
    ("sweep", "FILE.toml"),
    ("replay", "FILE"),
    ("resume", "FILE"),
    ("export", "FILE"),
    ("import", "FILE"),
    ("report", "FILE"),
    ("branch", "FILE", "--at", "0"),
    ("run", "beer_game", "--record", "r", "--key", "FILE"),
])  # fmt: skip
def test_a_pipe_is_refused_at_once(command: tuple[str, ...], desim: Desim, folder: Path) -> None:
    """By every command that reads a file of a stranger."""
    for name in ("pipe", "pipe.toml"):
        os.mkfifo(folder / name)
    ended = desim(*(part.replace("FILE", "pipe") for part in command))
    assert ended.code in (1, 2)
    assert "pipe" in ended.err
    assert len(ended.err.splitlines()) == 1
