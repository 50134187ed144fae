"""A language model in the same process: replies from a function, without a server."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from desim import Model, Seat
from policies.llm.adapter import Llm
from policies.llm.conversation import Conversation, conversation_kind
from policies.llm.wires.budget import CallLimits, Metered
from policies.llm.wires.wire import Call, Message, ModelReply, Request


@define
class Scripted:
    """A `send` that replies by a function of the call's number and keeps what it was sent.

    Attributes:
        script: Returns the reply to the n-th call, from 0.
        sent: The messages of every call.
        temperatures: The temperatures that methods gave.
        tools: The tools of every call.
    """

    script: Callable[[int], ModelReply]
    sent: list[list[Message]] = field(factory=list)
    temperatures: list[float | None] = field(factory=list)
    tools: list[Sequence[Mapping[str, Any]]] = field(factory=list)

    def __call__(self, request: Request, timeout: float = 0.0) -> ModelReply:
        """Return the next reply."""
        self.sent.append(list(request.messages))
        self.temperatures.append(request.temperature)
        self.tools.append(request.tools)
        return self.script(len(self.sent) - 1)


def worded(text: str, **more: Any) -> ModelReply:
    """Return a reply in text."""
    return ModelReply(text, prompt_tokens=10, completion_tokens=5, **more)


def called(*calls: tuple[str, str], text: str = "") -> ModelReply:
    """Return a reply of tool calls: name and arguments as text."""
    listed = tuple(Call(f"id{n}", name, arguments) for n, (name, arguments) in enumerate(calls))
    return ModelReply(text, listed, prompt_tokens=10, completion_tokens=5)


def seat_of(model: Model[Any], role: str = "") -> Seat:
    """Return the seat of a role, by default of the model's first."""
    role = role or next(iter(model.roles))
    return Seat(model, role, model.roles[role], 0)


class ScriptedLlm(Llm):
    """A language model that is given its conversation and its calls, and sits where they are."""

    def __init__(self, conversation: Conversation, metered: Metered, retries: int) -> None:
        super().__init__()
        self.conversation, self.complete, self.metered = conversation, metered, metered
        self.retries = retries

    def seated(self, seat: Seat) -> None:
        """Take the role alone."""
        self.role = seat.spec


def player(
    seat: Seat,
    script: Callable[[int], ModelReply],
    limits: CallLimits | None = None,
    retries: int = 2,
    **options: Any,
) -> tuple[Llm, Scripted]:
    """Return a policy whose model is a function; an empty option stands for its default."""
    model = Scripted(script)
    metered = Metered(model, limits or CallLimits())
    given = {name: value for name, value in options.items() if value != ""}
    llm = ScriptedLlm(conversation_at(seat, **given), metered, retries)
    llm.seated(seat)
    return llm, model


def conversation_at(seat: Seat, **options: Any) -> Conversation:
    """Return the conversation of a seat's world."""
    kind = conversation_kind(type(seat.model))
    return kind.begin(seat, kind.options(**{"model": "scripted", **options}))


def usage_of(episode: Any) -> dict[str, float]:
    """Return the sums of the only policy."""
    [usage] = episode.result.usage.values()
    return dict(usage)
