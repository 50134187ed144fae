"""The cash of a chain that keeps some: its sales bring it in, its weekly costs are paid from it.

Cash moves in whole cents, so that other companies can send and receive all of it. A week's sales
are rounded to the cent, and the part of a cent that the chain owes is paid once it makes a cent.
"""

from ledgers.book import Book
from ledgers.intercompany import Intercompany
from models.beer_game.accounts import CAPITAL, CASH, CENT, PAYABLE, SALES, book_units
from models.beer_game.pipeline import Units

__all__ = ["Cash"]


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
        """Return a week's lines of sales, cash and what is owed; with the costs they sum to zero.

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
