"""The Beer Game: one JSON order a week, repaired as published; no message is kept.

Source: reference SPEC of the Beer Game, sections 5 and 6.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from desim import Seat
from desim.schema.described import Schema, field_lines
from policies.llm.conversation import Conversation, ConversationKind, ParsedReply
from policies.llm.options import LLMOptions
from policies.llm.replies import BadReply, as_tagged, called, only, stated
from policies.llm.wires.wire import ModelReply

#: The largest order; larger ones are cut to it, as published.
_LARGEST = 5_000

#: Keys of an order, the one in the prompt first; the others occur in published replies.
_KEYS = ("order_qty", "orderQty", "order", "quantity", "final_answer", "decision", "final_value")

_INTEGER = re.compile(r"-?\d+")

#: Characters of a text that are searched for a number, and digits of it that are read.
_SEARCHED, _DIGITS = 1_000, 20

#: Keys under which the order may be wrapped in an object.
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


class WeeklyConversation(Conversation):
    """Each week a prompt with the rules and the week's figures, answered by one order."""

    def __init__(self, seat: Seat, options: LLMOptions) -> None:
        super().__init__(seat, options, mode="json", history=0)

    def rules(self, _: Any) -> str:
        """Return the stage's task; costs, stages and horizon are those of the parameters."""
        return (
            f"{self.world_rules}\nEvery week you see, as JSON:\n"
            f"{field_lines(self.seat.spec.observation)}"
        )

    def answer_format(self) -> str:
        if self.by_tools:
            return super().answer_format()
        return (
            'Answer with one JSON object: {"order_qty": whole number from 0 to '
            f'{_LARGEST}, "note": "a few words why"}}.'
        )

    def schema(self) -> Schema:
        return _SCHEMA

    def parsed(self, reply: ModelReply, _: Any) -> ParsedReply:
        """Return the order of a reply, truncated to a whole number and cut to its range."""
        if reply.calls:
            found = [_number_in(call) for call in called(reply) if call["do"] in self.known]
        else:
            found = [self._stated(each.value) for each in stated(reply, tools=self.by_tools)]
        numbers = [each for each in found if each is not None]
        if not numbers:
            how = "call the tool order with a quantity"
            if not self.by_tools:
                how = 'write {"order_qty": whole number, "note": "..."}'
            raise BadReply(f"your reply holds no order; {how}")
        number = only(numbers)
        quantity = min(max(0, math.trunc(number)), _LARGEST)
        repaired = type(number) is not int or number != quantity
        return ParsedReply(self.codec.read({"do": "order", "quantity": quantity}), int(repaired))

    def _stated(self, given: Mapping[str, Any]) -> float | None:
        """Return the quantity of an object, which may be a call without a marker."""
        number = _number_in(given)
        if number is not None:
            return number
        tagged = as_tagged(given, self.known)
        return _number_in(tagged) if tagged["do"] in self.known else None

    def fallback(self, observation: Any) -> Any:
        """Return the published fallback order: demand plus half the gap to the target."""
        gap = observation.target_inventory - observation.inventory + observation.backlog
        wanted = math.trunc(observation.incoming_order) + max(0, math.trunc(0.5 * gap))
        return self.codec.read({"do": "order", "quantity": min(max(0, wanted), _LARGEST)})


def _number_in(order: Mapping[str, Any]) -> float | None:
    """Return the first number under one of the keys, of the object or of one wrapped in it."""
    wrapped = [value for key in _WRAPS if isinstance(value := order.get(key), Mapping)]
    found = (_number(each.get(key)) for each in (order, *wrapped) for key in _KEYS)
    return next((number for number in found if number is not None), None)


def _number(value: Any) -> float | None:
    """Return a finite number, or the first whole number in a text; otherwise None."""
    if isinstance(value, str):
        match = _INTEGER.search(value[:_SEARCHED])
        return None if match is None else float(match[0][:_DIGITS])
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return value
    return None


CONVERSATION = ConversationKind(LLMOptions, WeeklyConversation)
