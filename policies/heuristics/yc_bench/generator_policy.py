"""A policy written as a generator, which yields commands and is sent the desks that follow."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from attrs import define, field

from desim import Policy
from models.yc_bench.actions import Command
from models.yc_bench.desk import FounderDesk

#: Commands out, desks in.
Commands = Generator[Command, FounderDesk, None]

#: Commands out, desks in, a result in the end: a part of a policy.
Steps = Generator[Command, FounderDesk, Any]

#: A row of a reply, as the console prints it.
Row = Mapping[str, Any]


@define
class GeneratorPolicy(Policy):
    """Decides by a generator of commands, which a subclass writes."""

    _commands: Commands | None = field(default=None, init=False, repr=False)

    def commands(self, desk: FounderDesk) -> Commands:
        """Yield commands, from the first desk on; each yield returns the desk that follows."""
        raise NotImplementedError

    def decide(self, desk: FounderDesk) -> Command:
        """Send the desk to the generator and return its next command.

        A further episode, which opens after a bankruptcy, begins with a generator of its own.
        """
        reopened = desk.status is not None and desk.status.kind == "reopened"
        if self._commands is None or reopened:
            self._commands = self.commands(desk)
            return next(self._commands)
        return self._commands.send(desk)


def reply(desk: FounderDesk) -> Row:
    """Return what the last command printed."""
    assert desk.reply is not None
    printed: Row = desk.reply.out
    return printed


def rows(desk: FounderDesk, key: str) -> Sequence[Row]:
    """Return the rows under a key of the last reply."""
    listed: Sequence[Row] = reply(desk)[key]
    return listed


def work(row: Row) -> float:
    """Return the units of work of a task; of several domains those of the first."""
    units: float = row["requirements"][0]["required_qty"]
    return units


def pay(row: Row) -> float:
    """Return the cents that a task pays for a unit of work."""
    cents: float = row["reward_funds_cents"] / work(row)
    return cents
