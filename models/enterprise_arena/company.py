"""The company and its year: what stands beside the books."""

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import define, field, frozen
from simpy import Event, Resource

from desim import World
from ledgers.book import Book
from models.enterprise_arena.journal import Books, cents, dollars
from models.enterprise_arena.macro import Macro
from models.enterprise_arena.observation import Noted, Reply

if TYPE_CHECKING:
    from models.enterprise_arena.params import EnterpriseArena

__all__ = ["CFO", "Company", "Indicators", "Request", "TermLoan", "cents", "dollars"]

#: The one seat.
CFO = "cfo"


class Indicators(NamedTuple):
    """What a month brought to the company, its own noise included; never shown.

    Attributes:
        gross_margin: Percent of revenue.
        ebitda_margin: Percent of revenue.
        growth: Of borrowers, percent of the month.
        collection_rate: Share of billed amounts that comes in.
    """

    gross_margin: float
    ebitda_margin: float
    growth: float
    collection_rate: float


@frozen
class Request:
    """A funding request under way. Only its type and amount may be shown.

    Attributes:
        type: "equity" or "debt".
        amount: Dollars asked for.
        month: In which it was accepted.
        succeeds: Whether money comes.
        received: Cents that come if it does.
        delay: Months to the outcome.
    """

    type: str
    amount: float
    month: int
    succeeds: bool
    received: int
    delay: int


@define
class TermLoan:
    """A note: equal instalments of principal, interest on the balance.

    Attributes:
        number: From 1, in the order of the draws.
        principal: Cents drawn.
        balance: Cents outstanding.
        rate: Contract rate, a share a year, fixed for life.
        drawn: The month of the draw.
    """

    number: int
    principal: int
    balance: int
    rate: float
    drawn: int


@define(eq=False, repr=False)
class Company:
    """The state of an episode.

    Attributes:
        world: Its clock.
        game: Its parameters.
        macro: The outside world in force: the table, or a path drawn from the seed.
        growth: The industry's borrower growth of every month, percent: the profile's column.
        books: Every balance.
        noise: Four standard normal draws a month.
        draws: Three uniform draws a month, for the request made in it.
        forced: Outcomes by month that replace the draws: success, fill, delay.
        users: Active borrowers, a real number.
        lending_rate: Blended annual yield of the book, a share.
        shares: Common shares.
        loss_carryforward: Cents that reduce taxable income.
        rounds: Equity rounds closed.
        drawn: Notes drawn.
        term_loans: Notes with a balance.
        slot: The one place for a request under way.
        drawing: Happens when a note is drawn, for whoever waits to service it.
        request: What holds it, or None.
        notifications: Outcomes of funding that became known this month, as shown.
        indicators: Of every month closed.
        closings: Months whose books were closed, oldest first.
        files: Documents that were looked for, by name.
        filed: Months whose documents are among them.
        calls: Tool calls of every month so far.
        note_calls: Uses of the notepad this month.
        notepad: What was noted, oldest first.
        reply: What the last command was answered.
        events: Everything about funding with its odds, for analysis; never shown.
        counts: Actions by name, and "refused", "equity" and "debt" successes.
        raised: Cents that came, by type.
        revenue_to_date: Of the year, read from the books at the end of every month, cents.
        closing_cash: Read from the books at the end of the last month, cents.
        peak: Highest cash at the opening of a month so far, cents.
        low: Lowest cash at the opening of a month so far, cents.
    """

    world: World
    game: "EnterpriseArena"
    macro: Macro
    growth: tuple[float, ...]
    books: Books
    noise: list[list[float]]
    draws: list[list[float]]
    forced: dict[int, tuple[bool, float, int]]
    users: float
    lending_rate: float
    shares: float
    loss_carryforward: int
    slot: Resource
    drawing: Event
    rounds: int = 0
    drawn: int = 0
    term_loans: list[TermLoan] = field(factory=list)
    request: Request | None = None
    notifications: list[dict[str, Any]] = field(factory=list)
    indicators: list[Indicators] = field(factory=list)
    closings: list[int] = field(factory=list)
    files: dict[str, Any] = field(factory=dict)
    filed: int = 0
    calls: list[int] = field(factory=list)
    note_calls: int = 0
    notepad: list[Noted] = field(factory=list)
    reply: Reply | None = None
    events: list[dict[str, Any]] = field(factory=list)
    counts: Counter[str] = field(factory=Counter)
    raised: Counter[str] = field(factory=Counter)
    revenue_to_date: list[int] = field(factory=list)
    closing_cash: int = 0
    peak: int = 0
    low: int = 0

    @property
    def ledgers(self) -> tuple[Book]:
        """What enters the digest of the episode."""
        return (self.books.book,)

    @property
    def month(self) -> int:
        """The present month, from 0."""
        return self.world.now

    @property
    def months_closed(self) -> int:
        """How many months have been operated."""
        return len(self.indicators)

    @property
    def cash(self) -> int:
        """In the bank, cents."""
        return self.books.held["1000"]

    @property
    def debt(self) -> int:
        """Notes outstanding, cents."""
        return -self.books.held["2200"]

    @property
    def gross_loans(self) -> int:
        """Principal not yet billed, and billed and not yet collected, cents."""
        return self.books.held["1100"] + self.books.held["1110"]

    @property
    def leverage(self) -> float:
        """Notes over book equity, which counts as a dollar at least (SPEC section 8.1)."""
        return self.debt / max(self.books.equity, 100)

    @property
    def last_close(self) -> int | None:
        """The month whose books were closed last."""
        return self.closings[-1] if self.closings else None

    @property
    def tool_calls(self) -> int:
        """Of the whole episode."""
        return sum(self.calls)

    def open_month(self) -> None:
        """Begin a month with a full budget of calls."""
        self.calls.append(0)
        self.note_calls = 0
        cash = self.cash
        if cash > self.peak:
            self.peak = cash
        elif cash < self.low:
            self.low = cash

    def close_month(self) -> None:
        """End a month: its figures stand, and what was news in it is news no more."""
        self.notifications = []
        self.revenue_to_date.append(-self.books.held["4000"])
        self.closing_cash = self.cash
