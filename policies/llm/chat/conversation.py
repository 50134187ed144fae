"""The interface between the policy and a world's file: one conversation at one seat."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from attrs import frozen

from desim import Episode, Seat
from policies.llm.chat.options import LLMOptions
from policies.llm.wires.wire import Message, ModelReply

Options = TypeVar("Options", bound=LLMOptions)


@frozen
class Question:
    """One question to the model: the three arguments of `Complete`."""

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    schema: Mapping[str, Any] | None = None


@frozen
class ParsedReply:
    """The action that a reply means.

    Attributes:
        action: An action of the role.
        repairs: Number of corrections made to the reply, such as a value moved into its range.
        default: Why the action is not the model's, where the world's protocol takes a default for a
            reply without a decision instead of asking again; empty for a decision of the model.
    """

    action: Any
    repairs: int = 0
    default: str = ""


class NoCallNeeded(Exception):
    """The default action is taken without a call of the model; the argument is the reason."""


class Conversation(Protocol):
    """A conversation at one seat, over one episode or several.

    For each decision the policy calls `action_without_call`; where that returns None, it calls
    `question`, sends it, and passes the model's reply to `read`, or calls `fallback` once
    the retries are used up.

    Attributes:
        memory: What is carried from episode to episode, as plain JSON values.
    """

    memory: list[Any]

    def action_without_call(self, observation: Any, /) -> Any:
        """Return an action that needs no call, or None where the model decides.

        Raises:
            NoCallNeeded: The world's protocol takes the default action here.
        """
        ...

    def question(self, observation: Any, /) -> Question:
        """Return the question for this decision."""
        ...

    def read(self, reply: ModelReply, observation: Any, /) -> ParsedReply:
        """Parse a reply and add it to the conversation.

        Raises:
            BadReply: The reply holds no valid action; it is not added.
        """
        ...

    def fallback(self, observation: Any, /) -> Any:
        """Return the action taken when no reply was valid, and add it to the conversation."""
        ...

    def after(self, episode: Episode, /) -> None:
        """Learn from an ended episode, and clear its messages."""
        ...


@runtime_checkable
class HasRequestFields(Protocol):
    """A conversation whose protocol fixes how its requests are sent.

    Attributes:
        request_fields: Fields of every request, as the endpoint names them: `temperature`,
            `max_completion_tokens`, `response_format`. They go before the temperature that a method
            prefers; what the user gives goes before them.
    """

    request_fields: Mapping[str, Any]


@frozen
class ConversationKind(Generic[Options]):
    """A world's options and the function that begins its conversations (`CONVERSATION`).

    Attributes:
        options: The frozen class of this world's options.
        begin: Returns the conversation at a seat, for options of that class.
    """

    options: type[Options]
    begin: Callable[[Seat, Options], Conversation]
