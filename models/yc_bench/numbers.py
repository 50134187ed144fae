"""Numbers as the published store keeps them: decimals that pass through doubles (SPEC 5)."""

from decimal import Decimal

__all__ = ["decimal", "stored"]


def stored(value: Decimal | float, digits: int) -> Decimal:
    """Return what is read back after a value was kept as a double and printed with some digits.

    >>> stored(Decimal("2.67449"), 3)
    Decimal('2.674')
    """
    return Decimal(f"{float(value):.{digits}f}")


def decimal(value: float) -> Decimal:
    """Return the decimal that a double prints as."""
    return Decimal(str(value))
