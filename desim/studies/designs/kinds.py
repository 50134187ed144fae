"""Designs as the command line and TOML files write them: `lhs:64`, `factorial,resolution=4`.

The analysis of a design's rows depends on its kind.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from desim.errors import UsageError, possible
from desim.jobs.plan.job import Row
from desim.jobs.plan.parameter_points import KINDS, Design, is_factor, listed
from desim.short_repr import short_repr
from desim.studies.designs.effects import effects
from desim.studies.designs.factorial import factorial
from desim.studies.designs.findings import Analysis
from desim.studies.designs.indices import sobol, sobol_indices
from desim.studies.designs.morris import LEVELS, morris, screening
from desim.studies.designs.sampling import latin_hypercube, sobol_points

#: The fields that each kind uses beside *kind*; a first field *size* is required.
_USES: Mapping[str, tuple[str, ...]] = {
    "lhs": ("size", "seed"),
    "sobol": ("size", "seed"),
    "factorial": ("resolution", "generators"),
    "sobol-indices": ("size", "seed"),
    "morris": ("size", "levels", "seed"),
    "points": ("points",),
}


@frozen
class DesignSpec:
    """A design as plain data; the factors are the ranges and lists of values in `set`.

    Attributes:
        kind: lhs, sobol, factorial, sobol-indices, morris or points.
        size: Points of lhs and sobol, points of one sample of sobol-indices, trajectories of
            morris.
        seed: The seed of lhs, sobol, sobol-indices and morris; None means 0.
        levels: Levels of morris; None means 4.
        resolution: The resolution of a fractional factorial design.
        generators: For a fractional factorial design: the generator of each added factor.
        points: For the kind points: the values by parameter of each point.
    """

    kind: str
    size: int | None = None
    seed: int | None = None
    levels: int | None = None
    resolution: int | None = None
    generators: dict[str, str] = field(factory=dict)
    points: list[dict[str, Any]] = field(factory=list)

    @classmethod
    def read(cls, text: str) -> "DesignSpec":
        """Read `KIND[:SIZE][,KEY=VALUE...]`; keys other than fields are generators.

        Raises:
            UsageError: The text does not have this form.

        >>> DesignSpec.read("factorial,strike=order_delay*ship_delay").generators
        {'strike': 'order_delay*ship_delay'}
        """
        head, *rest = text.split(",")
        kind, colon, size = head.partition(":")
        found: dict[str, Any] = {"size": _whole(size, "size")} if colon else {}
        generators: dict[str, str] = {}
        for part in rest:
            key, equals, value = part.partition("=")
            if not (key and equals):
                raise UsageError(
                    f"design {short_repr(text)} was given; write KIND[:SIZE], then ,KEY=VALUE"
                )
            if key in found or key in generators:
                raise UsageError(f"design {short_repr(text)} has {key} twice; give it once")
            if key in {"size", "seed", "levels", "resolution"}:
                found[key] = _whole(value, key)
            else:
                generators[key] = value
        return cls(kind, **found, generators=generators)

    def build(self, factors: Mapping[str, Any]) -> Design:
        """Return the design.

        Args:
            factors: Ranges and lists of values by parameter.

        Raises:
            UsageError: The kind does not exist, does not use a given field, or a factor is wrong.
        """
        if self.kind not in KINDS:
            raise UsageError(f"there is no design {self.kind!r}; {possible(self.kind, KINDS)}")
        self._refuse_others()
        match self.kind:
            case "lhs":
                return latin_hypercube(factors, self._size, seed=self.seed or 0)
            case "sobol":
                return sobol_points(factors, self._size, seed=self.seed or 0)
            case "factorial":
                return factorial(
                    factors, resolution=self.resolution, generators=self.generators or None
                )
            case "sobol-indices":
                return sobol_indices(factors, self._size, seed=self.seed or 0)
            case "morris":
                levels = LEVELS if self.levels is None else self.levels
                return screening(factors, self._size, levels=levels, seed=self.seed or 0)
            case _:
                return listed(self.points)

    @property
    def _size(self) -> int:
        if self.size is None:
            raise UsageError(f"design {self.kind} needs a size, as in {self.kind}:64")
        return self.size

    def _refuse_others(self) -> None:
        for name in ("size", "seed", "levels", "resolution", "generators", "points"):
            given = getattr(self, name)
            if given not in (None, {}, []) and name not in _USES[self.kind]:
                shown = ", ".join(given) if name == "generators" else name
                raise UsageError(
                    f"design {self.kind} takes no {shown}; possible: {', '.join(_USES[self.kind])}"
                )


def planned(
    design: "Design | DesignSpec | str", changes: Mapping[str, Any]
) -> tuple[Design, dict[str, Any]]:
    """Return a design, and the part of `set` that it does not vary.

    A text or a `DesignSpec` varies the ranges and lists of `set`. A text in double quotes is a
    single value even if it looks like a range.

    Raises:
        UsageError: See `DesignSpec.build`.
    """
    if isinstance(design, Design):
        return design, dict(changes)
    if isinstance(design, str):
        design = DesignSpec.read(design)
    if not isinstance(design, DesignSpec):
        raise UsageError(
            f"{short_repr(design)} is no design; give a text such as lhs:64, or a Design"
        )
    if design.kind == "points":
        return design.build({}), dict(changes)
    factors = {name: value for name, value in changes.items() if is_factor(value)}
    fixed = {name: _unquoted(v) for name, v in changes.items() if name not in factors}
    return design.build(factors), fixed


def _unquoted(value: Any) -> Any:
    """Return the text inside double quotes if it would be read as a range without them."""
    quoted = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"'
    return value[1:-1] if quoted and is_factor(value[1:-1]) else value


def _whole(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(
            f"{what} {short_repr(text)} of the design was given; it is a whole number"
        ) from None


_ANALYSES: Mapping[str, Callable[..., Analysis]] = {
    "factorial": effects,
    "sobol-indices": sobol,
    "morris": morris,
}


#: The kinds of designs that have an analysis.
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
        rows: The rows of a sweep with the design.
        design: The design that was played.
        show: Columns of numbers.
        level: The level of the intervals, above 0 and below 1.

    Raises:
        UsageError: The rows are not those of the design, or episodes have failed.
    """
    found = _ANALYSES.get(design.kind)
    return found(rows, design, show=show, level=level) if found else None
