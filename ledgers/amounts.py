"""Exact text of amounts: integers with a number of decimals, and fractions; without floats."""

from fractions import Fraction

__all__ = ["decimal", "exact", "grouped"]


def decimal(units: int, digits: int) -> str:
    """Return *units* with *digits* decimals: `decimal(-1999, 2)` is "-19.99"."""
    return grouped(units, digits).replace(",", "")


def grouped(units: int, digits: int) -> str:
    """Return *units* with *digits* decimals and commas between thousands."""
    whole, rest = divmod(abs(units), 10**digits)
    tail = f".{rest:0{digits}d}" if digits else ""
    return f"{'-' if units < 0 else ''}{whole:,}{tail}"


def exact(units: int | Fraction) -> str:
    """Return *units* as a decimal where it is finite ("2.5"), else as a fraction ("1/3").

    `fractions.Fraction` reads both back without loss.
    """
    digits, rest = 0, units.denominator
    while rest % 2 == 0 or rest % 5 == 0:
        digits += 1
        rest //= 10 if rest % 10 == 0 else 5 if rest % 5 == 0 else 2
    if rest > 1:
        return str(units)
    return decimal(units.numerator * 10**digits // units.denominator, digits)
