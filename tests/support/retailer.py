"""What a retailer of the Beer Game observes, for tests of its rules."""

from typing import Any

from models.beer_game import Stage


def observed(**changes: Any) -> Stage:
    """Return an observation of the published game with some fields changed."""
    seen = {
        "week": 3,
        "role": "retailer",
        "inventory": 0,
        "backlog": 0,
        "incoming_order": 0,
        "incoming_delivery": 0,
        "outgoing_delivery": 0,
        "supply_line": 0,
        "last_order": 0,
        "horizon": 9,
        "opponents": "typical",
        "target_inventory": 400,
    }
    return Stage(**{**seen, **changes})
