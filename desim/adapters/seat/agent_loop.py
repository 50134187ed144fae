"""The loop of a model that plays by tool calls: replies, calls, reminders, limits, defaults."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from desim.adapters.seat.tool_session import ToolSession
from desim.errors import UsageError
from desim.short_repr import short_repr


@frozen
class AgentLimits:
    """Limits on asking a model, and on the messages that are sent to it.

    Attributes:
        nudges: The number of successive replies without an action after which the next such reply
            leads to the role's default action.
        max_calls: Replies of one episode, after which all other decisions are the default action;
            None stands for no limit.
        history: Rounds of the conversation that are sent with the rules and the first observation;
            None sends all. A round is a reply and the messages after it up to the next reply.

    Raises:
        UsageError: A limit is not a whole number, or is too small.
    """

    nudges: int = 3
    max_calls: int | None = None
    history: int | None = None

    def __attrs_post_init__(self) -> None:
        for name, least in (("nudges", 0), ("max_calls", 1), ("history", 1)):
            value = getattr(self, name)
            if value is None and name != "nudges":
                continue
            if type(value) is not int or value < least:
                raise UsageError(
                    f"{name}={short_repr(value)} was given; it is a whole number of at least "
                    f"{least}"
                )

    def may_ask(self, replies: int) -> bool:
        """Return whether a model is asked again after so many replies."""
        return self.max_calls is None or replies < self.max_calls

    def sent(self, messages: Sequence[Any], roles: Sequence[str]) -> list[Any]:
        """Return the messages that the model reads."""
        replies = [at for at, role in enumerate(roles) if role == "assistant"]
        if self.history is None or len(replies) <= self.history:
            return list(messages)
        return [*messages[:2], *messages[replies[-self.history] :]]


class AgentLoop(ABC):
    """Plays one episode by the replies of a model, which a subclass obtains and executes.

    Attributes:
        session: The episode.
        limits: The limits on asking the model.
        replies: Replies of the model so far.
    """

    def __init__(self, session: ToolSession, limits: AgentLimits) -> None:
        self.session, self.limits = session, limits
        self.replies = 0
        self._stopped = False
        self._idle, self._progress = 0, session.progress

    async def play(self) -> None:
        """Ask the model until the episode is over or the limit of its replies is reached."""
        while not self.session.done and self.limits.may_ask(self.replies):
            reply = await self.next_reply()
            self.replies += 1
            called = await self.execute(reply)
            if text := await self._reminder(called=called):
                self.remind(text)

    def play_out(self) -> None:
        """Take default actions up to the end of an episode that the model has left."""
        self._stopped = not self.session.done
        self.session.play_out()

    def facts(self) -> dict[str, Any]:
        """Return `ToolSession.facts`, the number of replies, and whether the model left early."""
        stopped = self._stopped or not self.session.done
        return {**self.session.facts(), "stopped": stopped, "replies": self.replies}

    @abstractmethod
    async def next_reply(self) -> Any:
        """Send the conversation to the model, add its reply to it, and return the reply."""

    @abstractmethod
    async def execute(self, reply: Any) -> bool:
        """Execute the calls of a reply, add the results, and return whether there was a call."""

    @abstractmethod
    def remind(self, text: str) -> None:
        """Add a message of the user to the conversation."""

    async def _reminder(self, *, called: bool) -> str:
        """Return the user's message after a reply; empty if the results of its tools are enough.

        After too many successive replies without an action, it takes the default action.
        """
        if self.session.done or self.session.progress > self._progress:
            self._idle = 0
        else:
            self._idle += 1
        text = ""
        if self._idle > self.limits.nudges:
            self._idle = 0
            text = f"The default action was taken for you. {await self.session.default()}"
        elif self._idle and not called:
            names = ", ".join(self.session.tools)
            text = f"No tool was called, so nothing changed. Call one of: {names}."
        self._progress = self.session.progress
        return text
