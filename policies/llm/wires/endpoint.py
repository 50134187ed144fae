"""A server of chat completions that answers a request.

The key comes from the environment, stays in this object and is removed from every text of the
server. A request has one deadline for all of it, and a limit of size; no redirect is followed.
"""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Mapping
from functools import cache
from html import unescape
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from attrs import field, frozen

from desim.errors import UsageError
from policies.llm.wires.completion import decoded, reply_in
from policies.llm.wires.fault import SUCCESS, check_error, check_status, printable
from policies.llm.wires.wire import ModelReply, NoReply, Request

#: Sent as the key to a server that needs none: some refuse a request without a key.
_NO_KEY = "none"

#: A shorter key, such as `4`, is not treated as a secret: it may be part of any reply.
SHORTEST_KEY = 8

#: The vendor's own server, and the environment variables with another address and with the key.
_ADDRESS, _ADDRESS_VARIABLE = "https://api.openai.com/v1", "OPENAI_BASE_URL"
_KEY_VARIABLE = "OPENAI_API_KEY"

#: The field of the user's further ones, which are sent beside the others.
_EXTRA = "extra_body"

#: Bytes of a response's body that are read at most.
MAX_BODY = 4 * 1024 * 1024

_LATE = "did not answer in time"


@frozen(kw_only=True)
class Endpoint:
    """A `send` that sends the request to a server.

    Attributes:
        model: The model's name at the server.
        base_url: The server's address; empty for that of the environment, or the vendor's own.
        key: Sent in a header; never shown.
        options: Further fields of every request, as chat completions name them: temperature,
            seed, ...
    """

    model: str
    base_url: str = ""
    key: str = field(default=_NO_KEY, repr=False)
    options: Mapping[str, Any] = field(factory=dict)

    @classmethod
    def of(
        cls, model: str, base_url: str, key_env: str = "", options: Mapping[str, Any] | None = None
    ) -> "Endpoint":
        """Return an endpoint with the key from an environment variable.

        Args:
            model: The model's name at the server.
            base_url: The server's address; empty for that of the environment, or the vendor's own.
            key_env: The variable that holds the key; empty for `OPENAI_API_KEY`.
            options: Further fields of every request.

        Raises:
            UsageError: `httpx` is not installed, the address is invalid or holds a secret, a key is
                needed and not set, or cannot be sent, or an option holds the key.
        """
        key_env = key_env or _KEY_VARIABLE
        try:
            _ssl_context()  # not part of the time of the first request
        except ImportError:
            raise UsageError(
                "policy llm needs the package httpx; pip install 'desim[llm]'"
            ) from None
        _check_address(base_url)
        key = os.environ.get(key_env, "")
        if not key and not (base_url or os.environ.get(_ADDRESS_VARIABLE)):
            raise UsageError(
                f"{key_env} is not set and no base_url was given; "
                "set the variable to a key, or name a server that needs none"
            )
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"{key_env} holds a character that no key has, such as a line break")
        made = cls(model=model, base_url=base_url, key=key or _NO_KEY, options=options or {})
        recorded = json.dumps([model, base_url, made.options])
        if made.redacted(recorded) != recorded:
            raise UsageError(
                f"an option holds the key that is in {key_env}; it would be in the record"
            )
        return made

    @property
    def name(self) -> str:
        """The model and its server, for error texts."""
        return f"model {self.model!r}" + (f" at {self.base_url}" if self.base_url else "")

    @property
    def server(self) -> str:
        """The server's address."""
        return (self.base_url or os.environ.get(_ADDRESS_VARIABLE) or _ADDRESS).rstrip("/")

    def redacted(self, text: str) -> str:
        """Return a text without the key, as it is or as JSON, a URL or HTML escapes it."""
        if len(self.key) >= SHORTEST_KEY:
            for read in (str, _unescaped, unquote, unescape):
                if self.key in (plain := read(text)):
                    text = plain.replace(self.key, "[key]")
        return text

    def __call__(self, request: Request, timeout: float = 300.0) -> ModelReply:
        """Send one request and return the reply.

        Raises:
            NoReply: The response holds no reply, or did not arrive in time.
        """
        fields = self.fields(request)
        body = {name: value for name, value in fields.items() if name != _EXTRA}
        body |= fields.get(_EXTRA, {})
        headers = {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
            "User-Agent": "desim",
        }
        started = time.monotonic()
        try:
            url = f"{self.server}/chat/completions"
            response = post(url, json.dumps(body).encode(), headers, timeout)
        except NoReply as fault:
            why = printable(str(fault), self.redacted)
            raise NoReply(why, final=fault.final, wait=fault.wait) from None
        seconds = round(time.monotonic() - started, 6)
        content = response.content
        check_status(response.status, response.headers, content, self.redacted)
        plain = decoded(content)
        check_error(plain, self.redacted)
        reply = reply_in(content, plain, fields["messages"], seconds, self.redacted)
        if reply is None:
            shown = printable(content.decode("utf-8", "replace"), self.redacted)
            raise NoReply(f"sent no chat completion: {shown!r}")
        return reply

    def fields(self, request: Request) -> dict[str, Any]:
        """Return the fields of a request, as the chat completions API names them.

        Neither the key nor the server's address is among them.
        """
        return {"model": self.model, **request.fields(), **self.options}


