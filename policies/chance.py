"""Any option with equal chance: the least that a policy should beat."""

from typing import Any, Self

from attrs import frozen

from desim import Seat
from policies.greedy import options_of

__all__ = ["Random"]


@frozen
class Random:
    """Take an option at random, each with the same chance.

    Attributes:
        options: Maps an observation to the sensible answers; the role's own.
        generator: Random numbers that belong to the episode's seed and this seat, so that the same
            seed gives the same answers and no draw of the world is shifted.
    """

    options: Any
    generator: Any

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Sit down at a role that offers options."""
        return cls(options_of(seat), seat.generator())

    def decide(self, observation: Any) -> Any:
        """Answer with one of the options."""
        options = self.options(observation)
        return options[int(self.generator.integers(len(options)))].action
