"""The preset `regime`: a Markov-switching model fitted to a macro table, and histories drawn of it.

Regimes (SPEC section 4): recession where unemployment is at least half a point above its lowest
value of the twelve months before; otherwise expansion where output grew by at least 2 percent on
the year before; otherwise neutral.  They follow a Markov chain whose matrix is

    P(i, j) = (months in i followed by j + 1/2) / (months in i that are followed + 3/2),

where 1/2 is added for each transition so that all are possible (Jeffreys' prior).

States.  The columns are transformed to unbounded states (`_STATES`, and quiet borrower growth).
With r the regime of month t and j a state,

    x[t, j] = a[r, j] + (1 - k[j]) x[t-1, j] + e[t, j],

a and k by least squares on the table, k (common to the regimes) clipped to 1/36 and 1.  The e[t] of
a drawn month are the residuals of one month of the table with the same regime, drawn uniformly, for
all states together: this keeps the correlations and the tails of the shocks.  A state is clipped to
the range of the table widened by a quarter at both ends; the federal funds rate stays above zero,
and quiet growth below a surge.  Output growth is constant within a quarter.

Surges of borrower growth are runs of months above `THRESHOLD`.  In a quiet month one begins with
the probability (surges observed + 1/2) / (quiet months observed + 1).  Its shape is that of one
observed, drawn uniformly, stretched to 3/4 to 5/4 of its length; its peak is lognormal with mean
and standard deviation of the logarithms observed, clipped to 4/5 of the lowest and 5/4 of the
highest.  A path begins with month 0 of the table, so that every episode opens alike.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from attrs import frozen

from models.enterprise_arena.macro import RANGES, Macro
from models.enterprise_arena.params import YEAR

if TYPE_CHECKING:  # numpy.random takes longer to import than all of desim
    from numpy.random import Generator

REGIMES = ("recession", "expansion", "neutral")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
#: Percent a month above which borrower growth is a surge.
THRESHOLD = 1.0
#: The lowest rate shown, percent.
_LEAST = 0.01
_SMOOTHING = 0.5
#: Bounds of k: mean reversion takes between 36 months and one.
_SPEED = (1 / 36, 1.0)
_WIDER = 0.25
#: Bounds that override the table's: the funds rate is positive, quiet growth is below a surge.
_BOUNDS = {"fedfunds": (_LEAST, math.inf), "growth": (-math.inf, math.log(THRESHOLD))}
_LENGTH = (0.75, 1.25)
_PEAK = (0.8, 1.25)
_QUARTER = 3

Column = Sequence[float]
Row = tuple[float, ...]


def _less(left: Column, right: Column) -> list[float]:
    return [a - b for a, b in zip(left, right, strict=True)]


def _more(left: Column, right: Column) -> list[float]:
    return [a + b for a, b in zip(left, right, strict=True)]


def _log(column: Column) -> list[float]:
    return [math.log(max(value, _LEAST)) for value in column]


def _exp(column: Column) -> list[float]:
    return [math.exp(value) for value in column]


def _inflation(index: Column) -> list[float]:
    """Return monthly changes in percent; month 0, which has none, repeats that of month 1."""
    changes = [100 * math.log(now / before) for before, now in pairwise(index)]
    return [*changes[:1], *changes]


#: The states of a table, except quiet growth.
_STATES: dict[str, Callable[[Macro], Column]] = {
    "fedfunds": lambda table: table.fedfunds,
    "sofr": lambda table: _less(table.sofr, table.fedfunds),
    "tsy2y": lambda table: _less(table.tsy2y, table.fedfunds),
    "tsy5y": lambda table: _less(table.tsy5y, table.tsy2y),
    "tsy10y": lambda table: _less(table.tsy10y, table.tsy5y),
    "tsy30y": lambda table: _less(table.tsy30y, table.tsy10y),
    "spread": lambda table: _log(table.baa_10y_spread),
    "vix": lambda table: _log(table.vix_avg),
    "close": lambda table: _less(_log(table.vix_close), _log(table.vix_avg)),
    "unrate": lambda table: _log(table.unrate),
    "inflation": lambda table: _inflation(table.cpi_index),
    "pe": lambda table: _log(table.pe_ratio),
    "ps": lambda table: _log(table.ps_ratio),
    "gross": lambda table: table.ind_gross_margin,
    "ebitda": lambda table: table.ind_ebitda_margin,
}


# -- surges ----------------------------------------------------------------------------------------


@frozen
class Surge:
    """A drawn surge: its first month, and growth in percent month by month."""

    start: int
    growth: list[float]

    @property
    def next_start(self) -> int:
        """The first month of another surge: one quiet month lies between."""
        return self.start + len(self.growth) + 1


@frozen
class Surges:
    """The surges of a table: shapes relative to their peaks, and the chance in a quiet month."""

    shapes: tuple[Row, ...]
    peaks: Row
    chance: float

    def draw(
        self, generator: "Generator", months: int, begun: Sequence[Surge] = (), first: int = 1
    ) -> list[Surge]:
        """Draw the surges of a path: after those that have *begun*, from month *first* on."""
        surges = list(begun)
        month = max([first, *(surge.next_start for surge in begun)])
        while self.shapes and month < months:
            if generator.random() < self.chance:
                surges.append(Surge(month, self._one(generator)))
                month = surges[-1].next_start
            else:
                month += 1
        return surges

    def _one(self, generator: "Generator") -> list[float]:
        shape = self.shapes[int(generator.integers(len(self.shapes)))]
        length = max(1, round(len(shape) * generator.uniform(*_LENGTH)))
        logs = [math.log(peak) for peak in self.peaks]
        peak = math.exp(fmean(logs) + pstdev(logs) * generator.standard_normal())
        peak = min(max(peak, _PEAK[0] * min(self.peaks)), _PEAK[1] * max(self.peaks))
        return [peak * share for share in _stretched(shape, length)]


def _stretched(shape: Column, length: int) -> Iterator[float]:
    """Yield a shape resampled to *length* points by linear interpolation."""
    for at in range(length):
        place = (at + 0.5) / length * len(shape) - 0.5
        left = min(max(math.floor(place), 0), len(shape) - 1)
        right = min(left + 1, len(shape) - 1)
        part = min(max(place - left, 0.0), 1.0)
        yield shape[left] * (1 - part) + shape[right] * part


def observe(growth: Column) -> Surges:
    """Return the surges in a table's growth, percent a month."""
    surges = list(runs(growth))
    peaks = tuple(max(growth[start:end]) for start, end in surges)
    shapes = tuple(
        tuple(value / peak for value in growth[start:end])
        for (start, end), peak in zip(surges, peaks, strict=True)
    )
    quiet = len(growth) - sum(end - start for start, end in surges)
    return Surges(shapes, peaks, (len(surges) + 0.5) / (quiet + 1))


