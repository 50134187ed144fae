"""A uvicorn server that keeps a bounded number of connections and closes silent ones.

Tried with uvicorn 0.54.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import uvicorn
from attrs import frozen
from uvicorn.protocols.http.h11_impl import H11Protocol

from desim.adapters.web.access import Access, checked_token, new_token
from desim.adapters.web.guard import Application
from desim.errors import UsageError

#: Seconds within which the head of a request must arrive, also between two requests.
HEAD_SECONDS = 5.0


@frozen
class Entrance:
    """A listening socket, and how clients enter.

    Attributes:
        at: The socket.
        access: The rules by which requests are let in.
        address: The address, such as `http://127.0.0.1:43210`.
        new_token: The token that was made because none was given; else empty.
    """

    at: socket.socket
    access: Access
    address: str
    new_token: str


@contextmanager
def entrance(host: str, port: int, token: str, *, made: bool = True) -> Iterator[Entrance]:
    """Listen while the block runs.

    Args:
        host: The host to listen on.
        port: The port; 0 takes a free one.
        token: The token of clients.
        made: Whether a token is made if none is given.

    Raises:
        UsageError: The server cannot listen there, or the token cannot be sent.
    """
    given = checked_token(token)
    new = new_token() if made and not given else ""
    with listening(host, port) as at:
        access = Access(given or new, hosts=frozenset({host, at.getsockname()[0]}))
        yield Entrance(at, access, address_of(at, host), new)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small replies at once only if the protocol is named.
    at = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        at.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        at.bind((host, port))
        at.listen(128)
    except (OSError, UnicodeError, OverflowError) as fault:
        at.close()
        why = getattr(fault, "strerror", None) or fault
        raise UsageError(f"cannot listen on {host} port {port}: {why}") from None
    return at


def address_of(at: socket.socket, host: str) -> str:
    """Return the address of a server whose socket listens on a host.

    A server on all interfaces has many; the address with this machine's name is returned.
    """
    name = host
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 (compared with, not listened on)
        name = socket.gethostname()
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{at.getsockname()[1]}"


def config_of(app: Application, sessions: int, **options: Any) -> uvicorn.Config:
    """Return the configuration of a server."""
    protocol: Any = _bounded(4 * sessions + 64)
    return uvicorn.Config(app, http=protocol, server_header=False, access_log=False, **options)


class _Bounded(H11Protocol):
    """A connection that is closed if it waits too long for the head of a request.

    When there are more than `most` connections, the one that has waited longest for its request is
    closed, so that silent clients do not block others; if all are being answered, the new one is.
    """

    most: ClassVar[int]
    #: The connections that wait for a request, in the order in which they began to.
    waiting: ClassVar[dict["_Bounded", Any]]

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self.most:
            next(iter(self.waiting)).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def handle_websocket_upgrade(self, event: Any) -> None:
        headers = dict(self.headers)
        if b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0":
            # uvicorn would pass on the head alone, and wait forever for the body.
            self.send_400_response("A request for a web socket has no body.")
            return
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # With the next request already there, it is being answered.
        if self.cycle.response_complete and not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        self._stop_waiting()
        self.waiting[self] = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if timer := self.waiting.pop(self, None):
            timer.cancel()


def _bounded(most: int) -> type[_Bounded]:
    """Return the protocol of one server."""
    return type("Bounded", (_Bounded,), {"most": most, "waiting": {}})
