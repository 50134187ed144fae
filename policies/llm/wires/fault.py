"""Errors of servers: their sentences, and whether sending the request again can help.

Source: reference `wires.md`, section 1, and the rules of the vendor's client: the header
`x-should-retry` decides where it is sent.
"""

import math
import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from attrs import frozen

from policies.llm.wires.completion import first, mapping
from policies.llm.wires.post import SUCCESS, Response
from policies.llm.wires.wire import NoReply

#: Removes the key from a text.
Redact = Callable[[str], str]

#: Characters of a server's error text that are repeated in ours, and those searched for them.
_WIDTH, _SEARCHED = 300, 5_000

#: Statuses below 500 after which a request is sent again: timeout, conflict, too many requests.
_AGAIN = (408, 409, 429)

#: Statuses of a server that has too much to do; the second only where it says how long.
_TOO_MANY, _UNAVAILABLE, _OVERLOADED = 429, 503, 529

#: The first digits of statuses: of a redirect, and of a request that is at fault.
_REDIRECT, _CLIENT_ERROR = 3, 4

#: Statuses of errors.
_ERRORS = range(400, 600)

#: Codes by which servers say that an account has no money left, or that a limit of spending is
#: reached, such as `insufficient_quota` and `project_spend_limit_exceeded`.
_NO_MONEY = re.compile("insufficient_quota|credit_balance|spend_limit|usage_limit|billing")

#: Advice by the code of an error, or by the field that a server refuses.
_ADVICE = {
    "context_length_exceeded": "keep fewer rounds with history=",
    "reasoning_effort": "give another effort=",
    "temperature": "leave out temperature=; reasoning models take none",
    "top_p": "leave out top_p=; reasoning models take none",
    "seed": "leave out seed=",
    "max_completion_tokens": 'give another reply_tokens=, or extra_body={"max_tokens":N}',
    "response_format": "give another mode=",
    "tools": "give another mode=",
}


@frozen
class _ServerError:
    """An error that a server reports: its status or 0, its codes, and the field at fault."""

    status: int = 0
    message: str = ""
    codes: tuple[str, ...] = ()
    field: str = ""

    @classmethod
    def read(cls, status: int, body: Any) -> "_ServerError":
        """Return the error of a decoded body: an object, a text, or a list with one of them."""
        body = mapping(first(body))
        error = first(body.get("error", body))
        if isinstance(error, str):
            return cls(status, error)
        error = mapping(error)
        return cls(
            status or _status_in(error.get("code")),
            _text_or_empty(error.get("message")),
            tuple(filter(None, map(_text_or_empty, (error.get("code"), error.get("type"))))),
            _text_or_empty(error.get("param")),
        )

    def no_reply(self, shown: str, headers: Mapping[str, str]) -> NoReply:
        """Return the exception for this error; *shown* is the server's text, printable."""
        no_money = next(filter(_NO_MONEY.search, self.codes), "")
        final = bool(no_money) or self._is_final(headers.get("x-should-retry", "").lower())
        wait = _wait(headers)
        late = self.status == _UNAVAILABLE and wait is not None
        busy = not final and (late or self.status in (_TOO_MANY, _OVERLOADED))
        answered = f"answered {self.status}" if self.status else "answered with an error"
        if no_money:
            answered = (
                f"has no money left for this key, or a limit of spending is reached ({no_money})"
            )
        advised = (name for name in (*self.codes, self.field) if name in _ADVICE)
        advice = next((f"; {_ADVICE[name]}" for name in advised), "")
        why = f"{answered}: {shown}".rstrip(": ") + advice
        return NoReply(why, final=final, wait=wait, busy=busy)

    def _is_final(self, retry: str) -> bool:
        """Return whether sending the request again cannot help, by the header or the status."""
        if retry in ("true", "false"):
            return retry == "false"
        kind = self.status // 100
        return kind == _REDIRECT or (kind == _CLIENT_ERROR and self.status not in _AGAIN)


def check(response: Response, body: Any, redact: Redact) -> None:
    """Check that a response is a success, and that neither its body nor its choice is an error.

    Args:
        response: The response.
        body: Its decoded body.
        redact: Removes the key from a text.

    Raises:
        NoReply: It is an error or a redirect, or holds an error.
    """
    if response.status // 100 != SUCCESS:
        error = _ServerError.read(response.status, body)
        text = error.message or response.content.decode("utf-8", "replace")
        if response.status // 100 == _REDIRECT:
            text = "a redirect, which is not followed"
        raise error.no_reply(printable(text, redact), response.headers)
    whole = mapping(first(body))
    for each in (whole, mapping(first(whole.get("choices")))):
        if each.get("error"):
            error = _ServerError.read(0, each)
            text = error.message or ", ".join(error.codes)
            raise error.no_reply(printable(text, redact), {})


def printable(text: str, redact: Redact) -> str:
    """Return the beginning of a server's text in one line, without the key."""
    characters = (c if c.isprintable() else " " for c in redact(text)[:_SEARCHED])
    return " ".join("".join(characters).split())[:_WIDTH]


def _text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _status_in(code: Any) -> int:
    """Return the status that a code is, as a number or as its digits; 0 for another code."""
    if isinstance(code, str) and re.fullmatch("[45][0-9][0-9]", code):
        return int(code)
    return code if type(code) is int and code in _ERRORS else 0


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait; None without a valid header."""
    text = headers.get("retry-after", "")
    for read, unit in ((headers.get("retry-after-ms", ""), 1_000), (text, 1)):
        try:
            seconds = float(read) / unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < math.inf else None
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
