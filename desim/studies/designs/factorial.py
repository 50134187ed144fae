"""Two-level factorial designs: all combinations of the levels, or a fraction of them.

A level is the sign -1 or +1. In a fraction some factors vary freely, and the sign of every other
one is the product of signs of free ones, its generator. The resolution is the length of the
shortest product of signs that is the same at all points: with III main effects are confused with
interactions of two parameters, with IV only such interactions with one another, with V neither.

Source: Box, Hunter and Hunter, Statistics for Experimenters, 2nd edition, chapters 5 and 6.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import xor
from typing import Any

from desim.errors import UsageError, possible
from desim.jobs.plan.parameter_points import MAX_POINTS, Design, Factor, read_factors
from desim.short_repr import short_repr

#: Most factors of a full design, whose points would otherwise be too many, and of a fraction.
_MAX_FREE, _MAX_FACTORS = int(math.log2(MAX_POINTS)), 63

#: Resolutions that may be requested, and the least with which main effects can be estimated.
_RESOLUTIONS, _LEAST = range(3, 8), 3

#: Tries of a search for generators with one number of free factors.
_MAX_TRIES = 20_000


def factorial(
    factors: Mapping[str, Any] | Sequence[Factor],
    *,
    resolution: int | None = None,
    generators: Mapping[str, str] | None = None,
) -> Design:
    """Return a two-level design; the last factor varies fastest among those that vary freely.

    Args:
        factors: A range, whose ends are the levels, or a list of two values, by parameter.
        resolution: 3 to 7: the smallest fraction of at least this resolution that is found; None
            plays all combinations.
        generators: For some parameters the others whose product is their sign, joined by `*`:
            `{"margin": "delay*horizon"}`.

    Raises:
        UsageError: A factor does not have two levels, there are too many factors, or the fraction
            is impossible.
    """
    read = read_factors(factors)
    for factor in read:
        if len(factor.levels) != len("-+"):
            raise UsageError(
                f"{factor.name} has {len(factor.levels)} values; a two-level design takes a range "
                "or two values"
            )
    if resolution is not None and generators:
        raise UsageError("a resolution and generators were given; give one of them")
    names = [factor.name for factor in read]
    if generators:
        masks = _by_name(names, generators)
    elif resolution is not None:
        masks = fraction(len(read), resolution)
    else:
        masks = [1 << place for place in range(len(read))]
    free = sum(mask.bit_count() == 1 for mask in masks)
    if free > _MAX_FREE:
        raise UsageError(
            f"{free} parameters vary freely, which are 2**{free} points; at most {_MAX_FREE} do: "
            "give a resolution for a fraction"
        )
    points = tuple(
        tuple(factor.levels[_sign(mask, signs)] for factor, mask in zip(read, masks, strict=True))
        for signs in _all_signs(free)
    )
    return Design("factorial", tuple(names), points, read)


def fraction(count: int, resolution: int) -> list[int]:
    """Return for each factor the free factors whose signs it multiplies, as bits.

    The bit vectors of any set of factors smaller than the resolution are independent, because a
    product of signs that never changes is a set of factors whose bits add up to zero.

    Raises:
        UsageError: The resolution is not 3 to 7, there are too few or too many factors for it, or
            the fraction has too many points.

    >>> [f"{mask:03b}" for mask in fraction(4, 4)]
    ['001', '010', '100', '111']
    """
    if type(resolution) is not int or resolution not in _RESOLUTIONS:
        raise UsageError(
            f"resolution={short_repr(resolution)} was given; possible: "
            f"{_RESOLUTIONS[0]} to {_RESOLUTIONS[-1]}"
        )
    if count < resolution:
        raise UsageError(
            f"{count} parameters have no fraction of resolution {resolution}, which needs at least "
            f"{resolution}; leave out the resolution to play all combinations"
        )
    if count > _MAX_FACTORS:
        raise UsageError(f"{count} parameters were given; a fraction has at most {_MAX_FACTORS}")
    for free in range(1, min(count, _MAX_FREE) + 1):
        if found := _search(count, free, resolution):
            return found
    raise UsageError(
        f"{count} parameters are too many for a fraction of resolution {resolution} with at most "
        f"{MAX_POINTS:,} points; ask for a lower resolution"
    )


def _search(count: int, free: int, resolution: int) -> list[int] | None:
    """Search masks that are not sums of others, by backtracking; None if too many are tried."""
    tries = 0

    def extended(masks: list[int], least: int) -> list[int] | None:
        nonlocal tries
        if len(masks) == count:
            return masks
        sums = _sums(masks, resolution - 2)
        for mask in range(least, 1 << free):
            if mask in sums:
                continue
            tries += 1
            if tries > _MAX_TRIES:
                return None
            if found := extended([*masks, mask], mask + 1):
                return found
        return None

    if count > (1 << free) - 1:
        return None
    return extended([1 << place for place in range(free)], 1)


def _sums(masks: Sequence[int], most: int) -> set[int]:
    """Return the sums, bit by bit, of up to *most* masks."""
    sizes = range(most + 1)
    return {reduce(xor, some, 0) for n in sizes for some in itertools.combinations(masks, n)}


def _by_name(names: Sequence[str], generators: Mapping[str, str]) -> list[int]:
    """Return the masks that generators by name describe."""
    for name in generators:
        if name not in names:
            raise UsageError(f"no parameter {name!r} varies; {possible(name, names)}")
    free = [name for name in names if name not in generators]
    bits = {name: 1 << place for place, name in enumerate(free)}
    for name, text in generators.items():
        words = [word.strip() for word in text.split("*")] if isinstance(text, str) else []
        if len(words) < _LEAST - 1 or len(set(words)) < len(words) or not {*free} >= {*words}:
            raise UsageError(
                f"generator {name}={short_repr(text)} was given; it is the product of at least two "
                f"different parameters of these: {', '.join(free) or 'none is left'}"
            )
        bits[name] = sum(bits[word] for word in words)
        if list(bits.values()).count(bits[name]) > 1:
            raise UsageError(
                f"generator {name}={short_repr(text)} was given to two parameters; with the same "
                "sign at all points they cannot be told apart"
            )
    return [bits[name] for name in names]


def _sign(mask: int, signs: Sequence[int]) -> int:
    """Return the product of the signs in a mask: 0 for the lower level and 1 for the upper one.

    Signs are 0 for -1 and 1 for +1; a product is -1 if an odd number of its signs are.
    """
    minus = sum(1 - sign for place, sign in enumerate(signs) if mask >> place & 1)
    return 1 - minus % 2


def _all_signs(free: int) -> "itertools.product[tuple[int, ...]]":
    return itertools.product((0, 1), repeat=free)
