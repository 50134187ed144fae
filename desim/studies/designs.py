"""Designs of experiments: which points of a sweep's parameters are played.

A point holds one value for each of several parameters of a model, a part, a nested scenario or a
policy: whatever `--set` can name. All points share the seeds (common random numbers). A design is a
text such as `lhs:64`, which varies the ranges and lists of values in `set`, or a list of points.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from desim.engine.parameters import Choices, Range, from_numpy, read_ranges
from desim.errors import UsageError, possible
from desim.short_repr import short_repr

#: Most points of a design, each of which every policy plays on every seed.
_MOST_POINTS = 2**16

#: The kinds, and the fields that each uses beside *kind*.
_USES: Mapping[str, tuple[str, ...]] = {
    "lhs": ("size", "seed"),
    "sobol": ("size", "seed"),
    "factorial": (),
    "points": ("points",),
}

_FORM = re.compile(r"(\w+)(?::(\d{1,9}))?(?:,seed=(\d{1,18}))?")

#: The value of each parameter that varies.
Point = dict[str, Any]


@frozen
class DesignSpec:
    """A design as plain data; it varies the ranges and lists of values in `set`.

    Attributes:
        kind: lhs (a Latin hypercube: each of *size* equal parts of every range holds one point),
            sobol (scrambled points of Sobol's sequence), factorial (all combinations of two levels
            of each parameter) or points.
        size: Points of lhs and sobol, 2 to 65,536; of sobol a power of 2.
        seed: The seed of lhs and sobol; None means 0. The episodes have seeds of their own.
        points: For the kind points: the values by parameter of each point.
    """

    kind: str
    size: int | None = None
    seed: int | None = None
    points: list[Point] = field(factory=list)

    @classmethod
    def read(cls, text: str) -> "DesignSpec":
        """Read `KIND[:SIZE][,seed=N]`.

        Raises:
            UsageError: The text does not have this form.

        >>> DesignSpec.read("lhs:64,seed=1")
        DesignSpec(kind='lhs', size=64, seed=1, points=[])
        """
        if not (found := _FORM.fullmatch(text)):
            raise UsageError(
                f"design {short_repr(text)} was given; write KIND[:SIZE][,seed=N], as in lhs:64"
            )
        kind, size, seed = found.groups()
        if kind == "points":
            raise UsageError("points are a list in Python: sweep(..., design=[{...}, {...}])")
        return cls(kind, int(size) if size else None, int(seed) if seed else None)


def planned(
    design: DesignSpec | str | Sequence[Mapping[str, Any]], changes: Mapping[str, Any]
) -> tuple[list[Point], dict[str, Any]]:
    """Return the points of a design, and the part of `set` that it does not vary.

    A text with a colon in double quotes is a single value even if it looks like a range.
    """
    if isinstance(design, str):
        design = DesignSpec.read(design)
    if not isinstance(design, DesignSpec):
        design = DesignSpec("points", points=_listed(design))
    kind, size, seed = design.kind, design.size, design.seed or 0
    if kind not in _USES:
        kinds = [each for each in _USES if each != "points"]
        raise UsageError(f"there is no design {kind!r}; {possible(kind, kinds)}, a list of points")
    for name in ("size", "seed", "points"):
        if getattr(design, name) not in (None, []) and name not in _USES[kind]:
            uses = ", ".join(_USES[kind]) or "no other fields"
            raise UsageError(f"design {kind} takes no {name}; possible: {uses}")
    if kind == "points":
        return _listed(design.points), dict(changes)
    varied = {name: _choices(value) for name, value in changes.items()}
    factors, fixed = read_ranges(varied)
    if kind == "factorial":
        points = _factorial(factors)
    elif size is None:
        raise UsageError(f"design {kind} needs a size, as in {kind}:64")
    else:
        points = _sampled(kind, factors, size, seed)
    return points, {name: _unquoted(value) for name, value in fixed.items()}


def _listed(given: Sequence[Mapping[str, Any]]) -> list[Point]:
    if isinstance(given, Mapping) or not all(isinstance(point, Mapping) for point in given):
        raise UsageError(
            f"{short_repr(given)} is no design; give a text such as lhs:64, or a list of points"
        )
    _check_count(len(given), least=1)
    names = [*given[0]]
    if not names:
        raise UsageError("point 0 is empty; a point has a value for at least one parameter")
    for place, point in enumerate(given):
        if point.keys() != {*names}:
            raise UsageError(
                f"point {place} has the parameters {', '.join(point) or 'none'}, and point 0 has "
                f"{', '.join(names)}; all points have the same ones"
            )
    return [{name: from_numpy(point[name]) for name in names} for point in given]


def _factorial(factors: Mapping[str, Range | Choices]) -> list[Point]:
    """Return all combinations of two levels of each parameter; the last one varies fastest."""
    levels = {
        name: one.values if isinstance(one, Choices) else (one.value(0.0), one.value(1.0))
        for name, one in factors.items()
    }
    for name, of in levels.items():
        if len(of) != len("-+"):
            raise UsageError(
                f"{name} has {len(of)} values; a two-level design takes a range or two values"
            )
    _check_count(2 ** len(levels))
    return [dict(zip(levels, point, strict=True)) for point in itertools.product(*levels.values())]


def _sampled(
    kind: str, factors: Mapping[str, Range | Choices], count: int, seed: int
) -> list[Point]:
    """Return the points of a Latin hypercube or of Sobol's sequence."""
    _check_count(count)
    if kind == "sobol" and count & (count - 1):
        below = 1 << (count.bit_length() - 1)
        raise UsageError(
            f"{count} points were given; Sobol's sequence is balanced for powers of 2, such as "
            f"{below} and {2 * below}"
        )
    if seed < 0:
        raise UsageError(f"seed={seed} of the design was given; a seed is at least 0")
    from numpy.random import default_rng
    from scipy.stats import qmc

    made = qmc.Sobol if kind == "sobol" else qmc.LatinHypercube
    places = made(len(factors), seed=default_rng(seed)).random(count).tolist()
    return [
        {name: one.value(at) for (name, one), at in zip(factors.items(), place, strict=True)}
        for place in places
    ]


def _check_count(count: int, least: int = 2) -> None:
    if not least <= count <= _MOST_POINTS:
        raise UsageError(f"{count:,} points were given; possible: {least} to {_MOST_POINTS:,}")


def _choices(value: Any) -> Any:
    """Return several values as choices; other values unchanged."""
    found = from_numpy(value)
    several = isinstance(found, list | tuple | range)
    return Choices(tuple(map(from_numpy, found))) if several else value


def _unquoted(value: Any) -> Any:
    """Return the text inside double quotes if it has a colon, as ranges have."""
    quoted = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"'
    return value[1:-1] if quoted and ":" in value else value
