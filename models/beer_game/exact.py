"""Sums and costs of units that may be fractions, in integers.

Orders of a rule such as Sterman's are fractions, and the operators of `Fraction` take most of the
time of such a game. Results are those of the operators, also in their types.
"""

from fractions import Fraction

from models.beer_game.pipeline import Units

__all__ = ["cost", "total"]


def total(*parts: Units) -> Units:
    """Return a sum: an `int` where all parts are, else a `Fraction`, whole or not.

    >>> total(1, 2, 3), total(Fraction(1, 2), 1, Fraction(1, 2))
    (6, Fraction(2, 1))
    """
    over, below = 0, 1
    whole = True
    for part in parts:
        if type(part) is int:
            over += part * below
            continue
        whole = False
        own, common = part.as_integer_ratio()
        # Denominators of floats are powers of two, so that one of two divides the other.
        if below % common == 0:
            over += own * (below // common)
        elif common % below == 0:
            over, below = over * (common // below) + own, common
        else:
            over, below = over * common + own * below, below * common
    return over if whole else Fraction(over, below)


def cost(price: Units, units: Units) -> int:
    """Return what units cost in units of the book, half a unit to the even one.

    >>> cost(50, Fraction(1, 100)), cost(50, Fraction(3, 100)), cost(2, 3)
    (0, 2, 6)
    """
    if type(price) is int and type(units) is int:
        return price * units
    over, below = units.as_integer_ratio()
    factor, divisor = price.as_integer_ratio()
    whole, rest = divmod(over * factor, below * divisor)
    twice = 2 * rest - below * divisor
    return whole + (twice > 0 or (twice == 0 and whole % 2 == 1))
