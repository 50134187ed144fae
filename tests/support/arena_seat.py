"""Plays the officer in a test: give a command, call a tool, go on to a month."""

from collections.abc import Iterator
from typing import Any

from desim import Run
from models.enterprise_arena import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    CommandReply,
    EnterpriseArena,
    Month,
    Pass,
)
from models.enterprise_arena.state import Lender


class Seat:
    """An episode whose officer is the test.

    Attributes:
        run: The episode.
        month: The present observation; None once the episode has ended.
    """

    def __init__(self, model: EnterpriseArena, seed: int = 0) -> None:
        self.run = Run(model, seed)
        self.month: Month | None = None
        self._look()

    @property
    def lender(self) -> Lender:
        """The state, which the officer does not see."""
        lender: Lender = self.run.state
        return lender

    def say(self, command: Any) -> Month | None:
        """Give a command and return the next observation."""
        self.run.answer(self._decision, command)
        self._look()
        return self.month

    def ask(self, tool: Any) -> CommandReply:
        """Use a tool or the notepad and return the reply; the month goes on."""
        seen = self.say(tool)
        assert seen is not None
        assert seen.reply is not None
        return seen.reply

    def out(self, tool: Any) -> Any:
        """Return the output of a tool call that succeeds."""
        reply = self.ask(tool)
        assert reply.ok, reply.out
        return reply.out

    def to(self, month: int, actions: dict[int, Any] | None = None) -> "Seat":
        """Go on to a month, passing in those without an action."""
        while self.month is not None and self.month.current_month < month:
            self.say((actions or {}).get(self.month.current_month, Pass()))
        assert self.month is not None
        assert self.month.current_month == month
        return self

    def _look(self) -> None:
        handed = self.run.advance()
        self.month = handed[0].observation if handed else None
        if handed:
            self._decision = handed[0]


def names(seat: Seat) -> list[str]:
    """Return the names of the documents on file."""
    return [row["filename"] for row in seat.out(AccessFinancialDocs("list"))["documents"]]


def document(seat: Seat, filename: str) -> Any:
    """Read a document."""
    return seat.out(AccessFinancialDocs("retrieve", filename))


def series(seat: Seat, name: str, start: int = 0, end: int | None = None) -> Any:
    """Read a market series."""
    return seat.out(AnalyzeMarketConditions(name, start, end))


def numbers(value: Any) -> Iterator[float]:
    """Yield every number in plain values."""
    if isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value
