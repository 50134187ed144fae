"""A Markov-switching model that is fitted to a macro table, and histories drawn from it.

Regimes (SPEC section 4): recession where unemployment is at least half a point above its lowest
value of the twelve months before; otherwise expansion where output grew by at least 2 percent on
the year before; otherwise neutral.  They follow a Markov chain whose matrix is

    P(i, j) = (months in i followed by j + 1/2) / (months in i that are followed + 3/2),

where 1/2 is added for each transition so that all are possible.

States.  The columns are transformed to unbounded states: the federal funds rate; the differences
from it to SOFR and along the curve to 2, 5, 10 and 30 years; the logarithms of Baa spread, VIX, its
close over its mean, unemployment, P/E, P/S and quiet borrower growth; monthly inflation, and both
margins.  With r the regime of month t and j a state,

    x[t, j] = a[r, j] + (1 - k[j]) x[t-1, j] + e[t, j],

a and k by least squares on the table, k (common to the regimes) clipped to 1/36 and 1.  The e[t] of
a drawn month are the residuals of one month of the table with the same regime, drawn uniformly, for
all states together: this keeps the correlations and the tails of the shocks.  A state is clipped to
the range of the table widened by a quarter at both ends; the federal funds rate stays above zero,
and quiet growth below a surge.

Output growth is constant within a quarter: that of the month whose residuals are drawn in its first
month; growth on the year before compounds four quarters.  Surges of borrower growth: see
`surges.py`.  A path begins with month 0 of the table, so that every episode opens with the same
balances and rates.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from attrs import frozen

from models.enterprise_arena.economy.history import LEAST, history, less
from models.enterprise_arena.economy.macro import Macro
from models.enterprise_arena.economy.surges import (
    THRESHOLD,
    Surge,
    Surges,
    observe,
    runs,
    with_surges,
)
from models.enterprise_arena.rules import YEAR

if TYPE_CHECKING:  # numpy.random takes longer to import than all of desim
    from numpy.random import Generator


REGIMES = ("recession", "expansion", "neutral")

#: Added to the count of every transition (Jeffreys' prior).
SMOOTHING = 0.5
#: Bounds of k: mean reversion takes between 36 months and one.
_SPEED = (1 / 36, 1.0)
#: Widening of the table's range at both ends.
_WIDER = 0.25
#: Bounds that override the table's: the funds rate is positive, quiet growth is below a surge.
_BOUNDS = {"fedfunds": (LEAST, math.inf), "growth": (-math.inf, math.log(THRESHOLD))}

Column = Sequence[float]


def _log(column: Column) -> list[float]:
    return [math.log(max(value, LEAST)) for value in column]


def _inflation(index: Column) -> list[float]:
    """Return monthly changes in percent; month 0, which has none, repeats that of month 1."""
    changes = [100 * math.log(now / before) for before, now in pairwise(index)]
    return [*changes[:1], *changes]


#: The states of a table, except quiet growth.
_STATES: dict[str, Callable[[Macro], Sequence[float]]] = {
    "fedfunds": lambda table: table.fedfunds,
    "sofr": lambda table: less(table.sofr, table.fedfunds),
    "tsy2y": lambda table: less(table.tsy2y, table.fedfunds),
    "tsy5y": lambda table: less(table.tsy5y, table.tsy2y),
    "tsy10y": lambda table: less(table.tsy10y, table.tsy5y),
    "tsy30y": lambda table: less(table.tsy30y, table.tsy10y),
    "spread": lambda table: _log(table.baa_10y_spread),
    "vix": lambda table: _log(table.vix_avg),
    "close": lambda table: less(_log(table.vix_close), _log(table.vix_avg)),
    "unrate": lambda table: _log(table.unrate),
    "inflation": lambda table: _inflation(table.cpi_index),
    "pe": lambda table: _log(table.pe_ratio),
    "ps": lambda table: _log(table.ps_ratio),
    "gross": lambda table: table.ind_gross_margin,
    "ebitda": lambda table: table.ind_ebitda_margin,
}


@frozen
class _Dynamics:
    """One state's equation.

    Attributes:
        start: Value in month 0.
        keep: 1 - k, the coefficient of the last value.
        drift: a, by regime.
        residuals: By month of the table; 0 for month 0.
        low: Lowest value.
        high: Highest value.
    """

    start: float
    keep: float
    drift: tuple[float, ...]
    residuals: tuple[float, ...]
    low: float
    high: float

    def path(self, regimes: Sequence[int], rows: Sequence[int]) -> list[float]:
        """Return the path for drawn regimes and drawn months of the table."""
        path, value = [self.start], self.start
        for regime, row in zip(regimes[1:], rows[1:], strict=True):
            value = self.drift[regime] + self.keep * value + self.residuals[row]
            value = min(max(value, self.low), self.high)
            path.append(value)
        return path


@frozen
class Path:
    """A drawn history, with the draws behind it, so that its later months can be drawn again.

    Attributes:
        macro: The history.
        regimes: A uniform draw for the regime of each month from 1 on.
        rows: A uniform draw for the residuals of each month.
        surges: In their order.
    """

    macro: Macro
    regimes: list[float]
    rows: list[float]
    surges: list[Surge]


@frozen
class Switching:
    """A fitted model.

    Attributes:
        table: The table to which it is fitted.
        labels: The regime of each month of the table, as an index of `REGIMES`.
        matrix: Probabilities of the next regime, by the present one; rows sum to 1.
        months: Months of the table from 1 on, by regime; all of them if a regime has none.
        states: Equations by name.
        surges: The surges of borrower growth.
    """

    table: Macro
    labels: tuple[int, ...]
    matrix: tuple[tuple[float, ...], ...]
    months: tuple[tuple[int, ...], ...]
    states: dict[str, _Dynamics]
    surges: Surges

    def draw_regimes(self, generator: "Generator", months: int) -> list[int]:
        """Draw a path of regimes that begins with the table's first."""
        return self._regimes(generator.random(months - 1).tolist())

    def _regimes(self, chances: Sequence[float]) -> list[int]:
        cumulated = [tuple(accumulate(row)) for row in self.matrix]
        path = [self.labels[0]]
        for chance in chances:
            low, middle, _ = cumulated[path[-1]]
            path.append(0 if chance < low else 1 if chance < middle else 2)
        return path

    def draw(self, generator: "Generator", months: int) -> Path:
        """Draw a history of some months."""
        regimes = generator.random(months - 1).tolist()
        rows = generator.random(months).tolist()
        return self._path(regimes, rows, self.surges.draw(generator, months))

    def draw_again(self, generator: "Generator", path: Path, month: int) -> Path:
        """Draw the months after one of them again; those up to it are the same.

        A surge that has begun goes on as it was drawn.
        """
        months = len(path.rows)
        regimes = [*path.regimes[:month], *generator.random(months - 1).tolist()[month:]]
        rows = [*path.rows[: month + 1], *generator.random(months).tolist()[month + 1 :]]
        begun = [surge for surge in path.surges if surge.start <= month]
        surges = self.surges.draw(generator, months, begun, month + 1)
        return self._path(regimes, rows, surges)

    def _path(
        self, regime_chances: list[float], row_chances: list[float], surges: list[Surge]
    ) -> Path:
        regimes = self._regimes(regime_chances)
        rows = [
            self.months[regime][int(chance * len(self.months[regime]))]
            for regime, chance in zip(regimes, row_chances, strict=True)
        ]
        rows[0] = 0
        paths = {name: each.path(regimes, rows) for name, each in self.states.items()}
        growth = with_surges([math.exp(x) for x in paths["growth"]], surges)
        macro = history(self.table, paths, rows, growth)
        return Path(macro, regime_chances, row_chances, surges)


