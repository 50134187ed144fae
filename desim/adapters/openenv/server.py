"""A world behind OpenEnv: HTTP and web sockets, for clients of the package openenv.

A connection to `/ws` is a session with an environment of its own. Plain HTTP requests have one
each, as in every server of the package: they serve discovery, not play. Tried with openenv 0.10.0
and its client.
"""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from openenv.core.env_server.http_server import create_fastapi_app

from desim.adapters.openenv.environment import Served
from desim.adapters.openenv.openenv_messages import EpisodeIdentity
from desim.adapters.seat.setup import Setup
from desim.adapters.web.access import TOKEN_PATH, Access
from desim.adapters.web.guard import Application, Guard
from desim.adapters.web.listening import Entrance, config_of, entrance
from desim.errors import DesimError, WriteFailed

#: Bytes of a request or of a message, at most.
_MOST_BYTES = 1024 * 1024


def app(
    setup: Setup,
    access: Access,
    *,
    records: str | Path | None = None,
    max_sessions: int = 64,
) -> Application:
    """Return the ASGI application of a world."""
    served = Served(setup, records)
    inner: FastAPI = create_fastapi_app(
        served,
        served.action,
        served.observation,
        max_concurrent_envs=max_sessions,
        env_name=served.tasks.name,
        state_cls=EpisodeIdentity,
        mode="simulation",
    )
    inner.add_exception_handler(DesimError, _refusal)
    return Guard(inner, access, _MOST_BYTES)


def serve(
    setup: Setup,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str = "",
    no_token: bool = False,
    records: str | Path | None = None,
    max_sessions: int = 64,
) -> None:
    """Serve a world until the process is interrupted; print the address first.

    Args:
        setup: The world and its policies.
        host: The host to listen on.
        port: The port; 0 takes a free one.
        token: The token that clients send as `Authorization: Bearer TOKEN`, or have in their
            address after `/t/`; empty makes a new one, which is in the printed address.
        no_token: Whether clients need no token if *token* is empty.
        records: The folder of the records, see `app`; made if it does not exist.
        max_sessions: The most sessions at the same time.

    Raises:
        UsageError: The server cannot listen there, or the token cannot be sent.
        WriteFailed: The folder cannot be made.
    """
    if records is not None:
        try:
            Path(records).mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise WriteFailed(f"cannot make {records}: {fault.strerror}") from None
    with entrance(host, port, token, made=not no_token) as entered:
        application = app(setup, entered.access, records=records, max_sessions=max_sessions)
        sys.stdout.write(f"{_client_address(entered)}\n")
        sys.stdout.flush()
        uvicorn.Server(_config(application, max_sessions)).run(sockets=[entered.at])


@contextmanager
def serving(setup: Setup, *, token: str = "", **options: Any) -> Iterator[str]:
    """Serve a world from a thread of this process, for tests and notebooks.

    Yields:
        The address, such as `http://127.0.0.1:43210/t/TOKEN`; without the token if one is given.
    """
    with entrance("127.0.0.1", 0, token) as entered:
        server = uvicorn.Server(_config(app(setup, entered.access, **options), **options))
        sockets = {"sockets": [entered.at]}
        thread = threading.Thread(target=server.run, kwargs=sockets, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        try:
            yield _client_address(entered)
        finally:
            server.should_exit = True
            thread.join()


def _client_address(entered: Entrance) -> str:
    """Return the address that clients are given, with a token that was made."""
    return entered.address + (TOKEN_PATH + entered.new_token if entered.new_token else "")


def _config(application: Application, max_sessions: int = 64, **_: Any) -> uvicorn.Config:
    return config_of(application, max_sessions, log_level="warning", ws_max_size=_MOST_BYTES)


async def _refusal(_: Any, fault: Exception) -> JSONResponse:
    """Answer an invalid HTTP request with one sentence."""
    return JSONResponse({"detail": str(fault)}, status_code=400)