def _unescaped(text: str) -> str:
    """Return a text without the escapes of JSON for ASCII characters."""
    # Text within text doubles backslashes; bounded, for a text full of them.
    plain = re.sub(r"\\{1,8}u00([0-9a-fA-F]{2})", lambda code: chr(int(code[1], 16)), text)
    return plain.replace(r"\/", "/")


def _check_address(base_url: str) -> None:
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


# -- one POST --------------------------------------------------------------------------------------


class Response(NamedTuple):
    """A server's response; names of headers are found in any case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@cache
def _ssl_context() -> Any:
    """Return the context of all connections; loading the certificates takes 20 ms."""
    import httpx

    return httpx.create_ssl_context()


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Response:
    """Send a request on a connection of its own; return the response within so many seconds.

    Raises:
        NoReply: The response is missing, late, too large or compressed.
    """
    import httpx

    if timeout <= 0:
        raise NoReply(_LATE, final=True)
    deadline = _Deadline(timeout)
    try:
        with (
            deadline,
            httpx.Client(verify=_ssl_context(), timeout=timeout) as client,
            client.stream(
                "POST",
                url,
                content=body,
                headers={"Accept-Encoding": "identity", **headers},
                extensions={"trace": deadline.trace},
            ) as response,
        ):
            content = bytearray()
            for chunk in response.iter_raw():
                content += chunk
                if len(content) > MAX_BODY:
                    raise NoReply(f"sent more than {MAX_BODY // 1024**2} MiB", final=True)
            status, received = response.status_code, response.headers
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as fault:
        if deadline.over or isinstance(fault, httpx.TimeoutException):
            raise NoReply(_LATE, final=True) from None
        why = str(fault) or type(fault).__name__
        if isinstance(fault, httpx.ConnectError | httpx.ProxyError):
            raise NoReply(f"cannot be reached: {why}") from None
        if isinstance(fault, httpx.NetworkError | httpx.RemoteProtocolError):
            raise NoReply(f"broke the connection: {why}") from None
        raise NoReply(f"cannot be reached: {why}", final=True) from None
    encoding = received.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise NoReply(
            f"answered {status} with a body encoded as {encoding[:40]!r}, which was not accepted",
            final=status // 100 == SUCCESS,
        )
    return Response(status, received, bytes(content))


class _Deadline:
    """Breaks the connections of a request once its time is over; a context manager.

    The timeouts of `httpx` are those of one operation, which a server that sends a byte a second
    never reaches.
    """

    def __init__(self, seconds: float) -> None:
        self.over = False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take the sockets of a request, as `httpx` reports them."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self.over:
                self._end()

    def _end(self) -> None:
        self.over = True
        for each in self._sockets:
            try:
                # Beneath TLS: a thread that waits for a byte is woken.
                socket.socket.shutdown(each, socket.SHUT_RDWR)
            except OSError:
                continue  # closed already
