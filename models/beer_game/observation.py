"""The observation of a stage."""

from attrs import frozen

__all__ = ["Number", "Stage"]

#: Units: whole numbers as long as every order so far was whole.
Number = int | float


@frozen
class Stage:
    """One stage of the chain, with the figures that its manager knows.

    Attributes:
        week: Weeks completed; where the stage orders at the end of a week, the week that ends now.
        role: The stage's name.
        inventory: Units on hand after this week's shipping.
        backlog: Units owed to the stage below.
        incoming_order: Units ordered from this stage in the week just played.
        incoming_delivery: Units received in that week.
        outgoing_delivery: Units shipped in that week.
        supply_line: Units under way to this stage; with `supply_line="ordered"` also those ordered
            and not yet shipped.
        last_order: Units this stage ordered last.
        horizon: Weeks of the episode.
        opponents: The rule of the stages without a player; empty where it is not known.
        target_inventory: Units that the stage should keep on hand.
    """

    week: int
    role: str
    inventory: Number
    backlog: Number
    incoming_order: Number
    incoming_delivery: Number
    outgoing_delivery: Number
    supply_line: Number
    last_order: Number
    horizon: int
    opponents: str
    target_inventory: int

    @property
    def position(self) -> Number:
        """Inventory position in units: on hand plus supply line less backlog."""
        return self.inventory + self.supply_line - self.backlog
