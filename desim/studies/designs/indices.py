"""Sobol indices: how much of the variance of a figure each parameter explains.

The parameters are drawn independently and evenly over their ranges. The first-order index is the
share of the variance of the mean figure that a parameter explains alone, the total index the share
in which it is involved, with interactions.

Source: Saltelli et al. 2010, Variance based sensitivity analysis of model output, Computer Physics
Communications 181; estimated by scipy.stats.sobol_indices.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from attrs import frozen

from desim.errors import UsageError
from desim.jobs.plan.job import Row
from desim.jobs.plan.parameter_points import Design, Factor, at_places, checked_count, read_factors
from desim.show.estimates import interval_head
from desim.show.table import Printed
from desim.statistics.intervals import checked_level
from desim.studies.designs.findings import Analysis, tabulated
from desim.studies.designs.responses import of_figures
from desim.studies.designs.sampling import checked_power, generator, sobol_unit

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


#: scipy's names of the values of A, of B, and of A with the values of B for one parameter.
_Sample = Literal["f_A", "f_B", "f_AB"]

#: Resamples of the bootstrap, and the seed of its draws.
_RESAMPLES, _SEED = 999, 0


@frozen
class Index:
    """The share of the variance that a parameter explains.

    Attributes:
        group: The policy, and what else differs between groups.
        figure: The figure whose mean over seeds varies.
        name: The parameter.
        first: First-order index; an estimate near 0 may be negative.
        first_interval: Its bootstrap interval over points (percentiles).
        total: Total index, about 0 for a parameter without any effect.
        total_interval: Its bootstrap interval.
    """

    group: str
    figure: str
    name: str
    first: float
    first_interval: tuple[float, float]
    total: float
    total_interval: tuple[float, float]


def sobol_indices(
    factors: Mapping[str, Any] | Sequence[Factor], count: int, *, seed: int = 0
) -> Design:
    """Return the points from which Sobol indices are estimated: *count* (parameters + 2).

    They are two independent samples A and B, and for each parameter A with the values of B for it.

    Args:
        factors: Ranges or lists of values of at least two parameters; see `read_factors`.
        count: Points of one sample, a power of 2; indices are rough below about 256.
        seed: The seed of the scrambled Sobol sequence.

    Raises:
        UsageError: An argument is wrong.
    """
    read, draws = read_factors(factors), generator(seed)
    if len(read) == 1:
        raise UsageError(
            f"only {read[0].name} varies; Sobol indices share the variance among at least two "
            "parameters"
        )
    checked_power(checked_count(count, "base points", each=len(read) + 2))
    unit = sobol_unit(2 * len(read), count, draws)
    a, b = unit[:, : len(read)], unit[:, len(read) :]
    places = [*a, *b]
    for place in range(len(read)):
        mixed = a.copy()
        mixed[:, place] = b[:, place]
        places.extend(mixed)
    return at_places("sobol-indices", read, [one.tolist() for one in places])


def sobol(
    rows: Sequence[Row],
    design: Design,
    *,
    show: str | Sequence[str] = "score",
    level: float = 0.95,
) -> Analysis:
    """Return the Sobol indices of the mean figure over seeds.

    All points have the same seeds, which are not resampled: the indices are those of the mean over
    these seeds.

    Args:
        rows: The rows of a sweep with the design.
        design: Made by `sobol_indices`.
        show: Columns of numbers.
        level: The level of the bootstrap intervals, above 0 and below 1.

    Raises:
        UsageError: The rows are not those of the design, or episodes have failed.
    """
    if design.kind != "sobol-indices":
        raise UsageError(f"a design {design.kind!r} was given; make it with sobol_indices")
    found = [
        index
        for figure, one in of_figures(rows, design, show)
        for index in indices(design.names, one.means, level, one.group, figure)
    ]
    cells = tuple(
        (
            one.name,
            Printed(one.first, f"{one.first:.3f}"),
            _between(one.first_interval),
            Printed(one.total, f"{one.total:.3f}"),
            _between(one.total_interval),
        )
        for one in found
    )
    between = interval_head(level)
    heads = ("parameter", "first order", between, "total", between)
    notes = (
        "shares of the variance of the figure's mean over seeds: alone, and with interactions",
        "intervals: bootstrap over points; each holds alone",
    )
    return tabulated(found, heads, cells, notes)


def indices(
    names: Sequence[str],
    values: "Sequence[float] | NDArray[float64]",
    level: float = 0.95,
    group: str = "",
    figure: str = "",
) -> list[Index]:
    """Return the Sobol indices of a function from its values at all points.

    Args:
        names: The parameters.
        values: In the order of the points of `sobol_indices`.
        level: The level of the bootstrap intervals.
        group: The group of the indices.
        figure: The figure of the indices.
    """
    checked_level(level)
    sample = np.asarray(values, dtype=float).reshape(len(names) + 2, -1)
    first, total = _estimated(sample)
    draws, count = np.random.default_rng(_SEED), sample.shape[1]
    resampled = np.array(
        [_estimated(sample[:, draws.integers(count, size=count)]) for _ in range(_RESAMPLES)]
    )
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [
        Index(
            group,
            figure,
            name,
            float(first[at]),
            (float(low[0, at]), float(high[0, at])),
            float(total[at]),
            (float(low[1, at]), float(high[1, at])),
        )
        for at, name in enumerate(names)
    ]


def _estimated(sample: "NDArray[float64]") -> "tuple[NDArray[float64], NDArray[float64]]":
    """Return first-order and total indices; those of a figure that never varies are 0.

    Args:
        sample: The values of A, of B, and of A with each parameter's values of B, one in a line.
    """
    from scipy.stats import sobol_indices as scipy_indices

    known: dict[_Sample, NDArray[float64]] = {
        "f_A": sample[:1],
        "f_B": sample[1:2],
        "f_AB": sample[2:, np.newaxis, :],
    }
    found = scipy_indices(func=known, n=sample.shape[1])
    return found.first_order, found.total_order


def _between(ends: tuple[float, float]) -> Printed:
    return Printed(ends, f"[{ends[0]:.3f}, {ends[1]:.3f}]")
