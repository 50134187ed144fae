"""The book's unit: rates times fractions of effort are no whole cents, so it is 1e-12 of money."""

__all__ = ["DIGITS", "UNIT", "units"]

#: Decimals of the book.
DIGITS = 12
UNIT = int(10**DIGITS)


def units(money: float) -> int:
    """Return an amount of money, or of effort, in whole units; whole amounts are exact."""
    return int(money) * UNIT if money.is_integer() else round(money * UNIT)
