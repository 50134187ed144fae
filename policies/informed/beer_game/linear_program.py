"""A linear program with a lower bound on its optimum that is exact, whatever the solver's errors.

The solver works in doubles. Its dual prices are rounded to multiples of a unit, and the bound is
computed from them in fractions: every row is priced instead of required, and each variable then
takes its cheapest value by itself. Any prices give a bound that holds; wrong ones give a low bound,
or none. The matrix of a network, whose costs are multiples of the unit, has dual prices that are
multiples of it too, so that rounding finds the exact ones.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

from attrs import define, field, frozen

_ZERO = Fraction(0)


@frozen
class Sum:
    """A constant plus some variables, each counted once; the variables are column numbers."""

    constant: Fraction = _ZERO
    columns: tuple[int, ...] = ()

    def plus(self, constant: Fraction, columns: tuple[int, ...] = ()) -> "Sum":
        """Return the sum with a constant and variables added."""
        return Sum(self.constant + constant, self.columns + columns)


@frozen
class Solution:
    """A solution of the solver, in doubles.

    Attributes:
        values: The value of each column.
        duals: The price of each row's right side, at least 0.
    """

    values: Sequence[float]
    duals: Sequence[float]


@define
class LinearProgram:
    """A program that is built row by row and minimised.

    Attributes:
        unit: Dual prices are rounded to multiples of it; above 0.
    """

    unit: Fraction
    _rows: list[tuple[Sum, Sum]] = field(factory=list, init=False)
    _boxes: list[tuple[Fraction, Fraction | None]] = field(factory=list, init=False)
    _prices: list[Fraction] = field(factory=list, init=False)
    _fixed_cost: Fraction = field(default=_ZERO, init=False)

    def add_column(self, known: Fraction | None = None) -> int:
        """Add a variable that is at least 0, or one whose value is known; return its number."""
        self._boxes.append((_ZERO, None) if known is None else (known, known))
        self._prices.append(_ZERO)
        return len(self._boxes) - 1

    def at_most(self, less: Sum, more: Sum) -> None:
        """Add a row: *less* does not exceed *more*."""
        self._rows.append((less, more))

    def charge(self, price: Fraction, units: Sum) -> None:
        """Add units at a price to the cost; the price may be below 0."""
        self._fixed_cost += price * units.constant
        for column in units.columns:
            self._prices[column] += price

    def solve(self) -> Solution | None:
        """Return the optimum; None if the solver finds none or a number does not fit a double."""
        from scipy.optimize import linprog

        try:
            prices = [float(price) for price in self._prices]
            sides = [float(more.constant - less.constant) for less, more in self._rows]
            boxes = [(float(low), _limit(high)) for low, high in self._boxes]
        except OverflowError:
            return None
        found = linprog(prices, self._matrix(), sides, bounds=boxes, method="highs-ds")
        if found.x is None or found.status != 0:
            return None
        return Solution(found.x.tolist(), (-found.ineqlin.marginals).tolist())

    # The stubs of scipy know no sparse matrix as an argument of linprog.
    def _matrix(self) -> Any:
        from scipy.sparse import csr_array

        rows: list[int] = []
        columns: list[int] = []
        signs: list[float] = []
        for row, sides in enumerate(self._rows):
            for side, sign in zip(sides, (1.0, -1.0), strict=True):
                rows += [row] * len(side.columns)
                columns += side.columns
                signs += [sign] * len(side.columns)
        return csr_array((signs, (rows, columns)), shape=(len(self._rows), len(self._boxes)))

    def bound(self, duals: Sequence[float]) -> Fraction | None:
        """Return a number that no cost undercuts; None if these dual prices prove none."""
        bound, reduced = self._fixed_cost, list(self._prices)
        for (less, more), dual in zip(self._rows, duals, strict=True):
            price = max(0, round(Fraction(dual) / self.unit)) * self.unit
            bound += price * (less.constant - more.constant)
            for column in less.columns:
                reduced[column] += price
            for column in more.columns:
                reduced[column] -= price
        for price, (least, most) in zip(reduced, self._boxes, strict=True):
            if price < 0 and most is None:
                return None
            bound += price * (least if price >= 0 or most is None else most)
        return bound


def _limit(most: Fraction | None) -> float:
    return inf if most is None else float(most)
