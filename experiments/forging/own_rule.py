"""A rule of a submitter's own, for entries that hold its code."""

from attrs import frozen

from models.beer_game import Order, Stage


@frozen
class Cover:
    """Keep `weeks` of demand on hand and under way."""

    weeks: int = 4

    def decide(self, stage: Stage) -> Order:
        """Order what is missing."""
        want = self.weeks * stage.incoming_order
        return Order(max(0, want - stage.inventory - stage.supply_line + stage.backlog))
