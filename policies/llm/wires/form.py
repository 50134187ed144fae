"""The server of chat completions, and what every body of a request has.

A request is built once, in the fields of the chat completions API (`Endpoint.fields`), which a
record keeps. `extra_body` holds the fields that the user adds to every body.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from attrs import frozen

#: Fields that are not part of a body.
NOT_SENT = frozenset(("extra_body",))


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


def with_extra(body: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with the fields that the user adds."""
    return {**body, **fields.get("extra_body", {})}


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return the bytes that are sent for a body."""
    return json.dumps(body).encode()
