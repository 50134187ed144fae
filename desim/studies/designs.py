"""Designs of experiments: which points of a sweep's parameters are played.

A point holds one value for each of several parameters of a model, a part, a nested scenario or a
policy: whatever `--set` can name. All points share the seeds (common random numbers).

* `latin_hypercube`, `sobol_points`, `listed`: points that cover ranges, or any list of points.
* `factorial`: all combinations of two levels of each parameter; `desim.studies.effects` of rows.

`DesignSpec` reads the form of the command line and of a TOML file, such as `lhs:64`.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from desim.errors import UsageError, possible
from desim.short_repr import short_repr
from desim.studies.factors import (
    KINDS,
    MAX_POINTS,
    Design,
    Factor,
    at_places,
    checked_count,
    is_factor,
    listed,
    read_factors,
)

if TYPE_CHECKING:
    from numpy.random import Generator

__all__ = [
    "Design",
    "DesignSpec",
    "factorial",
    "latin_hypercube",
    "listed",
    "planned",
    "sobol_points",
]

#: Most parameters of a factorial design, whose points would otherwise be too many.
_MOST_PARAMETERS = int(math.log2(MAX_POINTS))

#: Seeds of designs, as of episodes, are whole numbers from 0.
_LARGEST_SEED = 2**63 - 1

#: The fields that each kind uses beside *kind*.
_USES: Mapping[str, tuple[str, ...]] = {
    "lhs": ("size", "seed"),
    "sobol": ("size", "seed"),
    "factorial": (),
    "points": ("points",),
}

#: Ranges or lists of values by parameter; see `read_factors`.
_Factors = Mapping[str, Any] | Sequence[Factor]


# -- points ----------------------------------------------------------------------------------------


def latin_hypercube(factors: _Factors, count: int, *, seed: int = 0) -> Design:
    """Return points such that each of *count* equal parts of every range holds exactly one.

    Args:
        factors: Ranges or lists of values by parameter; see `read_factors`.
        count: The number of points, 2 to 65,536.
        seed: The seed of the design; the episodes have seeds of their own.

    Raises:
        UsageError: An argument is wrong.
    """
    read, draws = read_factors(factors), _generator(seed)
    checked_count(count)
    from scipy.stats import qmc

    places = qmc.LatinHypercube(len(read), seed=draws).random(count)
    return at_places("lhs", read, places.tolist())


def sobol_points(factors: _Factors, count: int, *, seed: int = 0) -> Design:
    """Return scrambled points of Sobol's sequence; the arguments are those of `latin_hypercube`.

    Args:
        factors: Ranges or lists of values by parameter.
        count: A power of 2, 2 to 65,536, so that the points are balanced.
        seed: The seed of the scrambling.

    Raises:
        UsageError: An argument is wrong.
    """
    read, draws = read_factors(factors), _generator(seed)
    if checked_count(count) & (count - 1):
        below = 1 << (count.bit_length() - 1)
        raise UsageError(
            f"{count} points were given; Sobol's sequence is balanced for powers of 2, such as "
            f"{below} and {2 * below}"
        )
    from scipy.stats import qmc

    places = qmc.Sobol(len(read), seed=draws).random_base2(count.bit_length() - 1)
    return at_places("sobol", read, places.tolist())


def factorial(factors: _Factors) -> Design:
    """Return all combinations of two levels of each parameter; the last one varies fastest.

    Args:
        factors: A range, whose ends are the levels, or a list of two values, by parameter.

    Raises:
        UsageError: A factor does not have two levels, or there are too many factors.
    """
    read = read_factors(factors)
    for factor in read:
        if len(factor.levels) != len("-+"):
            raise UsageError(
                f"{factor.name} has {len(factor.levels)} values; a two-level design takes a range "
                "or two values"
            )
    if len(read) > _MOST_PARAMETERS:
        raise UsageError(
            f"{len(read)} parameters vary, which are 2**{len(read)} points; at most "
            f"{_MOST_PARAMETERS} do"
        )
    points = tuple(itertools.product(*(factor.levels for factor in read)))
    return Design("factorial", tuple(factor.name for factor in read), points)


def _generator(seed: Any) -> "Generator":
    """Return the generator of a design.

    Raises:
        UsageError: The seed is not a whole number from 0 to 2**63 - 1.
    """
    if type(seed) is not int or not 0 <= seed <= _LARGEST_SEED:
        raise UsageError(
            f"seed={short_repr(seed)} of the design was given; a seed is a whole number of at "
            "least 0"
        )
    from numpy.random import default_rng

    return default_rng(seed)


# -- as the command line and TOML files write them -------------------------------------------------


@frozen
class DesignSpec:
    """A design as plain data; the factors are the ranges and lists of values in `set`.

    Attributes:
        kind: lhs, sobol, factorial or points.
        size: Points of lhs and sobol.
        seed: The seed of lhs and sobol; None means 0.
        points: For the kind points: the values by parameter of each point.
    """

    kind: str
    size: int | None = None
    seed: int | None = None
    points: list[dict[str, Any]] = field(factory=list)

    @classmethod
    def read(cls, text: str) -> "DesignSpec":
        """Read `KIND[:SIZE][,seed=N]`.

        Raises:
            UsageError: The text does not have this form.

        >>> DesignSpec.read("lhs:64,seed=1")
        DesignSpec(kind='lhs', size=64, seed=1, points=[])
        """
        head, *rest = text.split(",")
        kind, colon, size = head.partition(":")
        found: dict[str, Any] = {"size": _whole(size, "size")} if colon else {}
        for part in rest:
            key, equals, value = part.partition("=")
            if key not in ("size", "seed") or not equals:
                raise UsageError(
                    f"design {short_repr(text)} was given; write KIND[:SIZE], then ,seed=N"
                )
            if key in found:
                raise UsageError(f"design {short_repr(text)} has {key} twice; give it once")
            found[key] = _whole(value, key)
        return cls(kind, **found)

    def build(self, factors: Mapping[str, Any]) -> Design:
        """Return the design.

        Args:
            factors: Ranges and lists of values by parameter.

        Raises:
            UsageError: The kind does not exist, does not use a given field, or a factor is wrong.
        """
        if self.kind not in KINDS:
            raise UsageError(f"there is no design {self.kind!r}; {possible(self.kind, KINDS)}")
        for name in ("size", "seed", "points"):
            if getattr(self, name) not in (None, []) and name not in _USES[self.kind]:
                uses = ", ".join(_USES[self.kind]) or "no other fields"
                raise UsageError(f"design {self.kind} takes no {name}; possible: {uses}")
        if self.kind == "points":
            return listed(self.points)
        if self.kind == "factorial":
            return factorial(factors)
        if self.size is None:
            raise UsageError(f"design {self.kind} needs a size, as in {self.kind}:64")
        made = latin_hypercube if self.kind == "lhs" else sobol_points
        return made(factors, self.size, seed=self.seed or 0)


def planned(
    design: Design | DesignSpec | str, changes: Mapping[str, Any]
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
