"""Any world: described by the docstrings of its own classes, one action a reply."""

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from types import UnionType
from typing import Any

from desim import Episode, Role, Seat
from desim.core.model import world_rules
from desim.schema import TAG, codec, plain_observation, to_plain
from desim.schema.described import Schema, action_schemas, field_lines, menu
from desim.show.column import columns_within
from policies.llm.conversation import Conversation, ConversationKind, ParsedReply
from policies.llm.messages import (
    answer_schema,
    as_json,
    as_tools,
    assistant_message,
    system,
    tool_results,
    user,
)
from policies.llm.options import LLMOptions
from policies.llm.replies import action_of, name_of
from policies.llm.wires.wire import Message, ModelReply, Request

#: Rounds kept by default.
_HISTORY = 20

_NOTED = "Noted. The next message shows what came of it."


@lru_cache(maxsize=256)
def _fields(observation: type | UnionType) -> str:
    """Return a line for each field of an observation, with the units that its text leaves out."""
    columns = columns_within(observation)

    def note(cls: str, name: str, text: str) -> str:
        column = columns.get(cls, {}).get(name)
        return column.note(text) if column else ""

    return field_lines(observation, note)


class GenericConversation(Conversation):
    """A conversation of rounds: an observation as JSON, one action for an answer.

    A world's file may derive from it and override `offered`, `rules`, `situation`,
    `answer_format`, `schema` and `parsed`.

    Args:
        seat: The model, the role and the seed.
        options: The user's options.
        mode: The mode where the options name none.
        history: Rounds kept where the options name no number.

    Attributes:
        role: The role, with the actions that the present question takes.
        codec: Reads and writes these actions.
        known: The names of the actions that the model is offered.
        actions: Their schemas.
        by_tools: Whether the model answers by calls of tools.
        world_rules: The rules that the world states for the role.
        memory: What is carried from episode to episode.
    """

    def __init__(
        self, seat: Seat, options: LLMOptions, mode: str = "tools", history: int = _HISTORY
    ) -> None:
        self.seat = seat
        self.mode = options.mode or mode
        self.by_tools = self.mode == "tools"
        self.take_role(seat.spec)
        self.world_rules = world_rules(seat.model, seat.role)
        self.memory: list[Any] = []
        self.keep = history if options.history is None else options.history
        self._rounds: deque[list[Message]] = deque(maxlen=self.keep)
        self._question: Message = user("")

    def take_role(self, role: Role) -> None:
        """Take the role of the next question, with the actions that it takes."""
        self.role, self.codec = role, codec(role.action)
        self.known = self.offered()
        self.actions = action_schemas(self.codec, self.known)

    # -- what a world may override -----------------------------------------------------------------

    def offered(self) -> list[str]:
        """Return the names of the actions that the model is offered."""
        return list(self.codec.classes)

    def rules(self, _: Any) -> str:
        """Return the system prompt before `answer_format`: world, role and observed fields."""
        return (
            f"{self.world_rules}\n\n"
            f"You play {self.seat.role!r} in a simulation of this and decide whenever you are "
            "asked. Every question comes with what you see now, as JSON:\n"
            f"{_fields(self.seat.spec.observation)}"
        )

    def situation(self, observation: Any) -> str:
        """Return the user message: the observation."""
        return as_json(plain_observation(observation, self.seat.spec.observation))

    def answer_format(self) -> str:
        """Return the last part of the system prompt: how to answer."""
        if self.by_tools:
            return "Answer by calling exactly one tool; it is what you do."
        many = len(self.known) > 1
        wrapped = ' wrapped as {"action": ...}' if self.mode == "schema" and many else ""
        return (
            "Answer with exactly one of these as a JSON object, with its arguments beside"
            f" it{wrapped}; reasons may stand before it:\n{menu(self.actions)}"
        )

    def schema(self) -> Schema:
        """Return the JSON Schema of the answer."""
        return answer_schema(self.actions)

    def parsed(self, reply: ModelReply, _: Any) -> ParsedReply:
        """Return the action of a reply."""
        return ParsedReply(action_of(self.codec, reply, self.known, tools=self.by_tools))

    # -- the conversation --------------------------------------------------------------------------

    def question(self, observation: Any) -> Request:
        """Return the question: the rules, the rounds kept, the observation."""
        rules = f"{self.rules(observation)}\n\n{self.answer_format()}"
        self._question = user(self.situation(observation))
        return self.request([system(rules), *chain(*self._rounds), self._question])

    def request(self, messages: Sequence[Message]) -> Request:
        """Return the request for an answer in the conversation's mode."""
        tools = as_tools(self.actions) if self.by_tools else ()
        return Request(messages, tools, self.schema() if self.mode == "schema" else None)

    def read(self, reply: ModelReply, observation: Any) -> ParsedReply:
        """Parse a reply and keep the round."""
        parsed = self.parsed(reply, observation)
        results = tool_results(reply, [_NOTED] * len(reply.calls))
        self._rounds.append([self._question, assistant_message(reply), *results])
        return parsed

    def fallback(self, observation: Any) -> Any:
        """Return the default action and keep the round."""
        action = self.role.default_for(observation)
        done = f"(There was no answer, so this was done: {self.written(action)})"
        self._rounds.append([self._question, {"role": "assistant", "content": done}])
        return action

    def written(self, action: Any) -> str:
        """Return an action in the form in which the prompt requests it."""
        plain = {TAG: name_of(action), **to_plain(action)}
        return f"{plain.pop(TAG)} {as_json(plain)}" if self.by_tools else as_json(plain)

    def after(self, _: Episode) -> None:
        """Clear the conversation."""
        self._rounds.clear()


#: The conversation of a world without a file of its own.
CONVERSATION = ConversationKind(LLMOptions, GenericConversation)
