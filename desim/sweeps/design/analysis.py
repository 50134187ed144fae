"""Analyses the rows of a design as its kind says."""

from collections.abc import Callable, Mapping, Sequence

from desim.sweeps.design.effects import effects
from desim.sweeps.design.indices import sobol
from desim.sweeps.design.morris import morris
from desim.sweeps.design.points import Design
from desim.sweeps.design.tables import Analysis
from desim.sweeps.jobs import Row

__all__ = ["ANALYSED", "analyse"]

_ANALYSES: Mapping[str, Callable[..., Analysis]] = {
    "factorial": effects,
    "sobol-indices": sobol,
    "morris": morris,
}

#: The kinds of designs whose rows show more than a table of points.
ANALYSED = frozenset(_ANALYSES)


def analyse(
    rows: Sequence[Row],
    design: Design,
    *,
    show: str | Sequence[str] = "score",
    level: float = 0.95,
) -> Analysis | None:
    """Return effects, Sobol indices or elementary effects; None for points without an analysis.

    Args:
        rows: Of a sweep with the design.
        design: What was played.
        show: Columns of numbers.
        level: Of the intervals, above 0 and below 1.

    Raises:
        UsageError: The rows are not those of the design, or episodes have failed.
    """
    found = _ANALYSES.get(design.kind)
    return found(rows, design, show=show, level=level) if found else None
