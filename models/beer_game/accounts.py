"""The accounts of the chain's book, and prices in its units."""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from ledgers.accounts import Account

__all__ = ["CAPITAL", "CASH", "CENT", "DIGITS", "PAYABLE", "SALES", "book_units", "chart"]

#: Decimals of the book: fractional orders make fractional costs.
DIGITS = 12

#: Units of the book in a cent.
CENT = 10 ** (DIGITS - 2)

#: The account against which every cost is posted; with cash it holds what is not paid yet.
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
