"""Small companies for tests of several models on one clock, and links between them.

Records name them `support.companies:Firm`, their links `support.companies:pay_weekly` and so on.
"""

import datetime as dt
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen
from attrs.validators import ge, in_
from support.small_worlds import Walk

from desim.composition import AFTER_PARTS, Composite, Group
from desim.core.calendar import Calendar, Months
from desim.core.model import Model
from desim.core.reported import Time
from desim.core.result import Result
from desim.core.roles import Option, Role
from desim.core.world import World
from desim.episodes.driver import play_session
from desim.episodes.lineup import Policies, resolve
from desim.episodes.session import Session
from desim.records.episode import Episode
from ledgers.book import Book
from ledgers.consolidation import Intercompany

#: The name of the model in records and on the command line.
FIRM = "support.companies:Firm"

_DAY = dt.timedelta(days=1)
_START = dt.datetime(2024, 3, 4)  # noqa: DTZ001 (calendars have no time zones)

#: By name: days that open at nine, weeks, and months with tick 0 at the end of the first.
_CALENDARS: dict[str, Calendar | Months] = {
    "days": Calendar(_START + dt.timedelta(hours=9), _DAY),
    "weeks": Calendar(_START, 7 * _DAY),
    "months": Months(_START, -1),
}


@frozen
class Report:
    """What the boss sees.

    Attributes:
        period: Periods completed.
        cash: Cents on hand.
    """

    period: int
    cash: int


@frozen
class Spend:
    """Spend some cash, or what is on hand if that is less.

    Attributes:
        cents: How much.
    """

    cents: int = field(validator=ge(0))


@frozen
class Save:
    """Spend nothing."""


@define(eq=False)
class Accounts:
    """The state of a firm.

    Attributes:
        world: Its clock.
        book: Cash, capital, income and spending.
        partners: Its intercompany account.
        cash: Cents on hand after each period.
        notes: What happened, with ticks, where a test looks at it.
    """

    world: World
    book: Book
    partners: Intercompany
    cash: list[int] = field(factory=list)
    notes: list[tuple[int, str]] = field(factory=list)

    @property
    def ledgers(self) -> tuple[Book, ...]:
        """Return the book."""
        return (self.book,)


