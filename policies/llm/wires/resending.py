"""A model call that sends its request again until a reply arrives or a deadline passes."""

import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from desim.errors import PolicyFailed, UsageError
from desim.schema.validators import not_negative
from policies.llm.wires.gate import Gate
from policies.llm.wires.suspension import pause
from policies.llm.wires.wire import Message, ModelReply, NoReply, Send

#: Seconds that a call may take at most: one day.
MAX_TIMEOUT = 86_400.0

#: Seconds before the first request is sent again; doubled each time, up to the second number.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0


def _possible_timeout(_: object, __: object, value: float) -> None:
    if not 0 < value <= MAX_TIMEOUT:
        raise UsageError(f"timeout={value:g} was given; it is above 0 and at most {MAX_TIMEOUT:g}")


@frozen
class Resending:
    """A `complete` that sends a request again while it brings no reply.

    Attributes:
        send: Sends one request.
        name: The model and its server, for error texts.
        timeout: Seconds for the whole call: all its requests and the waits between them.
        resends: The largest number of requests beyond the first.
        gate: Lets the calls of one server through; shared by all of this process.
        at_once: The largest number of calls of the server under way; None for no limit. The
            timeout of a call does not include the time before the call begins.
    """

    send: Send
    name: str
    timeout: float = field(default=300.0, validator=_possible_timeout)
    resends: int = field(default=3, validator=not_negative)
    gate: Gate = field(factory=Gate, repr=False)
    at_once: int | None = None

    def __call__(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        *,
        temperature: float | None = None,
    ) -> ModelReply:
        """Return the first reply.

        Raises:
            PolicyFailed: No request brought one in time.
        """
        with self.gate.place(self.at_once):
            return self._replied(messages, tools, schema, temperature=temperature)

    def _replied(self, *request: Any, **options: Any) -> ModelReply:
        """Send requests until one brings a reply."""
        deadline = time.monotonic() + self.timeout
        for sent in range(1, self.resends + 2):
            self._pass_gate(deadline)
            left = deadline - time.monotonic()
            try:
                return self.send(*request, **options, timeout=left)
            except NoReply as fault:
                failed = fault
            seconds = _pause(sent, failed.wait)
            if failed.busy:
                self.gate.close(seconds)
            left = deadline - time.monotonic()
            if failed.final or sent > self.resends or seconds >= left:
                break
            pause(seconds)
        raise PolicyFailed(self._sentence(failed, sent, left))

    def _pass_gate(self, deadline: float) -> None:
        """Wait while the server has too much to do.

        Raises:
            PolicyFailed: The server asks to wait beyond the deadline.
        """
        if not self.gate.passed(deadline):
            wait = self.gate.seconds_closed
            raise PolicyFailed(
                f"{self.name} has too much to do and asks to wait {wait:g} s, "
                "which is beyond the timeout"
            )

    def _sentence(self, failed: NoReply, sent: int, left: float) -> str:
        """Return why the call has failed."""
        if left <= 0:
            return f"{self.name} did not answer within {self.timeout:g} s"
        times = f", {sent} times" if sent > 1 else ""
        wait = failed.wait or 0
        later = f"; it asks to wait {wait:g} s, which is beyond the timeout" if wait >= left else ""
        return f"{self.name} {failed}{times}{later}"


def _pause(sent: int, wait: float | None) -> float:
    """Return the seconds to wait before the next request.

    As long as the server asks; otherwise longer each time, and never equally long in two processes.
    """
    if wait is not None:
        return wait
    longest = min(_FIRST_PAUSE * 2.0 ** min(sent - 1, 10), _LONGEST_PAUSE)
    return longest * (1 - random.random() / 4)  # noqa: S311 (jitter)
