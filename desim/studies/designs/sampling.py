"""Points that cover ranges evenly: Latin hypercubes and Sobol's sequence (scipy.stats.qmc)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from desim.errors import UsageError
from desim.jobs.plan.parameter_points import Design, Factor, at_places, checked_count, read_factors
from desim.short_repr import short_repr

if TYPE_CHECKING:  # `import desim` must not load numpy
    from numpy import float64
    from numpy.random import Generator
    from numpy.typing import NDArray


#: Seeds of designs, as of episodes, are whole numbers from 0.
_LARGEST_SEED = 2**63 - 1


def latin_hypercube(
    factors: Mapping[str, Any] | Sequence[Factor], count: int, *, seed: int = 0
) -> Design:
    """Return points such that each of *count* equal parts of every range holds exactly one.

    Args:
        factors: Ranges or lists of values by parameter; see `read_factors`.
        count: The number of points, 2 to 65,536.
        seed: The seed of the design; the episodes have seeds of their own.

    Raises:
        UsageError: An argument is wrong.
    """
    read, draws = read_factors(factors), generator(seed)
    checked_count(count, "points")
    from scipy.stats import qmc

    places = qmc.LatinHypercube(len(read), seed=draws).random(count)
    return at_places("lhs", read, places.tolist())


def sobol_points(
    factors: Mapping[str, Any] | Sequence[Factor], count: int, *, seed: int = 0
) -> Design:
    """Return scrambled points of Sobol's sequence; the arguments are those of `latin_hypercube`.

    Args:
        factors: Ranges or lists of values by parameter.
        count: A power of 2, 2 to 65,536, so that the points are balanced.
        seed: The seed of the scrambling.

    Raises:
        UsageError: An argument is wrong.
    """
    read, draws = read_factors(factors), generator(seed)
    checked_power(checked_count(count, "points"))
    return at_places("sobol", read, sobol_unit(len(read), count, draws).tolist())


def sobol_unit(columns: int, count: int, draws: "Generator") -> "NDArray[float64]":
    """Return the first points of a scrambled Sobol sequence in the unit cube, one in a row."""
    from scipy.stats import qmc

    return qmc.Sobol(columns, seed=draws).random_base2(count.bit_length() - 1)


def checked_power(count: int) -> int:
    """Return a number that is a power of 2.

    Raises:
        UsageError: The number is not a power of 2.
    """
    if count & (count - 1):
        below = 1 << (count.bit_length() - 1)
        raise UsageError(
            f"{count} points were given; Sobol's sequence is balanced for powers of 2, such as "
            f"{below} and {2 * below}"
        )
    return count


def generator(seed: Any) -> "Generator":
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
