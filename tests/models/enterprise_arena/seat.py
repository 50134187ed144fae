"""The officer's seat: say an action, ask a tool, go on to a month."""

from collections.abc import Iterator
from typing import Any

from desim import Run
from models.enterprise_arena import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    EnterpriseArena,
    Month,
    Pass,
    Reply,
)
from models.enterprise_arena.company import Company


class Seat:
    """Sits at an episode.

    Attributes:
        run: The episode.
        month: What is seen now; None once the episode has ended.
    """

    def __init__(self, game: EnterpriseArena, seed: int = 0) -> None:
        self.run = Run(game, seed)
        self.month: Month | None = None
        self._look()

    @property
    def company(self) -> Company:
        """What the officer does not see."""
        company: Company = self.run.state
        return company

    def say(self, command: Any) -> Month | None:
        """Give a command and look up again."""
        self.run.answer(self._decision, command)
        self._look()
        return self.month

    def ask(self, tool: Any) -> Reply:
        """Use a tool or the notepad; the month goes on."""
        seen = self.say(tool)
        assert seen is not None
        assert seen.reply is not None
        return seen.reply

    def out(self, tool: Any) -> Any:
        """Return what a tool answers that can."""
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
    """Go through every number in plain values."""
    if isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value
