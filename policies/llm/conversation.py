"""A conversation at one seat: from an observation to a request, and from a reply to an action.

`Conversation` is that of any world, described by the docstrings of its own classes. A world with a
prompt of its own has a `ConversationKind`. The user names it as `module:NAME`, or it is
`policies.llm.worlds.NAME:CONVERSATION` for the model of the folder `models/NAME` and for a user's
own `NAME:Class`; a folder of that path beside the user's files is searched too.
"""

import importlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain
from types import ModuleType, UnionType
from typing import Any, Generic, TypeVar

import msgspec
from attrs import frozen

from desim import Episode, Model, Role, Seat, catalog
from desim.core.model import rules_of, world_rules
from desim.errors import UsageError
from desim.joined_packages import module_named
from desim.schema import TAG, codec, plain_observation, to_plain
from desim.schema.described import Schema, action_schemas, field_lines, menu
from desim.show.column import columns_within
from policies.llm.messages import (
    answer_schema,
    as_json,
    as_tools,
    assistant_message,
    system,
    tool_results,
    user,
)
from policies.llm.methods.items import Setting
from policies.llm.options import LLMOptions
from policies.llm.replies import action_of, name_of
from policies.llm.wires.wire import Message, ModelReply, Request

_WORLDS = "policies.llm.worlds"

#: Rounds kept by default.
_HISTORY = 20

_NOTED = "Noted. The next message shows what came of it."

Options = TypeVar("Options", bound=LLMOptions)


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


@lru_cache(maxsize=256)
def _fields(observation: type | UnionType) -> str:
    """Return a line for each field of an observation, with the units that its text leaves out."""
    columns = columns_within(observation)

    def note(cls: str, name: str, text: str) -> str:
        column = columns.get(cls, {}).get(name)
        return column.note(text) if column else ""

    return field_lines(observation, note)


class Conversation:
    """A conversation of rounds: an observation as JSON, one action for an answer.

    For each decision `action_without_call` is called; where it returns None, `question` is sent,
    and the model's reply passed to `read`; once the retries are used up `fallback` is called. A
    world may override these, or `offered`, `rules`, `situation`, `answer_format`, `schema` and
    `parsed`, of which they are made. The rest is for methods.

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
        memory: What is carried from episode to episode, as plain JSON values.
        setting: Facts of the world for methods.
        request_fields: Fields of every request where the protocol fixes them, as the endpoint names
            them. They go before the temperature of a method, and the user's own before them.
        grade: Returns the outcome of a reply to an item, where the world asks independent
            questions; only the answer if the world does not show outcomes.
    """

    setting: Setting = Setting()
    request_fields: Mapping[str, Any] = {}
    grade: Callable[[Any, ModelReply], Any] | None = None

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

    # -- one decision ------------------------------------------------------------------------------

    def take_role(self, role: Role) -> None:
        """Take the role of the next question, with the actions that it takes."""
        self.role, self.codec = role, codec(role.action)
        self.known = self.offered()
        self.actions = action_schemas(self.codec, self.known)

    def action_without_call(self, _: Any) -> Any:
        """Return an action that needs no call, or None where the model decides.

        Raises:
            NoCallNeeded: The world's protocol takes the default action here.
        """
        return None

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
        """Parse a reply and keep the round.

        Raises:
            BadReply: The reply holds no valid action; it is not kept.
        """
        parsed = self.parsed(reply, observation)
        results = tool_results(reply, [_NOTED] * len(reply.calls))
        self._rounds.append([self._question, assistant_message(reply), *results])
        return parsed

    def fallback(self, observation: Any) -> Any:
        """Return the action taken when no reply was valid, and keep the round."""
        action = self.role.default_for(observation)
        plain = {TAG: name_of(action), **to_plain(action)}
        written = f"{plain.pop(TAG)} {as_json(plain)}" if self.by_tools else as_json(plain)
        done = f"(There was no answer, so this was done: {written})"
        self._rounds.append([self._question, {"role": "assistant", "content": done}])
        return action

    def after(self, _: Episode) -> None:
        """Learn from an ended episode, and clear its messages."""
        self._rounds.clear()

    # -- parts of a question and of its answer -----------------------------------------------------

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

    # -- for methods -------------------------------------------------------------------------------

    def stream(self) -> Sequence[Request]:
        """Return the questions of an episode if they are known; it may reorder them."""
        return ()

    def training(self) -> Sequence[Request]:
        """Return further questions, from which a method may learn before it is tested."""
        return ()

    def revealed(self, _: Episode) -> str:
        """Return what was hidden in an ended episode, such as the text of a case."""
        return ""

    def name_of(self, _: Episode) -> str:
        """Return the subject of an ended episode, such as a case; empty for the role."""
        return ""


@frozen
class ConversationKind(Generic[Options]):
    """A world's class of options, and what begins its conversations (`CONVERSATION`).

    Attributes:
        options: The frozen class of this world's options.
        begin: Returns the conversation at a seat, for options of that class.
        answers: Returns by question of a world its right answer, for rules learned afterwards.
    """

    options: type[Options]
    begin: Callable[[Seat, Options], Conversation]
    answers: Callable[[Any], Mapping[str, str]] = lambda _: {}


#: The conversation of a world without a file of its own.
CONVERSATION = ConversationKind(LLMOptions, Conversation)


def conversation_kind(model: type, named: str = "") -> ConversationKind[Any]:
    """Return the conversation kind of a model's world, or the user's own, `module:NAME`.

    Raises:
        UsageError: The module is missing, or exports no `ConversationKind` of that name.
    """
    module = conversation_module(model, named)
    name = named.partition(":")[2] if named else "CONVERSATION"
    kind = vars(module).get(name)
    if not isinstance(kind, ConversationKind):
        raise UsageError(f"{module.__name__} exports no {name or 'NAME'}; it is a ConversationKind")
    return kind


def conversation_module(model: type, named: str = "") -> ModuleType:
    """Return the module that defines the conversation with a model's world, or the user's own.

    Raises:
        UsageError: The user's own is missing.
    """
    if not named:
        path = f"{_WORLDS}.{catalog.model_name(model).split(':')[0].rsplit('.', 1)[-1]}"
        return importlib.import_module(path if find_spec(path) else __name__)
    path = named.partition(":")[0]
    try:
        return importlib.import_module(module_named(path))
    except (ModuleNotFoundError, ValueError) as fault:
        if not path.startswith(getattr(fault, "name", "") or ""):
            raise
        raise UsageError(
            f"conversation={named} was given, and there is no module {path!r}; write module:NAME"
        ) from None


def world_texts(model: Model[Any]) -> bytes:
    """Return the rules of a world and the schemas of its actions, for all roles, as in prompts.

    They include docstrings of the model's classes, which its code digest leaves out.
    """
    schemas = {name: action_schemas(codec(role.action)) for name, role in model.roles.items()}
    return msgspec.json.encode([[rules_of(model, name) for name in model.roles], schemas])
