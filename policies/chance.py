"""A random option, each with the same chance: the least that a policy should beat."""

from typing import TYPE_CHECKING, Any

from attrs import define, field

from desim import Policy, Role, Seat
from policies.greedy import Options, options_of

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

    _options: Options = field(init=False, repr=False)
    _generator: "Generator" = field(init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Take the options of the role.

        Raises:
            UsageError: The role does not offer options.
        """
        self._options, self._generator = options_of(seat), seat.generator()

    def decide(self, observation: Any, role: Role | None = None) -> Any:
        """Return the action of a random option."""
        options = ((role and role.options) or self._options)(observation)
        return options[int(self._generator.integers(len(options)))].action
