"""A guard before an ASGI application: passes on permitted requests with JSON of bounded size."""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

from desim.adapters.web.access import Access
from desim.schema.untrusted import TooDeepError, decode_json
from desim.short_repr import short_repr

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

#: Seconds within which a request's body must arrive.
BODY_SECONDS = 10.0


class Guard:
    """An ASGI application before another one.

    A refused request gets a status from 400 to 499 and one sentence under `detail`, and its
    connection is closed; a web socket is refused with status 403. The inner application sees the
    part of the path that held the token as its `root_path`.

    Args:
        inner: Answers the requests that are let through.
        access: The rules by which requests are let in.
        largest: Bytes of a body, at most.
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
                body = await self._read_body(receive)
        except TimeoutError:
            return 408, f"the body did not come within {BODY_SECONDS:g} seconds"
        if len(body) > self._largest:
            return 413, f"a request has at most {self._largest:,} bytes"
        fault = json_fault(body) if body else ""
        return (400, fault) if fault else body

    async def _read_body(self, receive: Receive) -> bytes:
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


def json_fault(body: bytes) -> str:
    """Return a sentence on why a body is refused; empty if it is accepted."""
    try:
        decode_json(body)
    except TooDeepError as fault:
        return f"the body has {fault}"
    except ValueError as fault:
        return f"the body is not JSON: {short_repr(str(fault))[1:-1]}"
    return ""


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
