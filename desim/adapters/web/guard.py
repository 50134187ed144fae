"""A guard before an ASGI application: passes on permitted requests with JSON of bounded size."""

import asyncio
import json
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from http import HTTPStatus
from typing import Any

import numpy as np

from desim.adapters.web.access import Access
from desim.short_repr import short_repr

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

#: Seconds within which a request's body must arrive.
BODY_SECONDS = 10.0

#: Levels of objects and lists, at most; actions have fewer than ten.
DEEPEST = 100

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')

#: All bytes but brackets.
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))

_TOO_DEEP = f"the body has more than {DEEPEST} levels of objects and lists"


class Guard:
    """An ASGI application before another one.

    A refused request gets a status from 400 to 499 and one sentence under `detail`, and its
    connection is closed; a web socket is refused with status 403. The inner application sees the
    part of the path that held the token as its `root_path`.
    """

    def __init__(self, inner: Application, access: Access, largest: int) -> None:
        self._inner, self._access, self._largest = inner, access, largest

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] not in ("http", "websocket"):
            return await self._inner(scope, receive, send)
        if refusal := self._access.refusal(scope):
            return await _refuse(scope, send, *refusal)
        if prefix := self._access.prefix(scope):
            scope = {**scope, "root_path": scope.get("root_path", "") + prefix}
        if scope["type"] == "websocket":
            return await self._inner(scope, receive, send)
        body = await self._body(receive)
        if isinstance(body, tuple):
            return await _refuse(scope, send, *body)
        return await self._inner(scope, _again(body, receive), send)

    async def _body(self, receive: Receive) -> bytes | tuple[int, str]:
        """Return the body of a request, or the status and the sentence that refuse it."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await self._whole_body(receive)
        except TimeoutError:
            return 408, f"the body did not come within {BODY_SECONDS:g} seconds"
        if len(body) > self._largest:
            return 413, f"a request has at most {self._largest:,} bytes"
        fault = json_fault(body) if body else ""
        return (400, fault) if fault else body

    async def _whole_body(self, receive: Receive) -> bytes:
        """Return the whole body, or its beginning if that is already too large."""
        body = bytearray()
        while len(body) <= self._largest:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):  # also missing if the client has disconnected
                break
        return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that returns a body that was already read, and then later messages."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return left.pop() if left else await receive()

    return received


async def _refuse(scope: Message, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":  # before it is accepted: the client sees status 403
        return await send({"type": "websocket.close", "code": 1008, "reason": why})
    body = json.dumps({"detail": why}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *([(b"www-authenticate", b"Bearer")] if status == HTTPStatus.UNAUTHORIZED else []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    return await send({"type": "http.response.body", "body": body})


# -- bodies ----------------------------------------------------------------------------------------


def json_fault(body: bytes) -> str:
    """Return a sentence on why a body is refused; empty if it is accepted.

    Refused are bodies that are not JSON, NaN and infinity, also as a number that is too large; half
    of a surrogate pair, which cannot be sent back; a key given twice in one object, which readers
    resolve differently; and more than `DEEPEST` levels.
    """
    try:
        value = json.loads(
            body.decode(),
            object_pairs_hook=_without_repeated_keys,
            parse_constant=_no_number,
            parse_float=_finite,
        )
        if b"\\ud" in body.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except ValueError as fault:
        return f"the body is not JSON: {short_repr(str(fault))[1:-1]}"
    except RecursionError:
        return _TOO_DEEP
    return _TOO_DEEP if _depth(body) > DEEPEST else ""


def _depth(valid: bytes) -> int:
    """Return the levels of a JSON text; its strings are closed, so they can be cut out."""
    brackets = np.frombuffer(_STRING.sub(b"", valid).translate(None, _OTHERS), np.uint8)
    if not brackets.size:
        return 0
    opens = (brackets == ord("[")) | (brackets == ord("{"))
    return int(np.cumsum(np.where(opens, 1, -1)).max())


def _without_repeated_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {short_repr(twice)} comes twice in one object")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{short_repr(text)} is too large a number")
    return value
