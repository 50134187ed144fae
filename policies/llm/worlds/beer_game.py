"""The Beer Game: one JSON order a week, repaired as published; nothing is remembered.

Source: reference SPEC of the Beer Game, sections 5 and 6.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from desim import Seat
from policies.llm import tools
from policies.llm.parse import BadReply, objects, text_of
from policies.llm.talk import Taken, Talk, Wishes
from policies.llm.wire import Reply
from policies.llm.worlds.generic import Generic

__all__ = ["talk"]

_LARGEST = 5_000

#: Keys under which an order is looked for, the asked-for one first.
_KEYS = ("order_qty", "order", "quantity", "final_answer", "decision", "final_value")

_INTEGER = re.compile(r"-?\d+")

_WRAPS = ("final_answer", "decision")

_SCHEMA = {
    "type": "object",
    "properties": {
        "order_qty": {"type": "integer", "minimum": 0, "maximum": _LARGEST},
        "note": {"type": "string", "maxLength": 200},
    },
    "required": ["order_qty", "note"],
    "additionalProperties": False,
}


def talk(seat: Seat, wishes: Wishes) -> Talk:
    """Begin a conversation."""
    return Weekly(seat, wishes, mode="json", history=0)


class Weekly(Generic):
    """Every week the rules and this week's figures, and one order for an answer."""

    def rules(self, seen: Any) -> str:
        """Tell the stage's story; what units and the costs are is the scenario's to say."""
        game: Any = self.seat.model
        return (
            f"You manage the {seen.role} of a beer supply chain: {' < '.join(game.stages)}, "
            "customers at the left. Once a week you order from the stage to your right (the last "
            "one brews). Orders take time to arrive there and goods to arrive here, so what you "
            "order now helps some weeks later; what you cannot ship is owed and shipped when you "
            "can.\n"
            f"A unit on hand costs {game.holding_cost:g} a week and a unit owed "
            f"{game.backlog_cost:g}; holding costs at least {game.minimum_holding_cost:g} a week. "
            f"Keep your own cost over {seen.horizon} weeks as low as you can. You are told to keep "
            f"about {seen.target_inventory} units on hand.\n"
            "Every week you see, as JSON:\n"
            f"{tools.fields_of(self.seat.does.sees)}"
        )

    def form(self) -> str:
        """Say how to answer."""
        if self.mode == "tools":
            return super().form()
        return (
            'Answer with one JSON object: {"order_qty": whole number from 0 to '
            f'{_LARGEST}, "note": "a few words why"}}.'
        )

    def schema(self) -> tools.Schema:
        """Return the schema of the answer."""
        return _SCHEMA

    def answer(self, reply: Reply, seen: Any) -> Taken:
        """Read the order and repair it: truncated, within its range."""
        if reply.calls:
            found = super().answer(reply, seen).action.quantity
        else:
            found = _ordered(text_of(reply))
        quantity = min(max(0, math.trunc(found)), _LARGEST)
        mended = type(found) is not int or found != quantity
        return Taken(self.codec.read({"do": "order", "quantity": quantity}), int(mended))

    def fall_back(self, seen: Any) -> Any:
        """Order as published where nothing could be read: demand and half the gap to the target."""
        gap = seen.target_inventory - seen.inventory + seen.backlog
        wished = math.trunc(seen.incoming_order) + max(0, math.trunc(0.5 * gap))
        return self.codec.read({"do": "order", "quantity": min(max(0, wished), _LARGEST)})


def _ordered(text: str) -> float:
    """Find the quantity that a text orders; a whole number stays one.

    Raises:
        BadReply: There is none.
    """
    for found in (*_outermost(text), *objects(text)):
        number = _number_in(found)
        if number is not None:
            return number
    raise BadReply('your reply holds no order; write {"order_qty": whole number, "note": "..."}')


def _outermost(text: str) -> list[Mapping[str, Any]]:
    """Return what lies between the first and the last brace, if that is an object."""
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return []
    return [found] if isinstance(found, Mapping) else []


def _number_in(found: Mapping[str, Any]) -> float | None:
    inner = [value for key in _WRAPS if isinstance(value := found.get(key), Mapping)]
    for each in (found, *inner):
        for key in _KEYS:
            if (number := _number(each.get(key))) is not None:
                return number
    return None


def _number(value: Any) -> float | None:
    """Return a number, or the first whole number in a text."""
    if isinstance(value, str):
        found = _INTEGER.search(value[:1_000])
        return None if found is None else float(found[0][:20])
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return value
    return None
