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
    "reasoning_effort": 'give another extra_body={"reasoning_effort":...}',
    "temperature": "leave out temperature=; reasoning models take none",
    "seed": "leave out seed=",
    "max_completion_tokens": 'give another reply_tokens=, or extra_body={"max_tokens":N}',
    "response_format": "give another mode=",
    "tools": "give another mode=",
}


def check(response: Response, body: Any, redact: Redact) -> None:
    """Check that a response is a success, and that neither its body nor its choice is an error.

    Args:
        response: The response.
        body: Its decoded body.
        redact: Removes the key from a text.

    Raises:
        NoReply: It is an error or a redirect, or holds an error.
    """
    whole, kind = mapping(first(body)), response.status // 100
    if kind != SUCCESS:
        text = response.content.decode("utf-8", "replace")
        if kind == _REDIRECT:
            whole, text = {}, "a redirect, which is not followed"
        raise _no_reply(response.status, whole, text, response.headers, redact)
    for each in (whole, mapping(first(whole.get("choices")))):
        if each.get("error"):
            raise _no_reply(0, each, "", {}, redact)


def _no_reply(
    status: int, body: Mapping[str, Any], content: str, headers: Mapping[str, str], redact: Redact
) -> NoReply:
    """Return the exception for an error: an object, a text, or a list with one of them.

    Its status is 0 where a success holds it, and then may be its code.
    """
    error = first(body.get("error", body))
    given = mapping(error)
    code, kind, at_fault, message = (
        value if isinstance(value := given.get(key), str) else ""
        for key in ("code", "type", "param", "message")
    )
    codes = [each for each in (code, kind) if each]
    status = status or _status_in(given.get("code"))
    text = (error if isinstance(error, str) else message) or content or ", ".join(codes)
    no_money = next(filter(_NO_MONEY.search, codes), "")
    answered = f"answered {status}" if status else "answered with an error"
    if no_money:
        answered = f"has no money left for this key, or a limit of spending is reached ({no_money})"
    advice = next((f"; {_ADVICE[name]}" for name in (*codes, at_fault) if name in _ADVICE), "")
    final = bool(no_money) or _is_final(status, headers.get("x-should-retry", "").lower())
    wait = _wait(headers)
    late = status == _UNAVAILABLE and wait is not None
    busy = not final and (late or status in (_TOO_MANY, _OVERLOADED))
    why = f"{answered}: {printable(text, redact)}".rstrip(": ") + advice
    return NoReply(why, final=final, wait=wait, busy=busy)


def _is_final(status: int, retry: str) -> bool:
    if retry in ("true", "false"):
        return retry == "false"
    kind = status // 100
    return kind == _REDIRECT or (kind == _CLIENT_ERROR and status not in _AGAIN)


def printable(text: str, redact: Redact) -> str:
    """Return the beginning of a server's text in one line, without the key."""
    characters = (c if c.isprintable() else " " for c in redact(text)[:_SEARCHED])
    return " ".join("".join(characters).split())[:_WIDTH]


def _status_in(code: Any) -> int:
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
