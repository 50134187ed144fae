"""Limits on a model that plays by tool calls: when it is asked again, and how much it reads."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from desim.adapters.seat.tool_session import ToolSession
from desim.errors import UsageError
from desim.short_repr import short_repr


@frozen
class Limits:
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
        """Return the messages that the model reads.

        Args:
            messages: Rules, the first observation, and the conversation.
            roles: The role of each message's author, as in chat completions.
        """
        replies = [at for at, role in enumerate(roles) if role == "assistant"]
        if self.history is None or len(replies) <= self.history:
            return list(messages)
        return [*messages[:2], *messages[replies[-self.history] :]]


class Nudges:
    """Asks a model again after a reply without an action; takes the default action after too many.

    Args:
        play: The episode.
        limits: Its `nudges` counts.
    """

    def __init__(self, play: ToolSession, limits: Limits) -> None:
        self._play, self._most = play, limits.nudges
        self._idle, self._progress = 0, play.progress

    async def after_reply(self, *, called: bool) -> str:
        """Return the user's message after a reply; empty if the results of its tools are enough.

        Args:
            called: Whether the reply called a tool.

        Raises:
            UsageError: The default action is needed, and the role has none.
        """
        if self._play.done or self._play.progress > self._progress:
            self._idle = 0
        else:
            self._idle += 1
        text = await self._text(called=called)
        self._progress = self._play.progress
        return text

    async def _text(self, *, called: bool) -> str:
        if self._idle > self._most:
            self._idle = 0
            return f"The default action was taken for you. {await self._play.default()}"
        if self._idle == 0 or called:
            return ""
        names = ", ".join(self._play.tools)
        return f"No tool was called, so nothing changed. Call one of: {names}."