# -- the fit ---------------------------------------------------------------------------------------


def labels(table: Macro) -> tuple[str, ...]:
    """Return the regime of every month of a table."""
    return tuple(_label(table, month) for month in range(len(table)))


def _label(table: Macro, month: int) -> str:
    before = table.unrate[max(0, month - YEAR) : month]
    # Rounded, because differences of decimal fractions are not exact in floats.
    if before and round(table.unrate[month] - min(before), 6) >= 0.5:  # noqa: PLR2004 (SPEC section 4)
        return "recession"
    return "expansion" if table.gdp_growth_yoy[month] >= 2 else "neutral"  # noqa: PLR2004 (SPEC section 4)


def transitions(path: Sequence[int]) -> tuple[tuple[float, ...], ...]:
    """Return the probabilities of the next regime by the present one, smoothed."""
    moves = list(pairwise(path))
    kinds = range(len(REGIMES))
    return tuple(
        tuple(
            (moves.count((one, other)) + SMOOTHING)
            / (path[:-1].count(one) + SMOOTHING * len(REGIMES))
            for other in kinds
        )
        for one in kinds
    )


@lru_cache(maxsize=8)
def fit(table: Macro, growth_column: str) -> Switching:
    """Fit the model to a table.

    Raises:
        ValueError: The table is too short.
    """
    if len(table) <= YEAR:
        raise ValueError(f"regimes are fitted to more than {YEAR} months, not to {len(table)}")
    path = tuple(REGIMES.index(label) for label in labels(table))
    growth = getattr(table, growth_column)
    states = {name: state(table) for name, state in _STATES.items()}
    states["growth"] = _quiet(growth)
    return Switching(
        table=table,
        labels=path,
        matrix=transitions(path),
        months=tuple(_of_regime(path, regime) for regime in range(len(REGIMES))),
        states={name: _fitted(name, values, path) for name, values in states.items()},
        surges=observe(growth),
    )


