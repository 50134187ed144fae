"""How a world talks with a model: what each world file offers, and the messages all of them use."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from attrs import field, frozen

from desim import Episode
from policies.llm.parse import BadReply
from policies.llm.wire import Message, Reply

__all__ = [
    "MODES",
    "Question",
    "Rests",
    "Taken",
    "Talk",
    "Wishes",
    "corrected",
    "said",
    "shown",
    "user",
]

#: How a model answers: by tool calls, by JSON under a schema, by JSON somewhere in its text.
MODES = ("tools", "schema", "json")

_NAME = re.compile(r"[^A-Za-z0-9_-]")


@frozen(kw_only=True)
class Wishes:
    """What the user wishes of a conversation; a world reads what concerns it.

    Attributes:
        mode: One of `MODES`; empty for the world's own.
        history: Rounds kept in the conversation; none for the world's own number.
        console: Whether a world with a console offers it as the one tool.
        stale_scratchpad: Whether notes are shown as the world's status has them, which may be old;
            otherwise as last written.
        tool_names: Which of several names of a tool are offered: "paper" or "public".
        feedback: Whether the model is told of the episodes before.
    """

    mode: str = ""
    history: int | None = None
    console: bool = False
    stale_scratchpad: bool = True
    tool_names: str = "paper"
    feedback: bool = True


@frozen
class Question:
    """What is put to the model: the three arguments of the narrow call."""

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    schema: Mapping[str, Any] | None = None


@frozen
class Taken:
    """What a reply was taken for.

    Attributes:
        action: The answer to the world.
        repairs: How often the reply was mended on the way.
    """

    action: Any
    repairs: int = 0


class Rests(Exception):
    """The model is not asked, and the neutral action is taken; the argument says why."""


class Talk(Protocol):
    """A conversation at one seat, over one episode or several.

    Attributes:
        memory: What is carried from episode to episode, plain values.
    """

    memory: list[Any]

    def due(self, seen: Any, /) -> Any:
        """Return an action that needs no call, or None where the model is to be asked.

        Raises:
            Rests: The world's protocol lets the model rest here.
        """
        ...

    def question(self, seen: Any, /) -> Question:
        """Return what to ask."""
        ...

    def read(self, reply: Reply, seen: Any, /) -> Taken:
        """Understand a reply and keep it in the conversation.

        Raises:
            BadReply: It is no answer; nothing is kept.
        """
        ...

    def fall_back(self, seen: Any, /) -> Any:
        """Return what is done where no reply could be read, and keep that in the conversation."""
        ...

    def after(self, episode: Episode, /) -> None:
        """Learn from an episode, and forget its conversation."""
        ...


@frozen
class Rounds:
    """The rounds of a conversation, each the messages from one user message to the next.

    Attributes:
        keep: Rounds kept at most.
    """

    keep: int
    rounds: list[list[Message]] = field(factory=list)

    def add(self, *messages: Message) -> None:
        """Add a round; the oldest goes."""
        self.rounds.append(list(messages))
        del self.rounds[: max(0, len(self.rounds) - self.keep)]

    def messages(self) -> list[Message]:
        """Return the messages kept."""
        return [message for each in self.rounds for message in each]


def user(text: str) -> Message:
    """Return a message of the user's."""
    return {"role": "user", "content": text}


def system(text: str) -> Message:
    """Return a system message."""
    return {"role": "system", "content": text}


def said(reply: Reply) -> Message:
    """Return a reply as a message of the conversation, in a form that every server takes back."""
    if not reply.calls:
        return {"role": "assistant", "content": reply.text or reply.refusal or "(nothing)"}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": _name(call.name), "arguments": _object(call.arguments)},
        }
        for call in reply.calls
    ]
    return {"role": "assistant", "content": reply.text, "tool_calls": calls}


def results(reply: Reply, texts: Sequence[str]) -> list[Message]:
    """Return what the tool calls of a reply were answered; without calls, nothing."""
    return [
        {"role": "tool", "tool_call_id": call.id, "content": text}
        for call, text in zip(reply.calls, texts, strict=True)
    ]


def corrected(reply: Reply, bad: BadReply) -> list[Message]:
    """Return the messages that ask again after a reply that was no answer."""
    why = f"That was not understood: {bad}. Nothing has been done; answer again."
    if reply.calls:
        return [said(reply), *results(reply, [why] * len(reply.calls))]
    return [said(reply), user(why)]


def shown(value: Any) -> str:
    """Write a plain value as JSON for a model."""
    return json.dumps(value, ensure_ascii=False)


def _name(name: str) -> str:
    return _NAME.sub("_", name)[:64] or "unknown"


def _object(arguments: str) -> str:
    """Return arguments as text of a JSON object: some servers parse what they are sent back."""
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return "{}"
    return arguments if isinstance(found, dict) else "{}"