def runs(growth: Column) -> Iterator[tuple[int, int]]:
    """Yield every surge as its first month and the one after its last."""
    start = None
    for month, value in enumerate((*growth, 0.0)):
        if value > THRESHOLD and start is None:
            start = month
        elif value <= THRESHOLD and start is not None:
            yield start, month
            start = None


# -- the fit ---------------------------------------------------------------------------------------


@frozen
class _Dynamics:
    """One state's equation: value in month 0, 1 - k, a by regime, e by month, and the range."""

    start: float
    keep: float
    drift: Row
    residuals: Row
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


def labels(table: Macro) -> tuple[str, ...]:
    """Return the regime of every month of a table."""
    return tuple(_regime(table, month) for month in range(len(table)))


def _regime(table: Macro, month: int) -> str:
    before = table.unrate[max(0, month - YEAR) : month]
    # Rounded, because differences of decimal fractions are not exact in floats.
    if before and round(table.unrate[month] - min(before), 6) >= 0.5:  # noqa: PLR2004 (SPEC section 4)
        return "recession"
    return "expansion" if table.gdp_growth_yoy[month] >= 2 else "neutral"  # noqa: PLR2004 (SPEC section 4)


def transitions(path: Sequence[int]) -> tuple[Row, ...]:
    """Return the probabilities of the next regime by the present one, smoothed."""
    moves, kinds = list(pairwise(path)), range(len(REGIMES))
    followed = [path[:-1].count(one) + _SMOOTHING * len(REGIMES) for one in kinds]
    return tuple(
        tuple((moves.count((one, other)) + _SMOOTHING) / followed[one] for other in kinds)
        for one in kinds
    )


