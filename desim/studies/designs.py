"""Designs of experiments: which points of a sweep's parameters are played.

A point holds one value for each of several parameters of a model, a part, a nested scenario or a
policy: whatever `--set` can name. All points share the seeds (common random numbers).

* `latin_hypercube`, `sobol_points`, `listed`: points that cover ranges, or any list of points.
* `factorial`: all combinations of two levels of each parameter; `desim.studies.effects` of rows.

`DesignSpec` reads the form of the command line and of a TOML file, such as `lhs:64`.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from desim.engine.parameters import Choices, Range, from_numpy, read_range
from desim.errors import UsageError, possible
from desim.short_repr import short_repr

if TYPE_CHECKING:
    from numpy.random import Generator

#: Most points of a design, each of which every policy plays on every seed, and most parameters.
_MOST_POINTS, _MOST_PARAMETERS = 2**16, 1_000

#: Seeds of designs, as of episodes, are whole numbers from 0.
_LARGEST_SEED = 2**63 - 1

#: The kinds, and the fields that each uses beside *kind*.
_USES: Mapping[str, tuple[str, ...]] = {
    "lhs": ("size", "seed"),
    "sobol": ("size", "seed"),
    "factorial": (),
    "points": ("points",),
}


@frozen
class Design:
    """Points at which a sweep is played.

    Attributes:
        kind: How the points were made.
        names: The parameters.
        points: For each point the values of the parameters, in the order of *names*.
    """

    kind: str
    names: tuple[str, ...]
    points: tuple[tuple[Any, ...], ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.points)

    def at(self, place: int) -> dict[str, Any]:
        """Return a point as values by parameter."""
        return dict(zip(self.names, self.points[place], strict=True))


def latin_hypercube(factors: Mapping[str, Any], count: int, *, seed: int = 0) -> Design:
    """Return points such that each of *count* equal parts of every range holds exactly one.

    Args:
        factors: For each parameter a range as text (`low:high`, `int:low:high`, `log:low:high`), or
            a list of values.
        count: The number of points, 2 to 65,536.
        seed: The seed of the design; the episodes have seeds of their own.

    Raises:
        UsageError: An argument is wrong.
    """
    over, draws = _factors(factors), _generator(seed)
    _checked_count(count)
    from scipy.stats import qmc

    return _at_places("lhs", over, qmc.LatinHypercube(len(over), seed=draws).random(count))


def sobol_points(factors: Mapping[str, Any], count: int, *, seed: int = 0) -> Design:
    """Return scrambled points of Sobol's sequence; the arguments are those of `latin_hypercube`.

    Args:
        factors: Ranges or lists of values by parameter.
        count: A power of 2, 2 to 65,536, so that the points are balanced.
        seed: The seed of the scrambling.

    Raises:
        UsageError: An argument is wrong.
    """
    over, draws = _factors(factors), _generator(seed)
    if _checked_count(count) & (count - 1):
        below = 1 << (count.bit_length() - 1)
        raise UsageError(
            f"{count} points were given; Sobol's sequence is balanced for powers of 2, such as "
            f"{below} and {2 * below}"
        )
    from scipy.stats import qmc

    places = qmc.Sobol(len(over), seed=draws).random_base2(count.bit_length() - 1)
    return _at_places("sobol", over, places)


def factorial(factors: Mapping[str, Any]) -> Design:
    """Return all combinations of two levels of each parameter; the last one varies fastest.

    Args:
        factors: A range, whose ends are the levels, or a list of two values, by parameter.

    Raises:
        UsageError: A factor does not have two levels, or there are too many factors.
    """
    levels = {
        name: one.values if isinstance(one, Choices) else (one.value(0.0), one.value(1.0))
        for name, one in _factors(factors).items()
    }
    for name, of in levels.items():
        if len(of) != len("-+"):
            raise UsageError(
                f"{name} has {len(of)} values; a two-level design takes a range or two values"
            )
    most = int(math.log2(_MOST_POINTS))
    if len(levels) > most:
        raise UsageError(
            f"{len(levels)} parameters vary, which are 2**{len(levels)} points; at most {most} do"
        )
    return Design("factorial", tuple(levels), tuple(itertools.product(*levels.values())))


def listed(points: Iterable[Mapping[str, Any]]) -> Design:
    """Return the design of given points.

    Args:
        points: Values by parameter; every point has the same parameters.

    Raises:
        UsageError: No points or too many are given, or one is empty or has other parameters.
    """
    given = [dict(point) for point in points]
    _checked_count(len(given), least=1)
    names = tuple(given[0])
    if not names:
        raise UsageError("point 0 is empty; a point has a value for at least one parameter")
    for place, point in enumerate(given):
        if point.keys() != set(names):
            raise UsageError(
                f"point {place} has the parameters {', '.join(point) or 'none'}, and point 0 has "
                f"{', '.join(names)}; all points have the same ones"
            )
    values = tuple(tuple(from_numpy(point[name]) for name in names) for point in given)
    return Design("points", names, values)


# -- ranges and lists of values --------------------------------------------------------------------


def _factors(given: Mapping[str, Any]) -> dict[str, Range | Choices]:
    """Return what parameters vary over.

    Raises:
        UsageError: None or too many are given, or a range or a list is wrong.
    """
    if not given:
        raise UsageError(
            "a design varies at least one parameter; give a range, as in --set KEY=low:high, or "
            "several values"
        )
    if len(given) > _MOST_PARAMETERS:
        raise UsageError(f"{len(given):,} parameters vary; a design has up to {_MOST_PARAMETERS:,}")
    found = {}
    for name, value in given.items():
        try:
            found[name] = _varied(from_numpy(value))
        except UsageError as fault:
            raise UsageError(f"{name}: {fault}") from None
    return found


def _varied(value: Any) -> Range | Choices:
    if isinstance(value, Range | Choices):
        return value
    if isinstance(value, str):
        if found := read_range(value):
            return found
        raise UsageError(
            f"{short_repr(value)} is no range; write low:high, int:low:high or log:low:high"
        )
    return Choices(tuple(map(from_numpy, value)) if isinstance(value, Sequence) else (value,))


def _is_varied(value: Any) -> bool:
    """Return whether a value of `set` is a range or a list, and not a single value."""
    if isinstance(value, str):
        try:
            return read_range(value) is not None
        except UsageError:
            return True  # a wrong one; the error of `_factors` names the parameter
    return isinstance(value, Range | Choices) or isinstance(from_numpy(value), list | tuple | range)


def _at_places(kind: str, over: Mapping[str, Range | Choices], places: Any) -> Design:
    """Return the design whose points are at places from 0 to 1 on each parameter."""
    points = tuple(
        tuple(one.value(at) for one, at in zip(over.values(), place, strict=True))
        for place in places.tolist()
    )
    return Design(kind, tuple(over), points)


def _checked_count(count: Any, least: int = 2) -> int:
    if type(count) is not int or not least <= count <= _MOST_POINTS:
        raise UsageError(
            f"{short_repr(count)} points were given; possible: {least} to {_MOST_POINTS:,}"
        )
    return count


def _generator(seed: Any) -> "Generator":
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
    """A design as plain data; it varies the ranges and lists of values in `set`.

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
        if self.kind not in _USES:
            raise UsageError(f"there is no design {self.kind!r}; {possible(self.kind, _USES)}")
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
    factors = {name: value for name, value in changes.items() if _is_varied(value)}
    fixed = {name: _unquoted(v) for name, v in changes.items() if name not in factors}
    return design.build(factors), fixed


def _unquoted(value: Any) -> Any:
    """Return the text inside double quotes if it would be read as a range without them."""
    quoted = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"'
    return value[1:-1] if quoted and _is_varied(value[1:-1]) else value


def _whole(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(
            f"{what} {short_repr(text)} of the design was given; it is a whole number"
        ) from None
