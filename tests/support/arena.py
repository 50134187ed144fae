"""Episodes of Enterprise Arena that a test plays: by actions by month, or command by command."""

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from desim import Run
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    CommandReply,
    FundRaisingRequest,
    Month,
    Pass,
)
from models.enterprise_arena.lender import Lender

MILLION = 1_000_000
EQUITY = FundRaisingRequest("equity", 20 * MILLION)
DEBT = FundRaisingRequest("debt", 20 * MILLION)


@frozen
class Seen:
    """The observation at a month's action, and the state, which changes afterwards."""

    month: Month
    lender: Lender
    users: float
    lending_rate: float


def months(
    model: EnterpriseArena, actions: Mapping[int, Any], seed: int = 0, until: int | None = None
) -> Iterator[Seen]:
    """Play an episode, passing in every month without an action, up to month *until*."""
    run = Run(model, seed)
    while handed := run.advance():
        (decision,) = handed
        lender, month = run.state, decision.observation
        yield Seen(month, lender, lender.users, lender.lending_rate)
        if month.current_month == until:
            return
        run.answer(decision, actions.get(month.current_month, Pass()))


def played(
    model: EnterpriseArena, actions: Mapping[int, Any] | None = None, seed: int = 0
) -> Lender:
    """Play an episode to its end and return the state."""
    lender: Lender | None = None
    for seen in months(model, actions or {}, seed):
        lender = seen.lender
    assert lender is not None
    return lender


def opened(
    month: int, model: EnterpriseArena, actions: Mapping[int, Any] | None = None, seed: int = 0
) -> Lender:
    """Play up to a month's action and return the state."""
    seen = list(months(model, actions or {}, seed, until=month))
    assert seen[-1].month.current_month == month
    return seen[-1].lender


def entries(lender: Lender, kind: str) -> list[tuple[int, dict[str, int]]]:
    """Return month and amounts of every entry of a kind."""
    journal = lender.books.book.journal
    return [(entry.time, dict(entry.amounts)) for entry in journal if entry.kind == kind]


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