@lru_cache(maxsize=8)
def fit(table: Macro, growth_column: str) -> "Switching":
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
    keep = _kept(values, path)
    moved = [0.0, *(now - keep * last for last, now in pairwise(values))]
    drift = tuple(
        fmean([moved[month] for month in _of_regime(path, regime)])
        for regime in range(len(REGIMES))
    )
    residuals = (moved[month] - drift[path[month]] for month in range(1, len(values)))
    wider = _WIDER * (max(values) - min(values))
    low, high = _BOUNDS.get(name, (-math.inf, math.inf))
    low, high = max(low, min(values) - wider), min(high, max(values) + wider)
    return _Dynamics(values[0], keep, drift, (0.0, *residuals), low, high)


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


# -- drawn histories -------------------------------------------------------------------------------


@frozen
class Path:
    """A drawn history, with the draws behind it, so that its later months can be drawn again.

    Uniform draws for the regime of each month from 1 on, and for the residuals of each month.
    """

    macro: Macro
    regimes: list[float]
    rows: list[float]
    surges: list[Surge]


@frozen
class Switching:
    """A model fitted to a table.

    Labels are indices of `REGIMES` by month, `matrix` has the probabilities of the next regime by
    the present one, `months` the months of the table from 1 on by regime (all if it has none).
    """

    table: Macro
    labels: tuple[int, ...]
    matrix: tuple[Row, ...]
    months: tuple[tuple[int, ...], ...]
    states: dict[str, _Dynamics]
    surges: Surges

    def regimes(self, chances: Column) -> list[int]:
        """Return the path of regimes of uniform draws; it begins with the table's first."""
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

    def _path(self, regime_draws: list[float], row_draws: list[float], surges: list[Surge]) -> Path:
        regimes = self.regimes(regime_draws)
        rows = [
            self.months[regime][int(chance * len(self.months[regime]))]
            for regime, chance in zip(regimes, row_draws, strict=True)
        ]
        rows[0] = 0
        paths = {name: each.path(regimes, rows) for name, each in self.states.items()}
        growth = _exp(paths["growth"])
        for surge in surges:
            for month, value in enumerate(surge.growth[: len(growth) - surge.start], surge.start):
                growth[month] = max(value, growth[month])
        return Path(_history(self.table, paths, rows, growth), regime_draws, row_draws, surges)


