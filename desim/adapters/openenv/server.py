"""A world behind OpenEnv: HTTP and web sockets, for clients of the package openenv.

A connection to `/ws` is a session with an environment of its own. Plain HTTP requests have one
each, as in every server of the package: they serve discovery, not play. Tried with openenv 0.10.0
and its client.
"""

import hmac
import json
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from openenv.core.env_server.http_server import create_fastapi_app

from desim.adapters.openenv.environment import Served
from desim.adapters.openenv.messages import WorldState
from desim.adapters.setup import Setup
from desim.errors import DesimError, UsageError, WriteFailed

__all__ = ["app", "serve", "serving"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

#: Bytes of a request or of a message, at most.
_MOST_BYTES = 1024 * 1024


def app(
    setup: Setup,
    *,
    token: str = "",
    records: str | Path | None = None,
    max_sessions: int = 64,
) -> Application:
    """Return the ASGI application of a world.

    Args:
        setup: What is played.
        token: What clients send as `Authorization: Bearer TOKEN`; empty stands for none.
        records: The folder that receives the record of every episode with a decision.
        max_sessions: Sessions at the same time; a further client gets an error and is let go.
    """
    served = Served(setup, records)
    inner: FastAPI = create_fastapi_app(
        served,
        served.action,
        served.observation,
        max_concurrent_envs=max_sessions,
        env_name=served.tasks.name,
        state_cls=WorldState,
        mode="simulation",
    )
    inner.add_exception_handler(DesimError, _refusal)
    return _guarded(inner, token)


def serve(
    setup: Setup,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str = "",
    records: str | Path | None = None,
    max_sessions: int = 64,
) -> None:
    """Serve a world until the process is interrupted; print the address first.

    Args:
        setup: What is played.
        host: Where the server listens.
        port: 0 stands for a free one.
        token: As `app`.
        records: As `app`; made where it does not exist.
        max_sessions: As `app`.

    Raises:
        UsageError: The server cannot listen there.
        WriteFailed: The folder cannot be made.
    """
    if records is not None:
        try:
            Path(records).mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise WriteFailed(f"cannot make {records}: {fault.strerror}") from None
    application = app(setup, token=token, records=records, max_sessions=max_sessions)
    config = uvicorn.Config(application, log_level="warning", ws_max_size=_MOST_BYTES)
    with _listening_socket(host, port) as listening:
        address, number = listening.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        sys.stdout.write(f"http://{shown}:{number}\n")
        sys.stdout.flush()
        uvicorn.Server(config).run(sockets=[listening])


def _listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        UsageError: The address is taken, or is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # a client that reads the address may connect at once
    except (OSError, OverflowError) as fault:
        listening.close()
        raise UsageError(f"cannot listen on {host}, port {port}: {fault}") from None
    return listening


@contextmanager
def serving(setup: Setup, **options: Any) -> Iterator[str]:
    """Serve a world from a thread of this process, for tests and notebooks.

    Args:
        setup: What is played.
        options: As `app`.

    Yields:
        The address, such as `http://127.0.0.1:43210`.
    """
    config = uvicorn.Config(app(setup, **options), log_level="warning", ws_max_size=_MOST_BYTES)
    server = uvicorn.Server(config)
    with _listening_socket("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


async def _refusal(_: Any, fault: Exception) -> JSONResponse:
    """Answer an HTTP request that asks for what is impossible: one sentence."""
    return JSONResponse({"detail": str(fault)}, status_code=400)


def _guarded(inner: Application, token: str) -> Application:
    """Refuse what has no token, and requests that are too large."""
    expected = f"Bearer {token}".encode()

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await inner(scope, receive, send)
        headers = dict(scope["headers"])
        given = headers.get(b"authorization", b"")
        if token and not hmac.compare_digest(given, expected):
            return await _refuse(scope, send, 401, "send the header Authorization: Bearer TOKEN")
        length = headers.get(b"content-length", b"0")
        chunked = b"transfer-encoding" in headers
        if chunked or not length.isdigit() or int(length) > _MOST_BYTES:
            return await _refuse(
                scope, send, 413, f"a request has at most {_MOST_BYTES:,} bytes and says how many"
            )
        return await inner(scope, receive, send)

    return application


async def _refuse(scope: Message, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":  # before it is accepted: the client sees status 403
        return await send({"type": "websocket.close", "code": 1008, "reason": why})
    body = json.dumps({"detail": why}).encode()
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    return await send({"type": "http.response.body", "body": body})
