"""Any world: told in the words of its own classes, one action a reply."""

import inspect
from typing import Any

from desim import Episode, Seat
from desim.schema import codec, to_plain
from policies.llm import parse, tools
from policies.llm.parse import BadReply
from policies.llm.talk import (
    Question,
    Rounds,
    Taken,
    Wishes,
    results,
    said,
    shown,
    system,
    user,
)
from policies.llm.wire import Message, Reply

__all__ = ["Generic"]

#: Rounds kept where the user wishes nothing.
_HISTORY = 20

_NOTED = "Noted. The next message shows what came of it."


class Generic:
    """A conversation of rounds: an observation as JSON, one action for an answer.

    A world of its own overrides what it says otherwise: `rules`, `told`, `form`, `answer`.

    Args:
        seat: Where the model sits.
        wishes: The user's.
        mode: How it answers if the user wishes nothing.
        history: Rounds kept if the user wishes nothing.
    """

    def __init__(
        self, seat: Seat, wishes: Wishes, mode: str = "tools", history: int = _HISTORY
    ) -> None:
        self.seat = seat
        self.wishes = wishes
        self.mode = wishes.mode or mode
        self.codec = codec(seat.does.does)
        self.known = self.offered()
        self.actions = tools.actions(self.codec, self.known)
        self.memory: list[Any] = []
        self._keep = history if wishes.history is None else wishes.history
        self._rounds = Rounds(self._keep)
        self._asked: Message = user("")

    # -- what a world may say otherwise ------------------------------------------------------------

    def offered(self) -> list[str]:
        """Return the names of the actions that are offered."""
        return list(self.codec.classes)

    def rules(self, _: Any) -> str:
        """Tell who the model is, in which world, and what it sees there."""
        model, role = self.seat.model, self.seat.does
        return (
            f"{_first(type(model))}\n\n"
            f"You play {self.seat.role!r} in a simulation of this and decide whenever you are "
            "asked. Every question comes with what you see now, as JSON:\n"
            f"{tools.fields_of(role.sees)}"
        )

    def told(self, seen: Any) -> str:
        """Tell what is seen now."""
        return shown(to_plain(seen))

    def form(self) -> str:
        """Say how to answer."""
        if self.mode == "tools":
            return "Answer by calling exactly one tool; it is what you do."
        wrapped = ' wrapped as {"action": ...}' if self.mode == "schema" and self.many else ""
        return (
            "Answer with exactly one of these as a JSON object, with its arguments beside"
            f" it{wrapped}; reasons may stand before it:\n{tools.menu(self.actions)}"
        )

    def schema(self) -> tools.Schema:
        """Return the schema of the answer."""
        return tools.wrapped(self.actions)

    def answer(self, reply: Reply, _: Any) -> Taken:
        """Understand a reply.

        Raises:
            BadReply: It is no answer.
        """
        if not reply.calls:
            return Taken(parse.action_in_text(self.codec, reply, self.known))
        if len(reply.calls) > 1:
            names = ", ".join(call.name for call in reply.calls)
            raise BadReply(f"you called {len(reply.calls)} tools ({names:.100}); call one")
        return Taken(parse.action_of_call(self.codec, reply.calls[0], self.known))

    # -- the conversation --------------------------------------------------------------------------

    @property
    def many(self) -> bool:
        """Whether there is more than one action."""
        return len(self.known) > 1

    def due(self, _: Any) -> Any:
        """Return nothing: every decision is the model's."""

    def question(self, seen: Any) -> Question:
        """Return what to ask: the rules, the rounds kept, what is seen now."""
        self._asked = user(self.told(seen))
        rules = system(f"{self.rules(seen)}\n\n{self.form()}")
        messages = [rules, *self._rounds.messages(), self._asked]
        offered = tools.tools(self.actions) if self.mode == "tools" else []
        return Question(messages, offered, self.schema() if self.mode == "schema" else None)

    def read(self, reply: Reply, seen: Any) -> Taken:
        """Understand a reply and keep the round."""
        taken = self.answer(reply, seen)
        self._rounds.add(self._asked, said(reply), *results(reply, [_NOTED] * len(reply.calls)))
        return taken

    def fall_back(self, seen: Any) -> Any:
        """Take the neutral action."""
        action = self.seat.does.rest(seen)
        done = "(There was no answer, so this was done: " + shown(to_plain(action)) + ")"
        self._rounds.add(self._asked, {"role": "assistant", "content": done})
        return action

    def after(self, _: Episode) -> None:
        """Forget the conversation."""
        self._rounds = Rounds(self._keep)


def _first(cls: type) -> str:
    """Return the first paragraph of a class's docstring."""
    return (inspect.getdoc(cls) or cls.__name__).split("\n\n")[0]
