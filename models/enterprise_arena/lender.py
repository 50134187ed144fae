"""The state of an episode: the lender with its books, requests, notes and events."""

from collections import Counter
from typing import Any, NamedTuple

from attrs import define, field, frozen
from simpy import Event, Resource

from desim import World
from ledgers.book import Book
from models.enterprise_arena.books import (
    CASH,
    INTEREST_REVENUE,
    LOANS,
    NOTES_PAYABLE,
    PRINCIPAL_RECEIVABLE,
    Books,
)
from models.enterprise_arena.desk import CommandReply, Note, Tool
from models.enterprise_arena.macro import Macro
from models.enterprise_arena.params import YEAR, ArenaParams
from models.enterprise_arena.regimes import Path

#: The name of the only role: the chief financial officer.
CFO = "cfo"

#: Why an episode ended.
BANKRUPT, SURVIVED = "cash balance went negative", "horizon"


class Indicators(NamedTuple):
    """The lender's own drivers of a month, its noise included, percent but for the rate.

    They are never shown. The collection rate is the share of billed amounts that is collected.
    """

    gross_margin: float
    ebitda_margin: float
    growth: float
    collection_rate: float


@frozen
class FundingRequest:
    """A funding request under way. Only its type and amount may be shown.

    Attributes:
        type: "equity" or "debt".
        amount: Dollars requested.
        month: In which it was submitted.
        succeeds: Whether money arrives.
        received: Cents that arrive if it succeeds.
        delay: Months to the outcome.
        chance: The odds of success, 0 to 1, as of the month.
        most: Cents that arrive at most, as of the month; None without a limit.
    """

    type: str
    amount: float
    month: int
    succeeds: bool
    received: int
    delay: int
    chance: float
    most: int | None


@define
class TermLoan:
    """A note: equal instalments of principal, and interest on the balance.

    They are numbered from 1 in the order of the draws. `principal` and `balance` are cents, `rate`
    is a share a year fixed at the draw, `drawn` its month.
    """

    number: int
    principal: int
    balance: int
    rate: float
    drawn: int

    def repay(self, month: int, term: int) -> int:
        """Deduct an instalment; the last of *term* repays what rounding has left (SPEC 8.4)."""
        is_last = month - self.drawn >= term - 1
        paid = self.balance if is_last else min(self.balance, round(self.principal / term))
        self.balance -= paid
        return paid


@define(eq=False, repr=False)
class Lender:
    """The state of an episode; money is in cents, lists have the oldest first.

    Attributes:
        macro: The macro history in use: the table, or a path drawn from the seed.
        path: The drawn path, with the state on which its later months depend; None for a table.
        growth: Borrower growth of the industry in every month, percent: the profile's column.
        noise: Four standard deviates a month, times their sigmas.
        draws: Three uniform draws a month, for the request submitted in it.
        forced: Outcomes by month that replace the draws: success, fill, delay.
        users: Active borrowers, a real number.
        lending_rate: Blended annual yield of the loans, a share.
        loss_carryforward: Reduces taxable income.
        slot: Capacity 1: the request under way holds it.
        drawing: Triggered when a note is drawn; the service of notes waits for it.
        payroll: The staff receives it on the month's payday.
        payables_due: Payables of the end of last month; vendors receive them this month.
        outcome: The event of the outcome of `request`, the one under way.
        notifications: Outcomes of funding that became known this month, as shown.
        closings: Months for which the officer ordered a closing, oldest first.
        files: The register of documents: every document listed so far, by name.
        months_filed: Months whose documents are in the register.
        answered: The tools that have returned something, with the month of the call.
        events: Every event of funding with its odds, for analysis; never shown.
        counts: Actions by name, "refused" requests, "free_refusals" among them that did not use
            the month, and "equity" and "debt" successes.
        revenue_to_date: Revenue of the year to date at the end of every month.
        pretax_to_date: Income before tax of the year to date at the end of last month.
        peak: Highest cash at the opening of a month so far.
        low: Lowest cash at the opening of a month so far.
    """

    world: World
    params: ArenaParams
    macro: Macro
    path: Path | None
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
    payroll: int = 0
    payables_due: int = 0
    rounds: int = 0
    drawn: int = 0
    term_loans: list[TermLoan] = field(factory=list)
    request: FundingRequest | None = None
    outcome: Event | None = None
    notifications: list[dict[str, Any]] = field(factory=list)
    indicators: list[Indicators] = field(factory=list)
    closings: list[int] = field(factory=list)
    files: dict[str, Any] = field(factory=dict)
    months_filed: int = 0
    calls: list[int] = field(factory=list)
    answered: list[tuple[int, Tool]] = field(factory=list)
    note_calls: int = 0
    refusals: int = 0
    notepad: list[Note] = field(factory=list)
    reply: CommandReply | None = None
    events: list[dict[str, Any]] = field(factory=list)
    counts: Counter[str] = field(factory=Counter)
    raised: Counter[str] = field(factory=Counter)
    revenue_to_date: list[int] = field(factory=list)
    pretax_to_date: int = 0
    peak: int = 0
    low: int = 0

    @property
    def ledgers(self) -> tuple[Book]:
        """The ledgers that enter the digest of the episode."""
        return (self.books.book,)

    @property
    def month(self) -> int:
        """The present month, from 0."""
        return self.world.now

    @property
    def months_closed(self) -> int:
        """Number of months operated."""
        return len(self.indicators)

    @property
    def closed(self) -> list[int]:
        """The months whose statements can be read, oldest first; never the present month."""
        return [month for month in self.closings if month < self.month]

    @property
    def cash(self) -> int:
        """Cash in the bank."""
        return self.books.held[CASH]

    @property
    def closing_cash(self) -> int:
        """Cash at the end of the last month closed; 0 before the first.

        It includes cash from or to a group after the close, but before the next month.
        """
        months, journal = len(self.revenue_to_date), self.books.book.journal
        later = [journal[at].amounts.get(CASH, 0) for at in journal.span(since=months)]
        return self.cash - sum(later) if months else 0

    @property
    def debt(self) -> int:
        """Notes outstanding."""
        return -self.books.held[NOTES_PAYABLE]

    @property
    def gross_loans(self) -> int:
        """Unbilled principal, and billed principal not yet collected."""
        return self.books.held[LOANS] + self.books.held[PRINCIPAL_RECEIVABLE]

    @property
    def leverage(self) -> float:
        """Notes over book equity, which counts as at least a dollar (SPEC section 8.1)."""
        return self.debt / max(self.books.equity, 100)

    @property
    def tool_calls(self) -> int:
        """Tool calls of the whole episode."""
        return sum(self.calls)

    def follow(self, path: Path) -> None:
        """Play another path, whose months up to the present one are the same."""
        self.path, self.macro = path, path.macro
        self.growth = getattr(path.macro, self.params.growth_column)

    def open_month(self) -> None:
        """Begin a month: no tool call is used yet; record the opening cash."""
        self.calls.append(0)
        self.note_calls = self.refusals = 0
        self.peak = max(self.peak, self.cash)
        self.low = min(self.low, self.cash)

    def close_month(self) -> None:
        """End a month: record its revenue, and drop its notifications."""
        self.notifications = []
        self.revenue_to_date.append(-self.books.held[INTEREST_REVENUE])

    def revenue(self, month: int) -> int:
        """Return the revenue of a closed month."""
        to_date = self.revenue_to_date
        # January starts from zero, as the year-end close empties the account.
        return to_date[month] - (to_date[month - 1] if month % YEAR else 0)
