"""A score on the scale of the known scores: 0 stands for their floor, 1 for the bound."""

from desim.adapters.seat.setup import Setup
from desim.catalog.known_scores import HasKnownScores, KnownScore
from desim.core.model_protocols import offers
from desim.studies.boards.aggregate_scores import Scale


def has_scale(setup: Setup, preset: str, seed: int) -> bool:
    """Return whether scores of a setup that was made of a preset can be normalised."""
    return _scale(setup, preset, seed) is not None


def normalised_score(setup: Setup, preset: str, seed: int, score: float) -> float | None:
    """Return a score on the known scale of a seed: at least 0, above 1 for a new best.

    Returns None if no scores are known for the seed, these parameters or these roles, or if the
    bound is not above the floor.
    """
    scale = _scale(setup, preset, seed)
    return None if scale is None else scale.normalised(score)


def _scale(setup: Setup, preset: str, seed: int) -> Scale | None:
    one = _known(setup, preset, seed)
    if one is None or one.ceiling.value <= one.floor:
        return None
    return Scale(one.floor, one.ceiling.value)


def _known(setup: Setup, preset: str, seed: int) -> KnownScore | None:
    cls = type(setup.model)
    known = cls.known_scores(preset) if offers(cls, HasKnownScores) else None
    roles = tuple(sorted([*setup.seats, *setup.others]))
    if known is None or roles not in known.roles or not known.fits(setup.model):
        return None
    return known.of(seed)
