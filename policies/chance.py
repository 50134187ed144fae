"""A random option, each with the same chance: the least that a policy should beat."""

from typing import TYPE_CHECKING, Any

from attrs import define, field

from desim import Policy, Role, Seat
from policies.greedy import check_options, options

if TYPE_CHECKING:  # numpy.random takes longer to import than all of desim
    from numpy.random import Generator


@define
class Random(Policy):
    """Take an option at random, each with the same chance.

    It draws from the episode's seed and its seat alone: the same seed gives the same actions, and
    no draw of the world is shifted.
    """

    draws = True
    takes_options = True
    takes_role = True

    _generator: "Generator" = field(init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Take the generator of the seat.

        Raises:
            UsageError: The role does not offer options.
        """
        check_options(seat)
        self._generator = seat.generator()

    def decide(self, observation: Any, role: Role | None = None) -> Any:
        """Return the action of a random option."""
        offered = options(role, observation)
        return offered[int(self._generator.integers(len(offered)))].action
