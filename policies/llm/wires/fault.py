"""Errors of servers: their sentences, and whether sending the request again can help.

Source: reference `wires.md`, sections 1 and 3, and the rules of the vendors' clients: the header
`x-should-retry` decides where it is sent.
"""

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from attrs import frozen

from policies.llm.wires.completion import Redact, decoded
from policies.llm.wires.wire import NoReply

#: Characters of a server's error text that are repeated in ours, and those searched for them.
_WIDTH, _SEARCHED = 300, 5_000

#: Statuses below 500 after which a request is sent again: timeout, conflict, too many requests.
_AGAIN = (408, 409, 429)

#: Statuses of a server that has too much to do; the second only where it says how long.
_TOO_MANY, _UNAVAILABLE, _OVERLOADED = 429, 503, 529

#: The first digits of statuses: of success, of a redirect, of a request that is at fault.
SUCCESS, _REDIRECT, _CLIENT_ERROR = 2, 3, 4

#: Statuses of errors.
_ERRORS = range(400, 600)

#: Codes of a server that has too much to do, in a body without such a status.
_BUSY = frozenset(("rate_limit_exceeded", "rate_limit_error", "overloaded_error"))

#: Codes of requests that no server takes a second time, in a body without such a status.
_REFUSED = frozenset(
    """invalid_request_error authentication_error permission_error not_found_error
    request_too_large invalid_prompt content_policy_violation context_length_exceeded
    model_not_found unsupported_parameter unsupported_value""".split()  # noqa: SIM905 (shorter)
)

#: Codes by which servers say that an account has no money left, or that a limit of spending is
#: reached.
_NO_MONEY = frozenset(
    """insufficient_quota credit_balance_exhausted organization_spend_limit_exceeded
    project_spend_limit_exceeded organization_usage_limit_exceeded billing_error
    enforced_spend_limit_reached contract_spend_limit_reached""".split()  # noqa: SIM905 (shorter)
)

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
        body = _first(body)
        error = _first(body.get("error", body)) if isinstance(body, Mapping) else None
        if isinstance(error, str):
            return cls(status, error)
        if not isinstance(error, Mapping):
            return cls(status)
        details = error.get("details")
        inner = details.get("error_code") if isinstance(details, Mapping) else None
        codes = map(_text_or_empty, (inner, error.get("code"), error.get("type")))
        return cls(
            status or _status_in(error.get("code")),
            _text_or_empty(error.get("message")),
            tuple(filter(None, codes)),
            _text_or_empty(error.get("param")),
        )

    def no_reply(self, shown: str, headers: Mapping[str, str]) -> NoReply:
        """Return the exception for this error; *shown* is the server's text, printable."""
        answered = f"answered {self.status}" if self.status else "answered with an error"
        wait, final = _wait(headers), self._is_final()
        no_money = next((code for code in self.codes if code in _NO_MONEY), "")
        if no_money:
            answered = (
                f"has no money left for this key, or a limit of spending is reached ({no_money})"
            )
        named = [*self.codes, self.field if final or no_money else ""]
        advice = next((f"; {_ADVICE[name]}" for name in named if name in _ADVICE), "")
        said = headers.get("x-should-retry", "").lower()
        if said in ("true", "false"):
            final = said == "false"
        final = final or bool(no_money)
        late = self.status == _UNAVAILABLE and wait is not None
        busy = self.status in (_TOO_MANY, _OVERLOADED) or late
        busy |= not self.status and not _BUSY.isdisjoint(self.codes)
        why = f"{answered}: {shown}".rstrip(": ") + advice
        return NoReply(why, final=final, wait=wait, busy=busy and not final)

    def _is_final(self) -> bool:
        """Return whether sending the request again cannot help, as status and codes say."""
        if self.status:
            at_fault = self.status // 100 == _CLIENT_ERROR and self.status not in _AGAIN
            return at_fault or self.status // 100 == _REDIRECT
        return not _REFUSED.isdisjoint(self.codes)


def check_status(status: int, headers: Mapping[str, str], content: bytes, redact: Redact) -> None:
    """Check that a response is a success.

    Raises:
        NoReply: It is an error or a redirect.
    """
    if status // 100 == SUCCESS:
        return
    error = _ServerError.read(status, decoded(content))
    if status // 100 == _REDIRECT:
        host = printable(_host(headers.get("location", "")), redact)
        shown = f"a redirect to {host}, which is not followed"
    else:
        shown = printable(error.message or content.decode("utf-8", "replace"), redact)
    raise error.no_reply(shown, headers)


def check_error(body: Any, redact: Redact) -> None:
    """Check that the decoded body of a success, or its first choice, holds no error.

    Raises:
        NoReply: It holds one under `error`, or is a list of one.
    """
    inner = _first(body)
    choice = _first(inner.get("choices")) if isinstance(inner, Mapping) else None
    for each in (inner, choice):
        if isinstance(each, Mapping) and each.get("error"):
            error = _ServerError.read(0, each)
            shown = printable(error.message or ", ".join(error.codes), redact)
            raise error.no_reply(shown, {})


def printable(text: str, redact: Redact) -> str:
    """Return the beginning of a server's text in one line, without the key."""
    characters = (c if c.isprintable() else " " for c in redact(text)[:_SEARCHED])
    return " ".join("".join(characters).split())[:_WIDTH]


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _status_in(code: Any) -> int:
    """Return the status that a code is, as a number or as its digits; 0 for another code."""
    if isinstance(code, str) and len(code) == len("429") and code.isdecimal():
        code = int(code)
    return code if type(code) is int and code in _ERRORS else 0


def _host(location: str) -> str:
    """Return the host that a redirect names."""
    try:
        return urlsplit(location).netloc.rpartition("@")[2] or "another path"
    except ValueError:
        return "an invalid address"


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
