"""The parts that all servers share: access, checks of bodies, and limits of connections."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

pytest.importorskip("uvicorn")

import uvicorn

from desim.adapters.web import guard
from desim.adapters.web import listening as listening_module
from desim.adapters.web.access import Access, checked_token
from desim.adapters.web.guard import Guard, json_fault
from desim.adapters.web.listening import address_of, config_of, listening
from desim.errors import UsageError

SECRET = "sesame"  # noqa: S105 (of these tests)

#: A server on loopback, one on all interfaces, one there without a token.
LOCAL = Access(SECRET)
ANYWHERE = Access(SECRET, hosts=frozenset({"0.0.0.0"}))  # noqa: S104 (nothing listens)
OPEN = Access(hosts=frozenset({"0.0.0.0"}))  # noqa: S104 (as above)


def scope(path: str = f"/t/{SECRET}/x", host: str = "127.0.0.1:80", **headers: str) -> Any:
    """Return the scope of a request."""
    sent = {"host": host, **headers}
    return {
        "type": "http",
        "path": path,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in sent.items()],
    }


def status(access: Access, one: Any) -> int:
    """Return the status that refuses a request; 200 where none does."""
    refusal = access.refusal(one)
    return refusal[0] if refusal else 200


@pytest.mark.parametrize(
    ("access", "request_", "expected"),
    [
        (LOCAL, scope(), 200),
        (LOCAL, scope(f"/t/{SECRET}"), 200),
        (LOCAL, scope("/x", authorization=f"Bearer {SECRET}"), 200),
        (LOCAL, scope("/x"), 401),
        (LOCAL, scope(f"/t/{SECRET}x"), 401),
        (LOCAL, scope("/t//x"), 401),
        (LOCAL, scope("/x", authorization=f"Basic {SECRET}"), 401),
        (LOCAL, scope("/x", authorization="Bearer \u00e9"), 401),
        (LOCAL, scope(host="evil.example"), 421),
        (LOCAL, scope(host=""), 421),
        (LOCAL, scope(host="LOCALHOST"), 200),
        (LOCAL, scope(host="[::1]:80"), 200),
        (LOCAL, scope(origin="http://127.0.0.1:80"), 200),
        (LOCAL, scope(origin="http://127.0.0.1:81"), 403),
        (LOCAL, scope(origin="null"), 403),
        (ANYWHERE, scope(host="evil.example"), 200),
        (ANYWHERE, scope(host="a.example", origin="https://a.example"), 200),
        (ANYWHERE, scope(host="a.example", origin="https://b.example"), 403),
        (OPEN, scope("/x", host="10.0.0.3:80"), 200),
        (OPEN, scope("/x", host=socket.gethostname()), 200),
        (OPEN, scope("/x", host="rebound.example", origin="http://rebound.example"), 421),
    ],
)
def test_who_may_enter(access: Access, request_: Any, expected: int) -> None:
    """The token in a header or the path, the server's own name, a page of its own."""
    assert status(access, request_) == expected


@pytest.mark.parametrize("token", ["a b", "\u00e9", "a/b", "a%20", "a?b", "a#b", "a\n"])
def test_a_token_that_cannot_be_sent_is_refused(token: str) -> None:
    """In a header or in a path."""
    with pytest.raises(UsageError, match="visible ASCII characters"):
        checked_token(token)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"a": 1}', ""),
        (b'{"a": NaN}', "the body is not JSON: NaN is not a number of JSON"),
        (b"[" * 101 + b"]" * 101, "the body has more than 100 levels of objects and lists"),
    ],
)
def test_a_refused_body_is_named_in_the_sentence(body: bytes, says: str) -> None:
    """What a text may be is tested with `decode_json`."""
    assert json_fault(body) == says


def answered(body: list[bytes], largest: int = 100) -> tuple[int, bytes]:
    """Return the status of a request whose body comes in pieces, and what the application got."""
    got, sent = [], []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        got.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Any:
        if not left:
            await asyncio.sleep(60)
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left) or stalls}

    async def send(message: Any) -> None:
        sent.append(message)

    left, stalls = list(body), body[-1] == b""
    asyncio.run(Guard(inner, LOCAL, largest)(scope(), receive, send))
    return sent[0]["status"], b"".join(got)


def test_a_body_is_read_whole_and_checked_before_the_application_sees_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Too large, not JSON, or too slow: the application is not called."""
    assert answered([b"[1,", b"2]"]) == (200, b"[1,2]")
    assert answered([b"x" * 60, b"x" * 60]) == (413, b"")
    assert answered([b"[1,"]) == (400, b"")
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.01)
    assert answered([b"[1,", b""]) == (408, b"")


# -- connections -----------------------------------------------------------------------------------


@contextmanager
def served(sessions: int) -> Iterator[int]:
    """Serve an application that says 200; yields the port."""

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    with listening("127.0.0.1", 0) as at:
        app = Guard(inner, LOCAL, 100)
        running = uvicorn.Server(config_of(app, sessions, log_config=None, lifespan="off"))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [at]}, daemon=True)
        thread.start()
        while not running.started and thread.is_alive():
            time.sleep(0.005)
        try:
            yield at.getsockname()[1]
        finally:
            running.should_exit = True
            thread.join()


def get(connection: socket.socket) -> bytes:
    """Send a request and return the first line of its answer; empty from a closed connection."""
    request = f"GET /t/{SECRET}/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    try:
        connection.sendall(request)
        return connection.recv(1_000).partition(b"\r\n")[0]
    except ConnectionError:
        return b""


def is_closed(connection: socket.socket) -> bool:
    """Return whether the server closes a connection; waits for it, as long as a test may last."""
    connection.settimeout(30)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_connections_without_a_request_keep_nobody_out() -> None:
    """Of more than there is room for, those that have waited longest are closed."""
    with served(sessions=1) as port:
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(4 + 64 + 20)]
        for one in idle[::2]:
            one.sendall(b"GET / HT")
        with closing(socket.create_connection(("127.0.0.1", port))) as late:
            assert get(late) == b"HTTP/1.1 200 OK"
        assert all(map(is_closed, idle[:20]))
        assert get(idle[-1]) == b"HTTP/1.1 200 OK"
        for one in idle:
            one.close()


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost:", None], ids=["", "half", "idle"])
def test_a_connection_is_closed_that_waits_for_long(
    sent: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its first request, in the middle of its head, and after an answer."""
    monkeypatch.setattr(listening_module, "HEAD_SECONDS", 0.2)
    with served(1) as port, closing(socket.create_connection(("127.0.0.1", port))) as one:
        if sent is None:
            assert get(one) == b"HTTP/1.1 200 OK"
        else:
            one.sendall(sent)
        assert is_closed(one)


def test_a_request_for_a_web_socket_has_no_body() -> None:
    """The server would wait for it for ever."""
    pytest.importorskip("websockets")
    head = ("Upgrade: websocket", "Connection: upgrade", "Content-Length: 2", "Host: 127.0.0.1")
    with served(1) as port, closing(socket.create_connection(("127.0.0.1", port))) as one:
        one.settimeout(30)
        one.sendall("\r\n".join(["GET / HTTP/1.1", *head, "", "{}"]).encode())
        assert one.recv(12) == b"HTTP/1.1 400"


def test_the_address_of_a_server_on_all_interfaces_is_not_loopback() -> None:
    """A client elsewhere could not use that."""
    with listening("127.0.0.1", 0) as at:
        port = at.getsockname()[1]
        assert address_of(at, "0.0.0.0") == f"http://{socket.gethostname()}:{port}"  # noqa: S104
        assert address_of(at, "::1") == f"http://[::1]:{port}"
