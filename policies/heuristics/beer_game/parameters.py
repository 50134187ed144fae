"""The parameters of the Beer Game, out of a policy's seat."""

from desim.errors import UsageError
from models.beer_game.params import BeerGameParams

__all__ = ["at_least", "parameters"]


def at_least(least: int, **given: int | None) -> None:
    """Check arguments of a policy's spec; None stands for an argument that was not given.

    Raises:
        UsageError: An argument is below *least*.
    """
    for name, value in given.items():
        if value is not None and value < least:
            raise UsageError(f"{name}={value} was given; {name} is at least {least}")


def parameters(model: object, policy: str) -> BeerGameParams:
    """Return a Beer Game as its parameters.

    Args:
        model: The model of an episode.
        policy: The name of the policy, for the error.

    Raises:
        UsageError: *model* is no Beer Game.
    """
    if not isinstance(model, BeerGameParams):
        raise UsageError(f"{policy} reads the Beer Game's demand and plays no other world")
    return model
