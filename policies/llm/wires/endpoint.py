"""An OpenAI-compatible server that answers a request.

The key comes from the environment, stays in this object and is removed from every text of the
server.
"""

import json
import math
import os
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from attrs import Factory, field, frozen

from desim.errors import UsageError
from policies.llm.wires.completion import Redact, decoded, redactor
from policies.llm.wires.post import Response, post, prepare
from policies.llm.wires.wire import ModelReply, NoReply, Request

#: Sent as the key to a server that needs none: some refuse a request without a key.
_NO_KEY = "none"

#: The server where neither `base_url` nor the environment variable OPENAI_BASE_URL names one.
_OPENAI = "https://api.openai.com/v1"

#: Characters of a server's error text that are repeated in ours, and those searched for them.
_WIDTH, _SEARCHED = 300, 5_000

#: Statuses below 500 after which a request is sent again: timeout, conflict, too many requests.
_AGAIN = (408, 409, 429)

#: Statuses of a server that has too much to do, the second where it says how long.
_TOO_MANY, _UNAVAILABLE = 429, 503

#: The first digit of the statuses that say the request is at fault.
_CLIENT_ERROR = 4


@frozen(kw_only=True)
class Endpoint:
    """A `send` that sends the request to an OpenAI-compatible server.

    Attributes:
        model: The model's name at the server.
        base_url: The server's address; empty for OPENAI_BASE_URL or OpenAI's own.
        key: Sent as the bearer token; never shown.
        options: Further fields of every request: temperature, seed, ...
    """

    model: str
    base_url: str = ""
    key: str = field(default=_NO_KEY, repr=False)
    options: Mapping[str, Any] = field(factory=dict)
    _redacted: Redact = field(
        default=Factory(lambda self: redactor(self.key), takes_self=True),
        init=False,
        repr=False,
        eq=False,
    )

    @classmethod
    def of(cls, model: str, base_url: str, key_env: str, **rest: Any) -> "Endpoint":
        """Return an endpoint with the key from an environment variable.

        Raises:
            UsageError: `aiohttp` or `greenlet` is not installed, the address is invalid or holds a
                secret, or a key is needed and not set, or cannot be sent.
        """
        try:
            prepare()
        except ImportError as fault:
            raise UsageError(
                f"policy llm needs the package {fault.name}; pip install 'desim[llm]'"
            ) from None
        _check_address(base_url)
        key = os.environ.get(key_env, "")
        if not key and not (base_url or os.environ.get("OPENAI_BASE_URL")):
            raise UsageError(
                f"{key_env} is not set and no base_url was given; "
                "set the variable to a key, or name a server that needs none"
            )
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"{key_env} holds a character that no key has, such as a line break")
        return cls(model=model, base_url=base_url, key=key or _NO_KEY, **rest)

    @property
    def name(self) -> str:
        """The model and its server, for error texts."""
        return f"model {self.model!r}" + (f" at {self.base_url}" if self.base_url else "")

    @property
    def server(self) -> str:
        """The server's address."""
        return (self.base_url or os.environ.get("OPENAI_BASE_URL") or _OPENAI).rstrip("/")

    def __call__(self, request: Request, timeout: float = 300.0) -> ModelReply:
        """Send one request and return the reply.

        Raises:
            NoReply: The response is not a completion, or did not arrive in time.
        """
        body = {"model": self.model, **_fields(request), **self.options}
        started = time.monotonic()
        response = self.posted("chat/completions", json.dumps(body).encode(), timeout)
        seconds = round(time.monotonic() - started, 6)
        completion = decoded(response.content)
        if completion is None:
            raise NoReply(f"sent no chat completion: {self._printable(response.content)!r}")
        return completion.reply(request.messages, seconds, self._redacted)

    def posted(self, path: str, body: bytes, timeout: float) -> Response:
        """Send a request to a path below the address and return the response if it is a success."""
        headers = {"Authorization": f"Bearer {self.key}", "User-Agent": "desim"}
        try:
            response = post(f"{self.server}/{path}", body, headers, timeout)
        except NoReply as fault:
            why = self._printable(str(fault).encode())
            raise NoReply(why, final=fault.final, wait=fault.wait) from None
        self._check_status(response)
        return response

    def _check_status(self, response: Response) -> None:
        """Raise NoReply for an error or a redirect."""
        match response.status // 100:
            case 2:
                return
            case 3:
                host = self._printable(_host(response.headers.get("location", "")).encode())
                why = f"a redirect to {host}, which is not followed"
                final = True
            case group:
                why = self._printable(response.content)
                final = group == _CLIENT_ERROR and response.status not in _AGAIN
        why = f"answered {response.status}: {why}".rstrip(": ")
        wait = _wait(response.headers)
        busy = response.status == _TOO_MANY or (
            response.status == _UNAVAILABLE and wait is not None
        )
        raise NoReply(why, final=final, wait=wait, busy=busy)

    def _printable(self, content: bytes) -> str:
        """Return the message of a server's error, or the beginning of its text, in one line."""
        text = self._redacted(_message(content) or content.decode("utf-8", "replace"))
        printable = "".join(c if c.isprintable() else " " for c in text[:_SEARCHED])
        return " ".join(printable.split())[:_WIDTH]


def _message(content: bytes) -> str:
    """Return the text of an error in OpenAI's form; empty if it has another form."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    error = body.get("error") if isinstance(body, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else error
    return message if isinstance(message, str) else ""


def _host(location: str) -> str:
    """Return the host that a redirect names."""
    try:
        return urlsplit(location).netloc.rpartition("@")[2] or "another path"
    except ValueError:
        return "an invalid address"


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a server's Retry-After header; None without valid ones."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        seconds = _seconds_until(text)
    return seconds if 0 <= seconds < math.inf else None


def _seconds_until(date: str) -> float:
    """Return the seconds until a date as HTTP writes it; NaN if the text is not such a date."""
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, OverflowError):
        return math.nan


def _fields(request: Request) -> dict[str, Any]:
    """Return the fields of a request as OpenAI's API names them."""
    fields: dict[str, Any] = {"messages": list(request.messages)}
    if request.tools:
        fields |= {"tools": list(request.tools), "tool_choice": "auto"}
    if request.schema is not None:
        named = {"name": "answer", "strict": True, "schema": request.schema}
        fields["response_format"] = {"type": "json_schema", "json_schema": named}
    if request.temperature is not None:
        fields["temperature"] = request.temperature
    return fields


def _check_address(base_url: str) -> None:
    """Refuse a text that is not a valid address, or holds a secret, which the record would show."""
    if not base_url:
        return
    try:
        parts = urlsplit(base_url)
        _ = parts.port  # read here because it is checked only then
    except ValueError:
        raise UsageError("base_url is not an address; write http://HOST:PORT/v1") from None
    if "@" in base_url or parts.query or parts.fragment:
        raise UsageError(
            "base_url holds a user, a password or a query, which would be in the record; "
            "give scheme, host, port and path, and the key in the environment (key_env)"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"base_url={base_url} was given; write http://HOST:PORT/v1")