def _of_regime(path: Sequence[int], regime: int) -> tuple[int, ...]:
    """Return the months of a regime; all months if the path never enters it."""
    months = range(1, len(path))
    return tuple(month for month in months if path[month] == regime) or tuple(months)


def _quiet(growth: Column) -> list[float]:
    """Return the logarithm of growth, interpolated linearly across every surge."""
    quiet = _log(growth)
    for start, end in runs(growth):
        left = quiet[start - 1] if start else quiet[min(end, len(quiet) - 1)]
        right = quiet[end] if end < len(quiet) else left
        for month in range(start, end):
            part = (month - start + 1) / (end - start + 1)
            quiet[month] = left + (right - left) * part
    return quiet


def _fitted(name: str, values: Column, path: Sequence[int]) -> _Dynamics:
    """Fit one state's equation by least squares, with an intercept for every regime."""
    keep = _kept(values, path)
    drift = tuple(
        fmean([values[month] - keep * values[month - 1] for month in _of_regime(path, regime)])
        for regime in range(len(REGIMES))
    )
    residuals = [
        values[month] - keep * values[month - 1] - drift[path[month]]
        for month in range(1, len(values))
    ]
    low, high = _range(name, values)
    return _Dynamics(values[0], keep, drift, (0.0, *residuals), low, high)


def _range(name: str, values: Column) -> tuple[float, float]:
    """Return the table's range widened by a quarter at both ends, within `_BOUNDS`."""
    wider = _WIDER * (max(values) - min(values))
    low, high = _BOUNDS.get(name, (-math.inf, math.inf))
    return max(low, min(values) - wider), min(high, max(values) + wider)


def _kept(values: Column, path: Sequence[int]) -> float:
    """Return 1 - k: the slope on the last value, regime means removed, clipped to its range."""
    above = below = 0.0
    for regime in range(len(REGIMES)):
        months = [month for month in range(1, len(path)) if path[month] == regime]
        if months:
            last = [values[month - 1] for month in months]
            now = [values[month] for month in months]
            centre, level = fmean(last), fmean(now)
            above += math.fsum((x - centre) * (y - level) for x, y in zip(last, now, strict=True))
            below += math.fsum((x - centre) ** 2 for x in last)
    slope = above / below if below else 0.0
    return min(max(slope, 1 - _SPEED[1]), 1 - _SPEED[0])
