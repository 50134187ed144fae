"""Parts of a reply that only the API that wrote them can read, such as signed reasoning.

They go from `ModelReply.native` into the field `native` of the assistant's message, and from there
back to the server, unchanged. Both hold the text of a JSON object: the name of the API, and a list.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from desim.schema.untrusted import decode_json
from policies.llm.wires.completion import Redact
from policies.llm.wires.wire import Message

FIELD = "native"


def native_text(api: str, parts: Sequence[Any], redact: Redact) -> str:
    """Return the parts of a reply as they are kept; an empty text where they cannot be read back.

    Args:
        api: The API that wrote them.
        parts: The parts, decoded.
        redact: Removes the key from every text.
    """
    text = redact(json.dumps({api: list(parts)}, separators=(",", ":")))
    return text if _parts(api, text) else ""


def native_parts(api: str, message: Message) -> list[dict[str, Any]]:
    """Return the parts that an API wrote for an assistant's message; empty if it wrote none."""
    text = message.get(FIELD)
    return _parts(api, text) if isinstance(text, str) else []


def without_native(message: Message) -> Message:
    """Return a message as every server takes it."""
    return {name: value for name, value in message.items() if name != FIELD}


def _parts(api: str, text: str) -> list[dict[str, Any]]:
    try:
        held = decode_json(text)
    except ValueError:
        return []
    listed = held.get(api) if isinstance(held, Mapping) else None
    plain = isinstance(listed, list) and all(isinstance(part, dict) for part in listed)
    return listed if plain and listed else []
