"""A scripted server on loopback that keeps the requests.

It answers by the API that the path of a request names: chat completions, Responses, Messages.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, evolve, field

from policies.llm.wires.calling import GATES

#: The usage that a scripted reply reports by default.
USAGE = {"prompt_tokens": 10, "completion_tokens": 5}


@define
class Served:
    """One HTTP response.

    Attributes:
        body: Bytes that are sent unchanged, or an object that is written as JSON.
        status: HTTP status.
        headers: Further headers.
        slow: Seconds before the response.
        cut: Close the connection in the middle of the body.
        before: Called before the response is sent; may wait for other requests.
        raw: Writes whatever it likes to the connection, in place of a response.
    """

    body: Any = field(factory=dict)
    status: int = 200
    headers: dict[str, str] = field(factory=dict)
    slow: float = 0.0
    cut: bool = False
    before: Callable[[], object] | None = None
    raw: Callable[[socket.socket], None] | None = None


def message(usage: Any = USAGE, finish: str = "stop", **fields: Any) -> Served:
    """Return a completion with one message."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **fields}}
    body = {"id": "x", "object": "chat.completion", "model": "stub", "choices": [choice]}
    return Served(body | ({"usage": usage} if usage is not None else {}))


def text(words: str | None, **more: Any) -> Served:
    """Return a completion with text."""
    return message(content=words, **more)


def call(*calls: tuple[str, Any], **more: Any) -> Served:
    """Return a completion with tool calls: name and arguments, an object or its text."""
    listed_calls = [
        {
            "id": f"id{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for number, (name, given) in enumerate(calls)
    ]
    return message(content=None, tool_calls=listed_calls, finish="tool_calls", **more)


Script = Callable[[int, dict[str, Any]], Served]


@define
class Stub:
    """The state of the server.

    Attributes:
        script: Returns the response to the n-th request, from 0, and its body.
        requests: The bodies of all requests.
        times: When clients connected, seconds.
        paths: Their paths.
        keys: Their authorization headers, or keys.
        url: The address that it listens on, as a base URL.
    """

    script: Script
    requests: list[dict[str, Any]] = field(factory=list)
    times: list[float] = field(factory=list)
    paths: list[str] = field(factory=list)
    keys: list[str] = field(factory=list)
    url: str = ""
    _lock: Any = field(factory=threading.Lock)

    def next(self, body: dict[str, Any], path: str, key: str) -> Served:
        """Keep a request and return its response, in the form of its API."""
        with self._lock:
            self.requests.append(body)
            self.paths.append(path)
            self.keys.append(key)
            served = self.script(len(self.requests) - 1, body)
        return evolve(served, body=as_chat(served.body))


def as_chat(completion: Any) -> Any:
    """Return a chat completion with the fields that it lacks; anything else as it is."""
    choices = completion.get("choices") if isinstance(completion, Mapping) else None
    if not choices or not isinstance(choices[0].get("message"), Mapping):
        return completion
    body = {"created": 1763856000, **completion}
    match completion.get("usage"):
        case {"prompt_tokens": int(read), "completion_tokens": int(written), **rest}:
            counted = {"prompt_tokens": read, "completion_tokens": written, **rest}
            body["usage"] = counted | {"total_tokens": read + written}
    return body


def listed(*answers: Served) -> Script:
    """Return the responses in order; the last one is repeated."""
    return lambda number, _: answers[min(number, len(answers) - 1)]


@contextmanager
def serving(*answers: Served | Script) -> Iterator[Stub]:
    """Serve responses in order, or by a function of the request's number and body."""
    first = answers[0]
    stub = Stub(listed(*answers) if isinstance(first, Served) else first)  # type: ignore[arg-type]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            stub.times.append(time.monotonic())
            super().setup()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers.get("Authorization") or self.headers.get("x-api-key") or ""
            _send(self, stub.next(body, self.path, key))

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        # Another stub may get the same port.
        for address in (stub.url, stub.url.removesuffix("/v1")):
            GATES.pop(address, None)


class _Server(ThreadingHTTPServer):
    """A server of which clients may be killed."""

    def handle_error(self, *_: Any) -> None:
        """Print nothing: a client that is gone is no fault of the server's."""


def _send(handler: BaseHTTPRequestHandler, served: Served) -> None:
    if served.before:
        served.before()
    time.sleep(served.slow)
    if served.raw:
        handler.close_connection = True
        served.raw(handler.connection)
        return
    raw = served.body if isinstance(served.body, bytes) else json.dumps(served.body).encode()
    try:
        handler.send_response(served.status)
        for name, value in served.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        handler.wfile.write(raw[: len(raw) // 2] if served.cut else raw)
    except ConnectionError:
        pass  # the client has closed the connection after its timeout
    if served.cut:
        handler.wfile.flush()
        handler.close_connection = True
        handler.connection.close()
