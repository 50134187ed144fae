"""One POST to a server within a deadline and a limit of size; no redirect is followed."""

import socket
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from policies.llm.wires.wire import NoReply

#: Bytes of a response's body that are read at most.
MAX_BODY = 4 * 1024 * 1024

#: The first digit of statuses of success.
SUCCESS = 2

_LATE = "did not answer in time"


class Response(NamedTuple):
    """A server's response; names of headers are found in any case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@cache
def ssl_context() -> Any:
    """Return the context of all connections; loading the certificates takes 20 ms."""
    import httpx

    return httpx.create_ssl_context()


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Response:
    """Send a request on a connection of its own; return the response within so many seconds.

    Raises:
        NoReply: The response is missing, late, too large or compressed.
    """
    import httpx

    if timeout <= 0:
        raise NoReply(_LATE, final=True)
    deadline = _Deadline(timeout)
    try:
        with (
            deadline,
            httpx.Client(verify=ssl_context(), timeout=timeout) as client,
            client.stream(
                "POST",
                url,
                content=body,
                headers={"Accept-Encoding": "identity", **headers},
                extensions={"trace": deadline.trace},
            ) as response,
        ):
            content = bytearray()
            for chunk in response.iter_raw():
                content += chunk
                if len(content) > MAX_BODY:
                    raise NoReply(f"sent more than {MAX_BODY // 1024**2} MiB", final=True)
            status, received = response.status_code, response.headers
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as fault:
        if deadline.over or isinstance(fault, httpx.TimeoutException):
            raise NoReply(_LATE, final=True) from None
        why = str(fault) or type(fault).__name__
        if isinstance(fault, httpx.ConnectError | httpx.ProxyError):
            raise NoReply(f"cannot be reached: {why}") from None
        if isinstance(fault, httpx.NetworkError | httpx.RemoteProtocolError):
            raise NoReply(f"broke the connection: {why}") from None
        raise NoReply(f"cannot be reached: {why}", final=True) from None
    encoding = received.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise NoReply(
            f"answered {status} with a body encoded as {encoding[:40]!r}, which was not accepted",
            final=status // 100 == SUCCESS,
        )
    return Response(status, received, bytes(content))


class _Deadline:
    """Breaks the connections of a request once its time is over; a context manager.

    The timeouts of `httpx` are those of one operation, which a server that sends a byte a second
    never reaches.
    """

    def __init__(self, seconds: float) -> None:
        self.over = False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take the sockets of a request, as `httpx` reports them."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self.over:
                self._end()

    def _end(self) -> None:
        self.over = True
        for each in self._sockets:
            try:
                # Beneath TLS: a thread that waits for a byte is woken.
                socket.socket.shutdown(each, socket.SHUT_RDWR)
            except OSError:
                continue  # closed already
