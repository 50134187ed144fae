"""The form in which a server's API writes requests and replies.

A request is built once, in the fields of the chat completions API (`Endpoint.fields`), which a
record keeps; a form turns these fields into the body of its own API, and the body of the
response into a `ModelReply`.

Fields that no API has: `thinking_tokens` is the budget of the reasoning, `extra_body` holds the
fields that the user adds to every body, `api` names the form where it is not chat completions, and
`left_out` lists the fields of a request that its API does not take.
"""

import json
import os
from collections.abc import Container, Mapping
from typing import Any, Protocol

from attrs import frozen

from desim.errors import UsageError
from policies.llm.wires.completion import Redact
from policies.llm.wires.wire import Message, ModelReply

#: Fields that are not part of a body.
NOT_SENT = frozenset(("api", "left_out", "extra_body"))


@frozen
class DefaultServer:
    """The server of an API where the user names none.

    Attributes:
        address: The vendor's own.
        variable: The environment variable with another address.
        key_variable: The environment variable with the key.
        within: The end of an address that belongs to the paths of this API.
    """

    address: str
    variable: str
    key_variable: str
    within: str = ""

    def address_of(self, base_url: str) -> str:
        """Return the server's address: the one given, that of the environment, or the vendor's."""
        address = base_url or os.environ.get(self.variable) or self.address
        return address.rstrip("/").removesuffix(self.within)


OPENAI = DefaultServer("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY")


class WireForm(Protocol):
    """An API of language models."""

    @property
    def name(self) -> str:
        """The name of the API, as the option `api` takes it."""
        ...

    @property
    def path(self) -> str:
        """The path of a call below the server's address."""
        ...

    @property
    def reply_name(self) -> str:
        """The name of a reply in error texts."""
        ...

    @property
    def default(self) -> DefaultServer:
        """The server where the user names none."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers that carry the key, and others that the API needs."""
        ...

    def fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a chat completion that this API takes.

        Where there are others, `left_out` has their names.
        """
        ...

    def body(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a request from what `fields` has returned."""
        ...

    def reply(
        self, content: bytes, fields: Mapping[str, Any], seconds: float, redact: Redact
    ) -> ModelReply | None:
        """Return the reply that a body holds; None if the body is not one of this API.

        Args:
            content: The body of a response with a status of success.
            fields: Those of the request, from which missing usage is estimated.
            seconds: Time that the request took.
            redact: Removes the key from every text.

        Raises:
            NoReply: The body holds an error in place of a reply.
        """
        ...


def kept(api: str, given: Mapping[str, Any], taken: Container[str]) -> dict[str, Any]:
    """Return the fields that an API takes, its name, and the names of the others."""
    left_out = [name for name in given if name not in taken]
    fields = {"api": api, **{name: each for name, each in given.items() if name in taken}}
    return fields | ({"left_out": left_out} if left_out else {})


def with_extra(body: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with the fields that the user adds."""
    return {**body, **fields.get("extra_body", {})}


def text_of(message: Message) -> str:
    """Return the text of a message, which may be in parts.

    Raises:
        UsageError: A part is not text.
    """
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    if other := [part.get("type") for part in content if part.get("type") != "text"]:
        raise UsageError(f"a message has a part of type {other[0]!r}; here it is text")
    return "".join(part["text"] for part in content)


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return the bytes that are sent for a body."""
    return json.dumps(body).encode()
