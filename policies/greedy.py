"""The option of the highest value, in any world whose role offers options."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from attrs import define, field

from desim import Option, Policy, Role, Seat
from desim.errors import UsageError

#: Returns the sensible actions for an observation, at least one; see `Role.options`.
Options = Callable[[Any], Sequence[Option]]


@define
class Greedy(Policy):
    """Take the option with the highest immediate value, the first of equals."""

    memoryless = True
    takes_options = True
    takes_role = True

    _options: Options = field(init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Take the options of the role.

        Raises:
            UsageError: The role does not offer options.
        """
        self._options = options_of(seat)

    def decide(self, observation: Any, role: Role | None = None) -> Any:
        """Return the action of the best option."""
        options = (role and role.options) or self._options
        return max(options(observation), key=attrgetter("value")).action


def options_of(seat: Seat) -> Options:
    """Return the function that lists the options of a seat's role.

    Raises:
        UsageError: The role does not offer options.
    """
    if seat.spec.options is None:
        raise UsageError(
            f"role {seat.role!r} offers no options, so no policy can choose among them"
        )
    return seat.spec.options