def _history(
    table: Macro, paths: Mapping[str, Column], rows: Sequence[int], growth: Column
) -> Macro:
    """Return a macro table from paths of states, drawn months of the table and borrower growth."""
    months = range(len(rows))
    year = int(table.date[0][:4])
    funds = paths["fedfunds"]
    two = _more(funds, paths["tsy2y"])
    five = _more(two, paths["tsy5y"])
    ten = _more(five, paths["tsy10y"])
    baa = _more(ten, _exp(paths["spread"]))
    vix = _exp(paths["vix"])
    close = [mean * last for mean, last in zip(vix, _exp(paths["close"]), strict=True)]
    index, yearly = _prices(table, paths["inflation"])
    quarterly, on_year = _output(table, rows)
    shown = _rounded(growth)
    figures = {
        "gdp_growth_qoq_saar": quarterly,
        "gdp_growth_yoy": on_year,
        "cpi_index": index,
        "cpi_yoy": yearly,
        "unrate": _rounded(_exp(paths["unrate"]), 1),
        "sofr": _rates(_more(funds, paths["sofr"])),
        "fedfunds": _rates(funds),
        "baa": _rates(baa),
        "tsy2y": _rates(two),
        "tsy5y": _rates(five),
        "tsy10y": _rates(ten),
        "tsy30y": _rates(_more(ten, paths["tsy30y"])),
        "vix_avg": _rounded(vix),
        "vix_close": _rounded(close),
        "pe_ratio": _rounded(_exp(paths["pe"])),
        "ps_ratio": _rounded(_exp(paths["ps"]), 3),
        "baa_10y_spread": _rounded(_less(_rates(baa), _rates(ten))),
        "ind_gross_margin": _rounded(paths["gross"], 1),
        "ind_ebitda_margin": _rounded(paths["ebitda"], 1),
        "ind_user_growth_monthly": shown,
        "ind_user_growth_annual": _annual(shown),
        "ind_user_growth_monthly_alt": shown,
    }
    return Macro(
        month=tuple(months),
        date=tuple([f"{year + m // YEAR:04}-{m % YEAR + 1:02}" for m in months]),
        label=tuple([_label(month) for month in months]),
        **{name: _within(column, *RANGES[name]) for name, column in figures.items()},
    )


def _label(month: int) -> str:
    """Return the anonymised name of a month: Jan 2xx0, ..., Dec 2xx9, Jan 2x10, ..."""
    year = month // YEAR
    return f"{MONTHS[month % YEAR]} {f'2xx{year}' if year < 10 else f'2x{year}'}"  # noqa: PLR2004 (digits)


def _rounded(column: Column, digits: int = 2) -> Row:
    return tuple([round(value, digits) for value in column])


def _rates(column: Column) -> Row:
    return _within(_rounded(column), _LEAST, RANGES["baa"][1])


def _within(column: Column, low: float, high: float) -> Row:
    return tuple([min(max(value, low), high) for value in column])


def _prices(table: Macro, inflation: Column) -> tuple[Row, Row]:
    """Return the price index, and its change on the year before in percent.

    Prices of the year before month 0 are derived from the table's own index and changes.
    """
    logs = accumulate([math.log(table.cpi_index[0]), *[change / 100 for change in inflation[1:]]])
    index = _exp(list(logs))
    first = [table.cpi_index[m] / (1 + table.cpi_yoy[m] / 100) for m in range(YEAR)]
    before = [*first, *index][: len(index)]
    yearly = [100 * (now / then - 1) for now, then in zip(index, before, strict=True)]
    return _rounded(index, 3), _rounded(yearly)


def _output(table: Macro, rows: Sequence[int]) -> tuple[Row, Row]:
    """Return growth of output on the quarter before, annualised, and on the year before, percent.

    The three quarters before month 0 have equal growth, such that month 0 has the table's growth on
    the year before.
    """
    drawn = [table.gdp_growth_qoq_saar[rows[m]] for m in range(0, len(rows), _QUARTER)]
    factors = [(1 + each / 100) ** 0.25 for each in drawn]
    past = ((1 + table.gdp_growth_yoy[0] / 100) / factors[0]) ** (1 / 3)
    factors = [past, past, past, *factors]
    years = [100 * (math.prod(factors[q : q + 4]) - 1) for q in range(len(drawn))]
    quarters = [month // _QUARTER for month in range(len(rows))]
    return _rounded([drawn[q] for q in quarters]), _rounded([years[q] for q in quarters])


def _annual(growth: Column) -> Row:
    """Return growth over twelve months, percent; months before month 0 count as month 0."""
    factors = [1 + each / 100 for each in [*[growth[0]] * (YEAR - 1), *growth]]
    return _rounded([100 * (math.prod(factors[m : m + YEAR]) - 1) for m in range(len(growth))])
