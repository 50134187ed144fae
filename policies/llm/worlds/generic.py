"""Any world: described by the docstrings of its own classes, one action a reply."""

from typing import Any

from desim import Episode, Seat
from desim.core.model_protocols import world_rules
from desim.schema import codec, plain_observation, to_plain
from desim.schema.described import Schema, action_schemas, field_lines, menu
from policies.llm.chat.action_tools import answer_schema, as_tools
from policies.llm.chat.conversation import ConversationKind, ParsedReply, Question
from policies.llm.chat.messages import (
    Rounds,
    as_json,
    assistant_message,
    system,
    tool_results,
    user,
)
from policies.llm.chat.options import LLMOptions
from policies.llm.chat.parse import action_of
from policies.llm.wires.wire import Message, ModelReply

#: Rounds kept by default.
_HISTORY = 20

_NOTED = "Noted. The next message shows what came of it."


class GenericConversation:
    """A conversation of rounds: an observation as JSON, one action for an answer.

    A world's file may derive from it and override `offered`, `rules`, `situation`,
    `answer_format`, `schema` and `parsed`.

    Args:
        seat: The model, the role and the seed.
        options: The user's options.
        mode: The mode where the options name none.
        history: Rounds kept where the options name no number.
    """

    def __init__(
        self, seat: Seat, options: LLMOptions, mode: str = "tools", history: int = _HISTORY
    ) -> None:
        self.seat = seat
        self.mode = options.mode or mode
        self.codec = codec(seat.spec.action)
        self.known = self.offered()
        self.actions = action_schemas(self.codec, self.known)
        self.memory: list[Any] = []
        self._keep = history if options.history is None else options.history
        self._rounds = Rounds(self._keep)
        self._question: Message = user("")

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
            f"{field_lines(self.seat.spec.observation)}"
        )

    @property
    def world_rules(self) -> str:
        """The rules that the world states for the role."""
        return world_rules(self.seat.model, self.seat.role)

    def situation(self, observation: Any) -> str:
        """Return the user message: the observation."""
        return as_json(plain_observation(observation, self.seat.spec.observation))

    def answer_format(self) -> str:
        """Return the last part of the system prompt: how to answer."""
        if self.mode == "tools":
            return "Answer by calling exactly one tool; it is what you do."
        wrapped = ' wrapped as {"action": ...}' if self.mode == "schema" and self.many else ""
        return (
            "Answer with exactly one of these as a JSON object, with its arguments beside"
            f" it{wrapped}; reasons may stand before it:\n{menu(self.actions)}"
        )

    def schema(self) -> Schema:
        """Return the JSON Schema of the answer."""
        return answer_schema(self.actions)

    def parsed(self, reply: ModelReply, _: Any) -> ParsedReply:
        """Return the action of a reply.

        Raises:
            BadReply: The reply holds no valid action, or different ones.
        """
        return ParsedReply(action_of(self.codec, reply, self.known, tools=self.by_tools))

    # -- the conversation --------------------------------------------------------------------------

    @property
    def by_tools(self) -> bool:
        """Whether the model answers by calls of tools."""
        return self.mode == "tools"

    @property
    def many(self) -> bool:
        """Whether more than one action is offered."""
        return len(self.known) > 1

    def action_without_call(self, _: Any) -> Any:
        """Return None: every decision is the model's."""

    def question(self, observation: Any) -> Question:
        """Return the question: the rules, the rounds kept, the observation."""
        self._question = user(self.situation(observation))
        rules = system(f"{self.rules(observation)}\n\n{self.answer_format()}")
        messages = [rules, *self._rounds.messages(), self._question]
        offered = as_tools(self.actions) if self.mode == "tools" else []
        return Question(messages, offered, self.schema() if self.mode == "schema" else None)

    def read(self, reply: ModelReply, observation: Any) -> ParsedReply:
        """Parse a reply and keep the round."""
        parsed = self.parsed(reply, observation)
        results = tool_results(reply, [_NOTED] * len(reply.calls))
        self._rounds.add(self._question, assistant_message(reply), *results)
        return parsed

    def fallback(self, observation: Any) -> Any:
        """Return the default action and keep the round."""
        action = self.seat.spec.default_for(observation)
        done = "(There was no answer, so this was done: " + as_json(to_plain(action)) + ")"
        self._rounds.add(self._question, {"role": "assistant", "content": done})
        return action

    def after(self, _: Episode) -> None:
        """Clear the conversation."""
        self._rounds = Rounds(self._keep)


#: The conversation of a world without a file of its own.
CONVERSATION = ConversationKind(LLMOptions, GenericConversation)
