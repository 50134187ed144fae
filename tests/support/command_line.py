"""The command line as tests run it, and the files of a user."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from support.paths import PYTHONPATH

#: A rule and a world as users write them.
MINE = '''
from attrs import frozen
from desim import Policy
from models.beer_game import BeerGame, Order, Stage


@frozen
class Cover(Policy):
    """Cover some weeks of demand."""

    weeks: int = 4

    def decide(self, stage: Stage) -> Order:
        return Order(max(0, self.weeks * stage.incoming_order - stage.position))


class Async(Policy):
    async def decide(self, stage: Stage) -> Order:
        return Order(4)


def rule(stage: Stage) -> Order:
    """A policy that is a function."""
    return Order(4)


class Breaks(Policy):
    def decide(self, stage: Stage) -> Order:
        raise RuntimeError("out of order")


class World(BeerGame):
    """The same game under another name."""


class NoPolicy:
    pass


class NoSubclass:
    def decide(self, stage: Stage) -> Order:
        return Order(4)
'''


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Desim = Callable[..., Ended]


def interruptible(command: Sequence[str], **options: Any) -> "subprocess.Popen[Any]":
    """Start a program that Ctrl-C stops, as from a terminal.

    A shell lets the programs of a script in the background ignore SIGINT, which children inherit.
    """
    return subprocess.Popen(command, preexec_fn=_heed_interrupts, **options)  # noqa: PLW1509 (no threads fork)


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def refused(ended: Ended, says: str, code: int = 2) -> None:
    """Check that the output is one sentence on standard error."""
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.startswith("desim: ")
    assert ended.err.count("\n") == 1
    assert says in ended.err


def python(*arguments: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run Python with the project and the tests' helpers on its path."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
