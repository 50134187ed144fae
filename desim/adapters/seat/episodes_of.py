"""Presets and seeds of an evaluation, as its command line gives them."""

from collections.abc import Sequence
from typing import Any

from desim import catalog
from desim.errors import UsageError
from desim.jobs.plan.grid import checked_seeds
from desim.short_repr import short_repr
from desim.studies.sweep_file import read_seeds

#: Presets times seeds of one evaluation.
_MOST_EPISODES = 100_000


def chosen_presets(world: str, given: str | Sequence[str] = "") -> tuple[str, ...]:
    """Return presets of a world: the first for an empty text, all for `all`, or those of a list."""
    known = catalog.presets(catalog.model_class(world))
    if given == "all":
        return known
    names = given.split(",") if isinstance(given, str) else [str(name) for name in given]
    found = tuple(dict.fromkeys(name.strip() or known[0] for name in names))
    if not found:
        raise UsageError("no preset was given; give at least one, or all")
    for name in found:
        catalog.model(world, name)
    return found


def chosen_seeds(given: Any) -> tuple[int, ...]:
    """Return the seeds of `A:B` (without B), `A,B,...`, or a list.

    Raises:
        UsageError: The value has another form, or gives more than 100,000 seeds. A number is
            refused, because YAML, in which tools read their options, reads 1:30 as the number 90.
    """
    if isinstance(given, str):
        seeds: Sequence[Any] = read_seeds(given)
    elif isinstance(given, list | tuple | range):
        seeds = [_number(one) for one in given if one != ""]
    else:
        raise UsageError(
            f"seeds {short_repr(given)} were given; write A:B (without B) in quotation marks of "
            "YAML (\"'1:30'\"), as it reads 1:30 as a number, or a list ([3])"
        )
    if len(seeds) > _MOST_EPISODES:
        raise UsageError(f"{len(seeds):,} seeds were given; at most {_MOST_EPISODES:,} are played")
    return tuple(checked_seeds(seeds))


def checked_episodes(presets: Sequence[str], seeds: Sequence[int]) -> list[tuple[str, int]]:
    """Return every preset with every seed."""
    if len(presets) * len(seeds) > _MOST_EPISODES:
        raise UsageError(
            f"{len(presets)} presets with {len(seeds):,} seeds were given; at most "
            f"{_MOST_EPISODES:,} episodes are played"
        )
    return [(preset, seed) for preset in presets for seed in seeds]


def _number(given: Any) -> Any:
    text = str(given)
    return int(text) if isinstance(given, str) and text.isdecimal() else given