@frozen
class Firm(Model[Accounts]):
    """A firm that earns a random income each period; its boss may spend some of it.

    Attributes:
        periods: How many it is open.
        ticks: "days", "weeks" or "months": what a tick is.
        opening: Cents at the start.
        asks: Whether the boss is asked.
        before: The rank before which questions go out, if they do not wait for the end of a tick.
        fault: What goes wrong in the period *when*: raise, exit, observe (the observation raises),
            score, metrics (these raise), nan (the score), spin (events without end), nag (questions
            without end), far (an event after year 9999), hang (waits for nothing).
        when: The period of the fault.
        max_questions_per_tick: As models state it.
    """

    periods: int = field(default=3, validator=ge(0))
    ticks: str = field(default="weeks", validator=in_(_CALENDARS))
    opening: int = field(default=1_000, validator=ge(0))
    asks: bool = True
    before: int | None = None
    fault: str = ""
    when: int = 1
    max_questions_per_tick: int = 20

    @property
    def roles(self) -> Mapping[str, Role]:
        """Return the boss, and an auditor who may look on."""
        boss = Role(Report, Spend | Save, _options)
        return {
            "boss": boss,
            "auditor": Role(Report, Save, lambda _: [Option(Save(), 0.0)], optional=True),
        }

    @property
    def default_roles(self) -> tuple[str, ...]:
        """Return the boss."""
        return ("boss",)

    @property
    def time(self) -> Time:
        """Return the calendar of its ticks, and the day of a tick, played alone."""
        calendar = _CALENDARS[self.ticks]
        return Time(calendar=calendar, date=lambda tick: calendar.moment(tick).date())

    def begin(self, world: World) -> Accounts:
        """Open the firm."""
        book = Book("cash", "capital", "income", "spending")
        if self.opening:
            book.transfer(0, "founded", "cash", "capital", self.opening)
        state = Accounts(world, book, Intercompany(book, "cash", "asset"))
        world.process(self._trade(world, state))
        return state

    def _trade(self, world: World, state: Accounts) -> Iterator[Any]:
        income = world.stream("income")
        for period in range(self.periods):
            if period == self.when:
                yield from self._fail(world, state)
            if "auditor" in world.seats:
                yield world.ask("auditor", lambda: self._report(state))
            if self.asks:
                act = yield world.ask("boss", lambda: self._report(state), self.before)
                state.notes.append((world.now, "answered"))
                self._carry_out(state, act)
            yield world.timeout(1)
            earned = int(income.integers(1, 100))
            state.book.transfer(world.now, "earned", "cash", "income", earned)
            state.cash.append(state.partners.held)
            state.notes.append((world.now, "earned"))
        world.end("closed")

    def _fail(self, world: World, state: Accounts) -> Iterator[Any]:
        match self.fault:
            case "raise":
                raise KeyError("till")
            case "exit":
                raise SystemExit(3)
            case "spin":
                while True:
                    yield world.timeout(0)
            case "nag":
                while True:
                    yield world.ask("boss", lambda: self._report(state))
            case "far":
                yield world.timeout(10**6)
            case "hang":
                yield world.event()

    def _report(self, state: Accounts) -> Report:
        period = len(state.cash)
        if self.fault == "observe" and period == self.when:
            raise LookupError("the books are lost")
        return Report(period, state.partners.held)

    def _carry_out(self, state: Accounts, act: Spend | Save) -> None:
        cents = min(act.cents, state.partners.held) if isinstance(act, Spend) else 0
        if cents:
            state.book.transfer(state.world.now, "spent", "spending", "cash", cents)

    def score(self, state: Accounts) -> float:
        """Return the cash, dollars."""
        if self.fault == "score":
            raise ZeroDivisionError("no scales")
        return float("nan") if self.fault == "nan" else state.partners.held / 100

    def metrics(self, state: Accounts) -> Mapping[str, Any]:
        """Return periods and income; needs an end."""
        if self.fault == "metrics":
            raise LookupError("no figures")
        assert state.world.ended
        return {"periods": len(state.cash), "income": -state.book.balance("income")}

    def series(self, state: Accounts) -> Mapping[str, Sequence[float]]:
        """Return the cash after each period, cents."""
        return {"cash": state.cash}

    def tables(self, state: Accounts, role: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the cash by period."""
        return {
            f"cash of the {role}": [{"period": n, "cents": c} for n, c in enumerate(state.cash)]
        }

    def statements(self, state: Accounts) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the income."""
        return {"income": [{"line": "income", "cents": -state.book.balance("income")}]}

    # -- in a group --------------------------------------------------------------------------------

    def purse(self, state: Accounts) -> Intercompany:
        """Return the cash."""
        return state.partners

    def add_bonus(self, state: Accounts, ticks: int) -> None:
        """Schedule an event: a bonus of one cent after some ticks."""
        state.world.process(self._bonus(state, ticks))

    def _bonus(self, state: Accounts, ticks: int) -> Iterator[Any]:
        yield state.world.timeout(ticks)
        state.notes.append((state.world.now, "bonus"))
        state.book.transfer(state.world.now, "bonus", "cash", "income", 1)


class Closed(Intercompany):
    """The purse of a club, which keeps no cash for others."""

    @property
    def held(self) -> int:
        """Refuse."""
        raise ValueError("the club keeps no cash")


@frozen
class Club(Firm):
    """A firm that, as it says only once it has begun, keeps no cash for others."""

    def purse(self, state: Accounts) -> Closed:
        """Return a purse that refuses."""
        return Closed(state.book, "cash", "asset")


@frozen
class Hike(Walk):
    """A walk of a step a day: a part without cash."""

    @property
    def time(self) -> Time:
        """Return days from March on."""
        return Time(calendar=Calendar(_START, _DAY))


def _options(seen: Report) -> list[Option]:
    return [Option(Save(), 0.0), Option(Spend(seen.cash // 2), float(seen.period))]


# -- links -----------------------------------------------------------------------------------------


def pay_weekly(world: World, group: Group) -> Generator[Any, Any, None]:
    """Let `north` pay 10 cents to `south` at the end of every week."""
    while True:
        yield world.timeout(group.until(group.clock.moment(world.now) + 7 * _DAY), rank=AFTER_PARTS)
        group.transfer("north", "south", 10)


def pay_monthly(world: World, group: Group) -> Generator[Any, Any, None]:
    """Let `north` pay half its cash to `south` at the end of every month of 30 days."""
    while True:
        yield world.timeout(
            group.until(group.clock.moment(world.now) + 30 * _DAY), rank=AFTER_PARTS
        )
        group.transfer("north", "south", group.cash("north") // 2)


def pay_too_much(world: World, group: Group) -> Generator[Any, Any, None]:
    """Let `north` pay more than it has after eight days."""
    yield world.timeout(group.until(group.clock.start + 8 * _DAY), rank=AFTER_PARTS)
    group.transfer("north", "south", 10**9)


# -- models by a function's name -------------------------------------------------------------------


def company() -> Composite:
    """Two firms, of which one pays the other."""
    return Composite({"north": Firm(), "south": Firm(ticks="months")}, links=pay_weekly)


# -- playing ---------------------------------------------------------------------------------------


def played(model: Any, policies: Policies, seed: int, **options: Any) -> tuple[Episode, Any]:
    """Play an episode; return it and the state in which it ended."""
    with Session(model, resolve(model, policies, seed), seed, **options) as session:
        return play_session(session), session.run.state


def figures(result: Result) -> tuple[Any, ...]:
    """Return what a part has in common with its model played alone."""
    return (
        result.score,
        result.ended,
        result.metrics,
        result.decisions,
        result.ledger_digest,
        result.waiting,
    )
