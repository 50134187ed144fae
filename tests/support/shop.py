"""A shop that sells from two stocks and keeps a book: a world with everything that is exported.

Records name its model `support.shop:Shop`.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from attrs import define, frozen

from desim.core.model import Model
from desim.core.reported import Time
from desim.core.roles import Role
from desim.core.world import World
from ledgers.book import Book, Memo
from ledgers.chart import Account, Chart
from ledgers.stock import Stock

CASH, CAPITAL, SALES = "1000", "3000", "4000"
CHART = Chart(
    [
        Account(CASH, "Cash", "asset"),
        Account(CAPITAL, "Capital", "equity"),
        Account(SALES, "Sales", "income"),
    ]
)


@frozen
class Day:
    """What the clerk sees: teas left."""

    teas: int


@frozen
class Sell:
    """Sell some teas."""

    teas: int


@define(eq=False)
class Till:
    """The state: a book, and two stocks, of which the second may lack a name."""

    book: Book
    teas: Stock
    cups: Stock

    @property
    def ledgers(self) -> Sequence[Any]:
        """The ledgers that enter the digest."""
        return (self.book, self.teas, self.cups)


@frozen
class Shop(Model[Till]):
    """A shop that is open for some days.

    Attributes:
        days: Days, at least 1.
        cups: Name of the second stock.
        price: Of a tea, cents.
    """

    days: int = 3
    cups: str = ""
    price: int = 250

    @property
    def roles(self) -> Mapping[str, Role]:
        """The clerk."""
        return {"clerk": Role(Day, Sell, default_action=lambda _: Sell(1))}

    def begin(self, world: World) -> Till:
        """Open the shop with ten teas and ten cups."""
        book = Book(*CHART, name="shop")
        book.post(-1, Memo("founding", "founding"), {CASH: 1, CAPITAL: -1})
        till = Till(book, Stock(["shelf"], ["edge"], "teas"), Stock(["shelf"], ["edge"], self.cups))
        till.teas.open("shelf", 10)
        till.cups.open("shelf", 10)
        world.process(self._trade(world, till))
        return till

    def _trade(self, world: World, till: Till) -> Iterator[Any]:
        for _ in range(self.days):
            sold = yield world.ask("clerk", lambda: Day(int(till.teas["shelf"])))
            till.teas.move(world.now, "shelf", "edge", sold.teas)
            sale = Memo("teas sold", "sale", {"teas": sold.teas})
            till.book.transfer(world.now, sale, CASH, SALES, self.price * sold.teas)
            yield world.timeout(1)

    def score(self, till: Till) -> float:
        """Return the cash, cents."""
        return till.book.balance(CASH)

    def metrics(self, till: Till) -> Mapping[str, Any]:
        """Return no further figures."""
        return {}

    #: Days from 1 March 2024 on.
    time: ClassVar[Time] = Time(date=lambda tick: dt.date(2024, 3, 1) + dt.timedelta(days=tick))

    def statements(self, till: Till) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return an income statement of two rows with different columns."""
        sales = till.book.money(-till.book.balance(SALES))
        return {"income statement": [{"row": "sales", "usd": sales}, {"row": "net", "note": None}]}
