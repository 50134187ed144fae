"""A server that answers a request.

The key comes from the environment, stays in this object and is removed from every text of the
server.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from attrs import Factory, field, frozen

from desim.errors import UsageError
from policies.llm.wires.completion import Redact, redactor
from policies.llm.wires.fault import check_status, printable
from policies.llm.wires.form import encoded
from policies.llm.wires.forms.chat_completions import ChatCompletions
from policies.llm.wires.post import CALL, Exchange, Response, post, prepare
from policies.llm.wires.wire import ModelReply, NoReply, Request

#: Sent as the key to a server that needs none: some refuse a request without a key.
_NO_KEY = "none"

_FORM = ChatCompletions()


@frozen(kw_only=True)
class Endpoint:
    """A `send` that sends the request to a server.

    Attributes:
        model: The model's name at the server.
        base_url: The server's address; empty for that of the environment, or the vendor's own.
        key: Sent in a header; never shown.
        options: Further fields of every request, as chat completions name them: temperature,
            seed, ...
        cache: Whether the server is to keep what requests begin with in its cache.
    """

    model: str
    base_url: str = ""
    key: str = field(default=_NO_KEY, repr=False)
    options: Mapping[str, Any] = field(factory=dict)
    cache: bool = False
    _redacted: Redact = field(
        default=Factory(lambda self: redactor(self.key), takes_self=True),
        init=False,
        repr=False,
        eq=False,
    )

    @classmethod
    def of(
        cls,
        model: str,
        base_url: str,
        key_env: str = "",
        **rest: Any,
    ) -> "Endpoint":
        """Return an endpoint with the key from an environment variable.

        Args:
            model: The model's name at the server.
            base_url: The server's address; empty for that of the environment, or the vendor's own.
            key_env: The variable that holds the key; empty for the one of the API.
            rest: Further attributes.

        Raises:
            UsageError: `aiohttp` or `greenlet` is not installed, the address is invalid or holds a
                secret, a key is needed and not set, or cannot be sent, or an option holds the key.
        """
        key_env = key_env or _FORM.default.key_variable
        try:
            prepare()
        except ImportError as fault:
            raise UsageError(
                f"policy llm needs the package {fault.name}; pip install 'desim[llm]'"
            ) from None
        _check_address(base_url)
        key = os.environ.get(key_env, "")
        if not key and not (base_url or os.environ.get(_FORM.default.variable)):
            raise UsageError(
                f"{key_env} is not set and no base_url was given; "
                "set the variable to a key, or name a server that needs none"
            )
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"{key_env} holds a character that no key has, such as a line break")
        recorded = json.dumps([model, base_url, rest.get("options", {})])
        if redactor(key)(recorded) != recorded:
            raise UsageError(
                f"an option holds the key that is in {key_env}; it would be in the record"
            )
        return cls(model=model, base_url=base_url, key=key or _NO_KEY, **rest)

    @property
    def name(self) -> str:
        """The model and its server, for error texts."""
        return f"model {self.model!r}" + (f" at {self.base_url}" if self.base_url else "")

    @property
    def server(self) -> str:
        """The server's address."""
        return _FORM.default.address_of(self.base_url)

    def __call__(self, request: Request, timeout: float = 300.0) -> ModelReply:
        """Send one request and return the reply.

        Raises:
            NoReply: The response holds no reply, or did not arrive in time.
        """
        fields = self.fields(request)
        started = time.monotonic()
        response = self.posted(_FORM.path, encoded(_FORM.body(fields)), timeout)
        seconds = round(time.monotonic() - started, 6)
        return self.read(response.content, fields, seconds)

    def read(self, content: bytes, fields: Mapping[str, Any], seconds: float) -> ModelReply:
        """Return the reply that the body of a response holds.

        Args:
            content: The body.
            fields: Those of the request.
            seconds: Time that the request took.

        Raises:
            NoReply: It holds none.
        """
        reply = _FORM.reply(content, fields, seconds, self._redacted)
        if reply is None:
            raise NoReply(f"sent no {_FORM.reply_name}: {self._printable(content)!r}")
        return reply

    def check_status(self, response: Response) -> None:
        """Raise `NoReply` for an error or a redirect."""
        check_status(response, self._redacted)

    def fields(self, request: Request) -> dict[str, Any]:
        """Return the fields of a request, as the chat completions API names them.

        Neither the key nor the server's address is among them.
        """
        fields = {"model": self.model, **request.fields(), **self.options}
        if self.cache:
            fields["prompt_cache_key"] = _cache_key(request)
        return _FORM.fields(fields)

    def posted(self, path: str, body: bytes, timeout: float) -> Response:
        """Send a request to a path below the address and return the response if it is a success."""
        response = self.exchanged(path, body, timeout)
        check_status(response, self._redacted)
        return response

    def exchanged(self, path: str, body: bytes, timeout: float, how: Exchange = CALL) -> Response:
        """Send a request to a path below the address and return the response."""
        headers = {**_FORM.headers(self.key), "User-Agent": "desim"}
        try:
            return post(f"{self.server}/{path}", body, headers, timeout, how)
        except NoReply as fault:
            why = printable(str(fault), self._redacted)
            raise NoReply(why, final=fault.final, wait=fault.wait) from None

    def _printable(self, content: bytes) -> str:
        return printable(content.decode("utf-8", "replace"), self._redacted)


def _cache_key(request: Request) -> str:
    """Return a digest of the system prompt, by which servers find requests that begin alike."""
    first = request.messages[0] if request.messages else {}
    return hashlib.sha256(json.dumps(first).encode()).hexdigest()[:32]


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
