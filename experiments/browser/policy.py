"""Keep `weeks` of demand on hand and under way."""

from attrs import frozen

from models.beer_game import Order, Stage


@frozen
class Cover:
    """Order what is missing to cover `weeks` weeks of the last demand."""

    weeks: int = 4

    def decide(self, stage: Stage) -> Order:
        """Return the order of the week."""
        want = self.weeks * stage.incoming_order
        return Order(max(0, want - stage.inventory - stage.supply_line + stage.backlog))
