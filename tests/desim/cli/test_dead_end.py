"""A world whose processes wait for each other for ever ends, and says so."""

from pathlib import Path

import pytest
from support.command_line import Desim

import desim as package

KITCHEN = """
from attrs import frozen
from desim import Model, Option, Role


@frozen
class Seen:
    at: int = 0


@frozen
class Go:
    pass


@frozen
class Kitchen(Model):
    roles = {"chef": Role(Seen, Go, lambda seen: [Option(Go(), 0.0)])}

    def begin(self, world):
        ready, paid = world.event(), world.event()
        world.process(self.cook(world, paid, ready))
        world.process(self.waiter(ready, paid))
        world.process(self.till(paid))
        return []

    def cook(self, world, paid, ready):
        yield world.ask("chef", lambda: Seen(world.now))
        yield world.timeout(12)
        yield paid
        ready.succeed()

    def waiter(self, ready, paid):
        yield ready
        paid.succeed()

    def till(self, paid):
        yield paid

    def score(self, state):
        return 0.0

    def metrics(self, state):
        return {}
"""

SENTENCE = "nothing was left to happen at t=12; processes still wait: cook, waiter, till"


def test_a_dead_end_is_named(desim: Desim, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the command that plays it, by the check of the world, and in Python."""
    (folder / "kitchen.py").write_text(KITCHEN)
    done = desim("run", "kitchen:Kitchen", "--policy", "greedy", "--record", "r")
    assert (done.code, done.err.splitlines()[0]) == (0, f"desim: {SENTENCE}")
    assert SENTENCE in desim("check", "kitchen:Kitchen").out
    assert desim("replay", "r", "--trust").code == 0
    monkeypatch.syspath_prepend(folder)
    result = package.play("kitchen:Kitchen", "greedy").result
    assert result is not None
    assert result.dead_end == SENTENCE
