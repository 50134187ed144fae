"""A model in the same process: replies from a function, without a server."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from desim import Model, Seat
from policies.llm import worlds
from policies.llm.adapter import Llm
from policies.llm.budget import Limits, Metered
from policies.llm.talk import Wishes
from policies.llm.wire import Call, Message, Reply

__all__ = ["Scripted", "called", "player", "seat_of", "usage_of", "worded"]


@define
class Scripted:
    """A `complete` that answers by a function of how often it was asked, and keeps what it heard.

    Attributes:
        script: Number of the call, from 0, to the reply.
        heard: The messages of every call.
        temperatures: What strategies wished for.
        tools: The tools of every call.
    """

    script: Callable[[int], Reply]
    heard: list[list[Message]] = field(factory=list)
    temperatures: list[float | None] = field(factory=list)
    tools: list[Sequence[Mapping[str, Any]]] = field(factory=list)

    def __call__(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        *,
        temperature: float | None = None,
    ) -> Reply:
        """Answer."""
        self.heard.append(list(messages))
        self.temperatures.append(temperature)
        self.tools.append(tools)
        return self.script(len(self.heard) - 1)


def worded(text: str, **more: Any) -> Reply:
    """Reply in text."""
    return Reply(text, prompt_tokens=10, completion_tokens=5, **more)


def called(*calls: tuple[str, str], text: str = "") -> Reply:
    """Reply by tool calls: name and arguments as text."""
    told = tuple(Call(f"id{n}", name, arguments) for n, (name, arguments) in enumerate(calls))
    return Reply(text, told, prompt_tokens=10, completion_tokens=5)


def seat_of(model: Model[Any], role: str = "") -> Seat:
    """Return a seat of a world, the first one if none is named."""
    role = role or next(iter(model.roles))
    return Seat(model, role, model.roles[role], 0)


def player(
    seat: Seat,
    script: Callable[[int], Reply],
    limits: Limits | None = None,
    retries: int = 2,
    **wishes: Any,
) -> tuple[Llm, Scripted]:
    """Seat a policy whose model is a function."""
    model = Scripted(script)
    metered = Metered(model, limits or Limits())
    talk = worlds.talk(seat, Wishes(**wishes))
    return Llm(seat.does, talk, metered, metered, retries), model


def usage_of(episode: Any) -> dict[str, float]:
    """Return the sums of the only player."""
    [usage] = episode.result.usage.values()
    return dict(usage)
