"""A server of chat completions that answers a request.

The key comes from the environment, stays in this object and is removed from every text of the
server.
"""

import json
import os
import re
import time
from collections.abc import Mapping
from html import unescape
from typing import Any
from urllib.parse import unquote, urlsplit

from attrs import evolve, field, frozen

from desim.errors import UsageError
from policies.llm.wires.completion import decoded, reply_in
from policies.llm.wires.fault import check, printable
from policies.llm.wires.post import post, ssl_context
from policies.llm.wires.wire import Call, ModelReply, NoReply, Request

#: Sent as the key to a server that needs none: some refuse a request without a key.
_NO_KEY = "none"

#: A shorter key, such as `4`, is not treated as a secret: it may be part of any reply.
SHORTEST_KEY = 8

#: The vendor's own server, and the environment variables with another address and with the key.
_ADDRESS, _ADDRESS_VARIABLE = "https://api.openai.com/v1", "OPENAI_BASE_URL"
_KEY_VARIABLE = "OPENAI_API_KEY"

#: The field of the user's further ones, which are sent beside the others.
_EXTRA = "extra_body"

#: Fields of a reply with texts of the server.
_TEXTS = ("text", "refusal", "finish", "thinking", "id", "served")


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
        """Return an endpoint with the key of an environment variable, by default OPENAI_API_KEY.

        Raises:
            UsageError: `httpx` is not installed, the address is invalid or holds a secret, a key is
                needed and not set, or cannot be sent, or an option holds the key.
        """
        key_env = key_env or _KEY_VARIABLE
        try:
            ssl_context()  # not part of the time of the first request
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

    def fields(self, request: Request) -> dict[str, Any]:
        """Return the fields of a request, as the chat completions API names them.

        Neither the key nor the server's address is among them.
        """
        return {"model": self.model, **request.fields(), **self.options}

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
        plain = decoded(response.content)
        check(response, plain, self.redacted)
        reply = reply_in(plain, fields["messages"])
        text = response.content.decode("utf-8", "replace")
        if reply is None:
            raise NoReply(f"sent no chat completion: {printable(text, self.redacted)!r}")
        if text.encode() != response.content:
            reply = evolve(reply, malformed="your reply was not valid UTF-8")
        return evolve(self._without_key(reply), seconds=seconds)

    def _without_key(self, reply: ModelReply) -> ModelReply:
        texts: dict[str, Any] = {name: self.redacted(getattr(reply, name)) for name in _TEXTS}
        calls = tuple(
            Call(*map(self.redacted, (call.id, call.name, call.arguments))) for call in reply.calls
        )
        return evolve(reply, calls=calls, **texts)


def _unescaped(text: str) -> str:
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
