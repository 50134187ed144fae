"""The episodes of an evaluation: presets, seeds, and the scale of their known scores."""

from collections.abc import Sequence
from typing import Any

from desim import catalog
from desim.adapters.seat.setup import Setup
from desim.catalog.known_scores import known_scores_of
from desim.engine.grid import checked_seeds
from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.studies.sweep import read_seeds

#: Seeds of one evaluation.
_MOST_SEEDS = 100_000


def setups_of(world: str, preset: str | Sequence[str] = "", **arguments: Any) -> dict[str, Setup]:
    """Return setups of a world by preset.

    Args:
        world: The model's name.
        preset: One, several with commas or as a list, `all`; empty stands for the first.
        arguments: Further arguments of `Setup.of`; without `seats` the first of the world's default
            roles is played.

    Raises:
        UsageError: The world, preset, role, policy or a parameter does not exist.
    """
    known = catalog.presets(catalog.model_class(world))
    names = preset.split(",") if isinstance(preset, str) else [str(name) for name in preset]
    chosen = known if preset == "all" else dict.fromkeys(name.strip() or known[0] for name in names)
    if not chosen:
        raise UsageError("no preset was given; give at least one, or all")
    seats = arguments.pop("seats", "")
    return {
        name: Setup.of(
            world, name, seats=seats or catalog.model(world, name).default_roles[0], **arguments
        )
        for name in chosen
    }


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
    if seeds[_MOST_SEEDS:]:  # a range may have more than `len` can count
        most = f"{_MOST_SEEDS:,}"
        raise UsageError(f"more than {most} seeds were given; at most {most} are played")
    return checked_seeds(seeds)


def known_scale(setup: Setup, preset: str, seed: int) -> tuple[float, float] | None:
    """Return the known scores of a seed that become 0 and 1.

    Returns None if no scores are known for the seed, these parameters or these roles, if the bound
    is not above the floor, or if the episodes begin in a record.
    """
    known = known_scores_of(type(setup.model), preset)
    roles = tuple(sorted([*setup.seats, *setup.others]))
    if setup.starts is not None or known is None:
        return None
    one = known.of(seed) if roles in known.roles and known.fits(setup.model) else None
    return (one.floor, one.ceiling) if one is not None and one.ceiling > one.floor else None


def _number(given: Any) -> Any:
    text = str(given)
    return int(text) if isinstance(given, str) and text.isdecimal() else given
