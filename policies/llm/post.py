"""One POST with a deadline and a limit of size. No redirect is followed.

Each request has a connection of its own: one that is kept open may be closed by the server while it
is unused, and then a request is counted that the server has never seen.
"""

import ssl
import threading
import zlib
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

from attrs import frozen

from policies.llm.wire import NoReply

__all__ = ["MAX_BODY", "Response", "post", "prepare"]

#: Bytes of a response's body that are read at most, as sent and as decoded.
MAX_BODY = 4 * 1024 * 1024

#: Seconds beyond the deadline after which a thread that has not stopped is left behind.
_GRACE = 1.0

#: The forms of compression that are undone here, with a limit.
_ENCODINGS = "gzip, deflate"

T = TypeVar("T")


@frozen
class Response:
    """What a server answered.

    Attributes:
        status: The HTTP status.
        headers: The headers; names in lower case.
        content: The body, decoded.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes


def prepare() -> None:
    """Import and load what the first request needs, so that it is not part of its time.

    Raises:
        ImportError: `httpx` is not installed.
    """
    _ssl_context()


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Response:
    """Send a request and return the whole response.

    Args:
        url: The address.
        body: JSON.
        headers: Further headers.
        timeout: Seconds until the last byte must have come.

    Raises:
        NoReply: There was no response, or it was late, too large or badly encoded.
    """
    import httpx

    late = NoReply("did not answer in time", final=True)
    if timeout <= 0:
        raise late
    try:
        return _run_in_thread(_post(url, body, headers, timeout), timeout + _GRACE)
    except TimeoutError:
        raise late from None
    except httpx.ConnectError as fault:
        raise NoReply(f"cannot be reached: {_text(fault)}") from None
    except httpx.TransportError as fault:
        raise NoReply(f"broke the connection: {_text(fault)}") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, ImportError) as fault:
        raise NoReply(f"cannot be reached: {_text(fault)}", final=True) from None


def _run_in_thread(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Run a coroutine in a thread of its own: a policy may be called inside a running event loop.

    The thread does not keep the process alive, so that Ctrl-C ends it at once.

    Raises:
        TimeoutError: It did not end; the thread is left behind.
    """
    import asyncio

    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(asyncio.run(work))
        except BaseException as fault:  # noqa: BLE001 (raised again in the caller's thread)
            done.set_exception(fault)

    threading.Thread(target=run, name="desim-llm-request", daemon=True).start()
    return done.result(seconds)


async def _post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Response:  # noqa: ASYNC109 (for a whole response, beneath all of httpx)
    import asyncio

    import httpx

    sent = {"Content-Type": "application/json", "Accept-Encoding": _ENCODINGS, **headers}
    async with (
        asyncio.timeout(timeout),
        httpx.AsyncClient(verify=_ssl_context(), timeout=None, follow_redirects=False) as client,  # noqa: S113 (the timeout around it is for the whole request)
        client.stream("POST", url, content=body, headers=sent) as response,
    ):
        content = await _content(response)
        return Response(response.status_code, dict(response.headers), content)


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the context of all connections; loading the certificates takes 20 ms."""
    import httpx

    return httpx.create_ssl_context()


async def _content(response: Any) -> bytes:
    """Read and decode a body, no further than `MAX_BODY`.

    Raises:
        NoReply: It is larger, or not encoded as its header says.
    """
    decode = _decoder(response.headers.get("content-encoding", ""))
    parts: list[bytes] = []
    received = size = 0
    async for chunk in response.aiter_raw():
        received += len(chunk)
        parts.append(decode(chunk, MAX_BODY - size + 1))
        size += len(parts[-1])
        if max(received, size) > MAX_BODY:
            raise NoReply(f"sent more than {MAX_BODY // 1024**2} MiB", final=True)
    return b"".join(parts)


def _decoder(encoding: str) -> Callable[[bytes, int], bytes]:
    """Return a function that decodes the next part of a body, to a largest number of bytes."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return lambda chunk, _: chunk
    if name not in ("gzip", "x-gzip", "deflate"):
        raise NoReply(f"sent a body encoded as {encoding[:40]!r}; accepted are {_ENCODINGS}")
    # Either form of header, gzip's or zlib's.
    unzip = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def decode(chunk: bytes, most: int) -> bytes:
        try:
            return unzip.decompress(chunk, most)
        except zlib.error:
            raise NoReply(
                f"sent a body that is not encoded as {name}, as its header says"
            ) from None

    return decode


def _text(fault: BaseException) -> str:
    """Return what went wrong, with the type where the exception has no text."""
    return str(fault) or type(fault).__name__
