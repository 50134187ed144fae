"""The episodes of an evaluation: presets, seeds, and the scale of their known scores."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from attrs import frozen

from desim import catalog
from desim.adapters.seat.setup import Setup
from desim.catalog.known_scores import known_scores_of
from desim.engine.grid import checked_seeds
from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.studies.sweep import read_seeds

#: Presets times seeds of one evaluation.
_MOST_EPISODES = 100_000


@frozen
class Evaluation:
    """The episodes of one seat of a world that are evaluated.

    Attributes:
        arguments: The arguments of `Setup.of`, with the seat.
        setups: The setups by preset.
        episodes: Every preset with every seed.
    """

    arguments: Mapping[str, Any]
    setups: Mapping[str, Setup]
    episodes: Sequence[tuple[str, int]]

    @classmethod
    def of(cls, world: str, preset: str | Sequence[str], seeds: Any, **arguments: Any) -> Self:
        """Return the episodes of presets and seeds as a command line gives them.

        Args:
            world: The model's name.
            preset: See `chosen_presets`.
            seeds: See `chosen_seeds`.
            arguments: Further arguments of `Setup.of`; without `seats` the first of the world's
                default roles is played.

        Raises:
            UsageError: The world, preset, role, policy or a parameter does not exist, or a number
                is wrong.
        """
        presets = chosen_presets(world, preset)
        episodes = checked_episodes(presets, chosen_seeds(seeds))
        first = catalog.model(world, presets[0]).default_roles[0]
        arguments["seats"] = arguments.get("seats") or first
        setups = {name: Setup.of(world, name, **arguments) for name in presets}
        return cls(arguments, setups, episodes)


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
    elif isinstance(given, range):
        seeds = given
    elif isinstance(given, list | tuple):
        seeds = [_number(one) for one in given if one != ""]
    else:
        raise UsageError(
            f"seeds {short_repr(given)} were given; write A:B (without B) in quotation marks of "
            "YAML (\"'1:30'\"), as it reads 1:30 as a number, or a list ([3])"
        )
    if seeds[_MOST_EPISODES:]:  # a range may have more than `len` can count
        most = f"{_MOST_EPISODES:,}"
        raise UsageError(f"more than {most} seeds were given; at most {most} are played")
    return checked_seeds(seeds)


def checked_episodes(presets: Sequence[str], seeds: Sequence[int]) -> list[tuple[str, int]]:
    """Return every preset with every seed."""
    if len(presets) * len(seeds) > _MOST_EPISODES:
        raise UsageError(
            f"{len(presets)} presets with {len(seeds):,} seeds were given; at most "
            f"{_MOST_EPISODES:,} episodes are played"
        )
    return [(preset, seed) for preset in presets for seed in seeds]


def has_scale(setup: Setup, preset: str, seed: int) -> bool:
    """Return whether scores of a setup that was made of a preset can be normalised."""
    return _scale(setup, preset, seed) is not None


def normalised_score(setup: Setup, preset: str, seed: int, score: float) -> float | None:
    """Return a score on the known scale of a seed: below 0 under the floor, above 1 for a new best.

    Returns None if no scores are known for the seed, these parameters or these roles, or if the
    bound is not above the floor.
    """
    scale = _scale(setup, preset, seed)
    if scale is None:
        return None
    floor, best = scale
    return (score - floor) / (best - floor)


def _scale(setup: Setup, preset: str, seed: int) -> tuple[float, float] | None:
    """Return the scores of a seed that become 0 and 1."""
    if setup.starts is not None:  # known scores are of whole episodes
        return None
    known = known_scores_of(type(setup.model), preset)
    roles = tuple(sorted([*setup.seats, *setup.others]))
    if known is None or roles not in known.roles or not known.fits(setup.model):
        return None
    one = known.of(seed)
    if one is None or one.ceiling <= one.floor:
        return None
    return one.floor, one.ceiling


def _number(given: Any) -> Any:
    text = str(given)
    return int(text) if isinstance(given, str) and text.isdecimal() else given
