"""The interface between the policy and a world's file: one conversation at one seat.

A world's `ConversationKind` is named by the user as `module:NAME`, or it is
`policies.llm.worlds.NAME:CONVERSATION` for the model of the folder `models/NAME` and for a user's
own `NAME:Class`; a folder of that path beside the user's files is searched too. Every other model
gets the one of `worlds/generic.py`.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Generic, TypeVar

import msgspec
from attrs import frozen

from desim import Episode, Model, Role, Seat, catalog
from desim.core.model import rules_of
from desim.errors import UsageError
from desim.joined_packages import module_named
from desim.schema import codec
from desim.schema.described import action_schemas
from policies.llm.methods.items import Setting
from policies.llm.options import LLMOptions
from policies.llm.wires.wire import ModelReply, Request

_WORLDS = "policies.llm.worlds"

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


class Conversation:
    """The base of conversations at one seat, over one episode or several.

    For each decision `action_without_call` is called; where it returns None, `question` is sent,
    and the model's reply passed to `read`; once the retries are used up `fallback` is called. The
    rest is for methods and has neutral defaults.

    Attributes:
        memory: What is carried from episode to episode, as plain JSON values.
        setting: Facts of the world for methods.
        request_fields: Fields of every request where the protocol fixes them, as the endpoint names
            them. They go before the temperature of a method, and the user's own before them.
        grade: Returns the outcome of a reply to an item, where the world asks independent
            questions; only the answer if the world does not show outcomes.
    """

    memory: list[Any]
    setting: Setting = Setting()
    request_fields: Mapping[str, Any] = {}
    grade: Callable[[Any, ModelReply], Any] | None = None

    def action_without_call(self, _: Any, /) -> Any:
        """Return an action that needs no call, or None where the model decides.

        Raises:
            NoCallNeeded: The world's protocol takes the default action here.
        """
        return None

    def question(self, observation: Any, /) -> Request:
        """Return the question for this decision."""
        raise NotImplementedError

    def read(self, reply: ModelReply, observation: Any, /) -> ParsedReply:
        """Parse a reply and add it to the conversation.

        Raises:
            BadReply: The reply holds no valid action; it is not added.
        """
        raise NotImplementedError

    def fallback(self, observation: Any, /) -> Any:
        """Return the action taken when no reply was valid, and add it to the conversation."""
        raise NotImplementedError

    def after(self, episode: Episode, /) -> None:
        """Learn from an ended episode, and clear its messages."""
        raise NotImplementedError

    def take_role(self, role: Role, /) -> None:
        """Take the role of the next question, with the actions that it takes."""

    def stream(self) -> Sequence[Request]:
        """Return the questions of an episode if they are known; it may reorder them."""
        return ()

    def training(self) -> Sequence[Request]:
        """Return further questions, from which a method may learn before it is tested."""
        return ()

    def revealed(self, _: Episode, /) -> str:
        """Return what was hidden in an ended episode, such as the text of a case."""
        return ""

    def name_of(self, _: Episode, /) -> str:
        """Return the subject of an ended episode, such as a case; empty for the setting's name."""
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
        return importlib.import_module(path if find_spec(path) else f"{_WORLDS}.generic")
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
