"""The accounts of the chain's book, and prices in its units.

The cash of a chain that keeps cash: sales are received in it, weekly costs are paid from it.

Cash moves in whole cents, so that other companies can send and receive all of it. A week's sales
are rounded to the cent, and the part of a cent that the chain owes is paid once it makes a cent.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from ledgers.book import Book
from ledgers.chart import Account
from ledgers.consolidation import Intercompany
from models.beer_game.pipeline import Units

#: Decimals of the book: fractional orders make fractional costs.
DIGITS = 12


#: Units of the book in a cent.
CENT = 10 ** (DIGITS - 2)


#: The account against which every cost is posted; with cash it holds the unpaid amount.
PAYABLE = "payable"


#: The accounts of a chain that keeps cash.
CASH, CAPITAL, SALES = "cash", "capital", "sales"


def chart(costs: Iterable[str], *, keeps_cash: bool) -> list[str | Account]:
    """Return the accounts of a book.

    Args:
        costs: Codes of the stages' costs: "holding.retailer".
        keeps_cash: Whether the chain keeps cash. Its accounts then have names and kinds, from which
            statements can be made.
    """
    if not keeps_cash:
        return [*costs, PAYABLE]
    return [
        *(Account(code, code.replace(".", " cost, ").capitalize(), "expense") for code in costs),
        Account(PAYABLE, "Accounts payable", "liability"),
        Account(CASH, "Cash", "asset"),
        Account(CAPITAL, "Paid-in capital", "equity"),
        Account(SALES, "Sales margin", "income"),
    ]


@lru_cache(maxsize=64)  # Fraction reads a text in several microseconds
def book_units(price: float) -> int | Fraction:
    """Return an amount of money in units of the book.

    A price is the fraction that its decimal text names: 0.1 is a tenth, not its nearest double.
    """
    units: Fraction = Fraction(str(price)) * 10**DIGITS
    # Whole prices as integers: arithmetic of fractions takes ten times as long.
    return units.numerator if units.denominator == 1 else units


class Cash:
    """Cash in the book of a chain.

    Args:
        book: The chain's book.
        opening: Money on hand before the first week, in whole cents.
        unit_margin: Money received for each unit that customers receive.

    Attributes:
        group: The cash exchanged with other companies.
    """

    __slots__ = ("_book", "_margin", "group")

    def __init__(self, book: Book, opening: float, unit_margin: float) -> None:
        self._book = book
        self._margin = book_units(unit_margin)
        self.group = Intercompany(book, CASH, "asset")
        if opening:
            book.transfer(0, "opening cash", CASH, CAPITAL, int(book_units(opening)))

    def week(self, cost: int, delivered: Units) -> dict[str, int]:
        """Return a week's lines of sales, cash and debts; with the costs they sum to zero.

        The chain pays all that it owes, or all the cash it has.

        Args:
            cost: The week's cost of all stages, in units of the book.
            delivered: Units that customers received in the week.
        """
        held = self._book.held
        sales = int(self._margin * delivered + CENT // 2) // CENT * CENT
        cash, owed = held[CASH] + sales, cost - held[PAYABLE]
        paid = min(cash, owed // CENT * CENT)
        return {PAYABLE: paid - cost, CASH: sales - paid, SALES: -sales}
