"""The order of a week's events: all of them share the tick at which the week ends."""

from attrs import frozen


@frozen
class Ranks:
    """Ranks within a week's tick, lower first.

    All stages finish one kind of event, from the customers up, before the next kind begins.

    Attributes:
        stages: Number of stages.
    """

    stages: int

    @property
    def over(self) -> int:
        """Rank before all events of a week: the week before is over."""
        return -1

    @property
    def deliveries(self) -> int:
        """Rank of goods that arrive at the first stage; one rank more for each stage above it."""
        return 0

    @property
    def orders(self) -> int:
        """Rank of the customers' demand; one more for the orders of each stage above the first."""
        return self.stages

    @property
    def work(self) -> int:
        """Of shipping, accounts and the orders by rule."""
        return 2 * self.stages

    @property
    def players(self) -> int:
        """Rank of the players who order at the end of the week."""
        return 2 * self.stages + 1

    @property
    def close(self) -> int:
        """Rank of the players who decide before the next week begins."""
        return 2 * self.stages + 2
