"""Decimals as the published store keeps them: they pass through doubles (SPEC section 5)."""

from decimal import Decimal

__all__ = ["decimal", "stored"]


def stored(value: Decimal | float, digits: int) -> Decimal:
    """Return what the store reads back after it has written a value with some decimals.

    >>> stored(Decimal("2.67449"), 3)
    Decimal('2.674')
    """
    return Decimal(f"{float(value):.{digits}f}")


def decimal(value: float) -> Decimal:
    """Return the shortest decimal that reads back as the double.

    >>> decimal(0.1)
    Decimal('0.1')
    """
    return Decimal(str(value))
