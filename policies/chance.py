"""A random option, each with the same chance: the least that a policy should beat."""

from typing import TYPE_CHECKING, Any, Self

from attrs import frozen

from desim import Policy, Role, Seat
from policies.greedy import Options, options_of

if TYPE_CHECKING:  # numpy.random takes longer to import than all of desim
    from numpy.random import Generator

__all__ = ["Random"]


@frozen
class Random(Policy):
    """Take an option at random, each with the same chance.

    Attributes:
        options: Returns the options for an observation.
        generator: Random numbers of the episode's seed and this seat alone: the same seed gives the
            same actions, and no draw of the world is shifted.
    """

    draws = True
    takes_options = True
    takes_role = True

    options: Options
    generator: "Generator"

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Return the policy for a role that offers options.

        Raises:
            UsageError: The role does not offer options.
        """
        return cls(options_of(seat), seat.generator())

    def decide(self, observation: Any, narrowed: Role | None = None) -> Any:
        """Return the action of a random option."""
        options = ((narrowed and narrowed.options) or self.options)(observation)
        return options[int(self.generator.integers(len(options)))].action
