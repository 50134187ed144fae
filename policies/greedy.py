"""The option that is worth most right now, in any world whose role offers options."""

from typing import Any, Self

from attrs import frozen

from desim import Seat
from desim.errors import UsageError
from desim.kernel import Option

__all__ = ["Greedy"]


@frozen
class Greedy:
    """Take the option with the highest immediate worth, the first of equals.

    Attributes:
        options: Maps an observation to the sensible answers; the role's own.
    """

    options: Any

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Sit down at a role that offers options."""
        return cls(options_of(seat))

    def decide(self, observation: Any) -> Any:
        """Answer with the best option."""
        return max(self.options(observation), key=worth).action


def worth(option: Option) -> float:
    """Return what an option is worth."""
    return option.worth


def options_of(seat: Seat) -> Any:
    """Return the options of a seat.

    Raises:
        UsageError: The role offers none.
    """
    if seat.does.options is None:
        raise UsageError(
            f"role {seat.role!r} offers no options, so no policy can choose among them"
        )
    return seat.does.options
