"""One POST with a deadline and a limit of size. No redirect is followed.

Connections are kept for the next request (see `clients`). Where the server has closed such a
connection before it answered anything, the request is sent again on a new one, as the same request:
otherwise one would be counted that the server has never seen. From then on each request to this
server has a connection of its own, so that this happens once.

The client is aiohttp's, of which a request takes a third of the processor time of httpx's: with a
hundred requests at once, httpx's pool of connections is most of what a suite computes.
"""

import os
import ssl
import zlib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from attrs import frozen

from policies.llm.wires.clients import (
    Connection,
    check_not_ending,
    keep_no_more,
    kept_client,
    new_client,
)
from policies.llm.wires.suspension import wait
from policies.llm.wires.wire import NoReply

#: Bytes of a response's body that are read at most, as sent and as decoded.
MAX_BODY = 4 * 1024 * 1024

#: Seconds beyond the deadline after which a request that has not ended is left behind.
_GRACE = 1.0

#: The forms of compression that are undone here, with a limit.
_ENCODINGS = "gzip, deflate"

_LATE = "did not answer in time"


@frozen
class Response:
    """A server's response.

    Attributes:
        status: The HTTP status.
        headers: The headers; names in lower case.
        content: The body, decoded.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes


def prepare() -> None:
    """Import and load what the first request needs, so that it is not part of its time."""
    import aiohttp  # noqa: F401
    import greenlet  # noqa: F401

    _ssl_context()
    _proxy.cache_clear()


@frozen(kw_only=True)
class Exchange:
    """The parts of an exchange with a server that may differ from a call of a model.

    Attributes:
        method: The HTTP method.
        media: The type of the body that is sent.
        most: Bytes of the response's body that are read at most.
        once: Whether the request is sent on a new connection, so that a connection which the server
            has closed is never a reason to send it again.
    """

    method: str = "POST"
    media: str = "application/json"
    most: int = MAX_BODY
    once: bool = False


#: A call of a model.
CALL = Exchange()


def post(
    url: str, body: bytes, headers: Mapping[str, str], timeout: float, exchange: Exchange = CALL
) -> Response:
    """Send a request and return the whole response.

    Args:
        url: The address.
        body: The body; JSON unless *exchange* says otherwise.
        headers: Further headers.
        timeout: Seconds until the last byte must have come.
        exchange: The method, limits and connection.

    Raises:
        NoReply: The response is missing, late, too large or badly encoded.
    """
    import aiohttp

    if timeout <= 0:
        raise NoReply(_LATE, final=True)
    try:
        return wait(_post(url, body, headers, timeout, exchange), timeout + _GRACE)
    except TimeoutError:
        raise NoReply(_LATE, final=True) from None
    except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError) as fault:
        raise NoReply(f"cannot be reached: {_reason(fault)}") from None
    except aiohttp.InvalidURL as fault:
        raise NoReply(f"cannot be reached: {_reason(fault)}", final=True) from None
    except aiohttp.ClientError as fault:
        check_not_ending()
        raise NoReply(f"broke the connection: {_reason(fault)}") from None
    except (OSError, ValueError, ImportError) as fault:
        raise NoReply(f"cannot be reached: {_reason(fault)}", final=True) from None


async def _post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    timeout: float,  # noqa: ASYNC109 (for a whole response, beneath all of aiohttp)
    exchange: Exchange,
) -> Response:
    import asyncio

    import aiohttp

    sent = {"Content-Type": exchange.media, "Accept-Encoding": _ENCODINGS, **headers}
    async with asyncio.timeout(timeout):
        check_not_ending()
        if not exchange.once and (client := await kept_client(url, _ssl_context())):
            connection = Connection()
            try:
                return await _answered(client, url, body, sent, exchange, connection)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if not connection.closed_before:
                    raise
                check_not_ending()
                keep_no_more(url)
        async with new_client(_ssl_context(), force_close=True) as client:
            return await _answered(client, url, body, sent, exchange)


async def _answered(
    client: Any,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    exchange: Exchange,
    connection: Any = None,
) -> Response:
    """Send a request and read the response."""
    async with client.request(
        exchange.method,
        url,
        data=body or None,
        headers=headers,
        allow_redirects=False,
        proxy=_proxy(url),
        trace_request_ctx=connection,
    ) as response:
        if connection:
            connection.answered = True
        content = await _content(response, exchange.most)
        received = {name.lower(): value for name, value in response.headers.items()}
        return Response(response.status, received, content)


@lru_cache(maxsize=256)
def _proxy(url: str) -> str | None:
    """Return the proxy that the environment names for an address, read when a policy is built."""
    parts = urlsplit(url)
    if not (proxies := getproxies()) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return proxies.get(parts.scheme) or proxies.get("all")


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the context of all connections; loading the certificates takes 20 ms."""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


async def _content(response: Any, most: int) -> bytes:
    """Read and decode a body, no further than a largest number of bytes."""
    decode = _decoder(response.headers.get("content-encoding", ""))
    parts: list[bytes] = []
    received = size = 0
    async for chunk in response.content.iter_any():
        received += len(chunk)
        parts.append(decode(chunk, most - size + 1))
        size += len(parts[-1])
        if max(received, size) > most:
            raise NoReply(f"sent more than {most // 1024**2} MiB", final=True)
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


def _reason(fault: BaseException) -> str:
    """Return the text of an exception, or its type if it has no text."""
    # For a response that is not HTTP, aiohttp's error names a status that the server has not sent.
    return getattr(fault, "message", "") or str(fault) or type(fault).__name__
