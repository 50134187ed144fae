"""Requests that a server on loopback must refuse, or answer without harm, as the bytes of HTTP/1.1.

They are sent by `attack_servers`. A request is refused by a status from 400 to 499 or by the end of
its connection; one that is only strange may also be answered.
"""

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

#: Bytes of a body that every server refuses.
_LARGE = 5 * 1024 * 1024


@frozen
class Place:
    """A server's address, and the requests that it accepts.

    Attributes:
        host: The address and port, as in the header Host.
        path: A path that takes JSON by POST.
        headers: Headers of a valid request, the token included.
        body: The JSON of a good request.
    """

    host: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    def request(self, body: bytes = b"", method: str = "POST", **changed: str | None) -> bytes:
        """Return a request; a header is named with `_` for `-`, and None leaves it out."""
        path = changed.pop("path", self.path)
        headers: dict[str, str | None] = {
            "host": self.host,
            **{name.lower(): value for name, value in self.headers.items()},
            "content-type": "application/json",
            "content-length": str(len(body)),
            **{name.replace("_", "-"): value for name, value in changed.items()},
        }
        lines = [f"{name}: {value}" for name, value in headers.items() if value is not None]
        return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode("latin-1") + body

    def good(self) -> bytes:
        """Return a request that is answered."""
        return self.request(json.dumps(self.body).encode())


@frozen
class Request:
    """A hostile request.

    Attributes:
        kind: The fault of the request.
        data: The bytes that are sent.
        refused: Whether it must be refused; otherwise any status below 500 will do.
    """

    kind: str
    data: bytes
    refused: bool = True


#: The headers that open a web socket.
_SOCKET = {
    "upgrade": "websocket",
    "connection": "upgrade",
    "sec_websocket_key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "sec_websocket_version": "13",
}

Maker = Callable[[Place, random.Random], bytes]


def _with(place: Place, value: bytes) -> bytes:
    """Return a good request in whose body a value was put."""
    return place.request(json.dumps({**place.body, "x": 0}).encode().replace(b'"x": 0', value))


def _malformed(place: Place, chance: random.Random) -> bytes:
    whole = json.dumps(place.body).encode()
    cut = chance.randrange(1, len(whole))
    return place.request(
        chance.choice([whole[:cut], whole + b"}", whole[:cut] + b"\xff" + whole[cut:], b"\0" * 9])
    )


def _deep(place: Place, chance: random.Random) -> bytes:
    levels = chance.choice([101, 150, 300, 600, 900, 990, 1_500, 10_000, 200_000])
    opening, closing = chance.choice([(b"[", b"]"), (b'{"a":', b"}")])
    closed = chance.random() < 0.8
    inside = opening * levels + b"1" + closing * levels * closed
    return chance.choice([_with(place, b'"x": ' + inside), place.request(inside)])


def _doubled(place: Place, chance: random.Random) -> bytes:
    key = chance.choice([*place.body, "x", "\u00e9"])
    return _with(place, f'"x": 1, {json.dumps(key)}: 1, {json.dumps(key)}: 2'.encode())


def _no_number(place: Place, chance: random.Random) -> bytes:
    return _with(place, b'"x": ' + chance.choice([b"NaN", b"Infinity", b"-Infinity"]))


def _huge_number(place: Place, chance: random.Random) -> bytes:
    digits = chance.choice([5_000, 50_000, 500_000])
    return _with(place, b'"x": ' + chance.choice([b"9" * digits, b"1e999", b"-1" + b"0" * digits]))


def _huge_body(place: Place, chance: random.Random) -> bytes:
    body = chance.choice([b"x", b"[", b"\0"]) * _LARGE
    if chance.random() < 0.5:
        return place.request(body)
    chunk = b"%x\r\n%s\r\n" % (1 << 16, body[: 1 << 16])
    head = place.request(content_length=None, transfer_encoding="chunked")
    return head + chunk * (_LARGE >> 16) + b"0\r\n\r\n"


def _wrong_length(place: Place, chance: random.Random) -> bytes:
    length = chance.choice(["-1", "1e3", "9" * 30, "0x10", "1, 2", ""])
    return place.request(b"{}", content_length=length)


def _wrong_host(place: Place, chance: random.Random) -> bytes:
    hosts = ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", None, "[::2]", "a" * 5_000]
    return place.request(json.dumps(place.body).encode(), host=chance.choice(hosts))


def _wrong_origin(place: Place, chance: random.Random) -> bytes:
    origins = [
        "http://evil.example",
        "null",
        f"http://{place.host}.evil.example",
        "http://[",
        "\0x",
    ]
    return place.request(json.dumps(place.body).encode(), origin=chance.choice(origins))


def _wrong_token(place: Place, chance: random.Random) -> bytes:
    right = place.headers["Authorization"]
    wrong = [None, "", "Bearer", "Bearer ", f"{right}x", right[:-1], f"Basic {right[7:]}", "\xe9"]
    path = chance.choice([place.path, f"/t/{place.path}", f"/t/x{place.path}", "/t//"])
    body = json.dumps(place.body).encode()
    return place.request(body, path=path, authorization=chance.choice(wrong))


def _wrong_path(place: Place, chance: random.Random) -> bytes:
    paths = ["/..%2f..%2fetc/passwd", "//", "/%00", "/%ff%fe", "/" + "a" * 60_000, "/none", "*"]
    return place.request(b"{}", path=chance.choice(paths))


def _wrong_method(place: Place, chance: random.Random) -> bytes:
    method = chance.choice(["PUT", "PATCH", "TRACE", "CONNECT", "BREW", "\x01", "post"])
    return place.request(b"{}", method)


def _no_http(place: Place, chance: random.Random) -> bytes:
    garbage = [
        chance.randbytes(3_000),
        b"\x16\x03\x01" + chance.randbytes(300),
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nhost: " + b"a" * 200_000 + b"\r\n\r\n",
        place.request(b"{}", transfer_encoding="gzip, chunked"),
        place.request(b"zz\r\n{}\r\n", content_length=None, transfer_encoding="chunked"),
    ]
    return chance.choice(garbage)


def _strange(place: Place, chance: random.Random) -> bytes:
    values = [None, True, -1, 1.5, 2**70, "\ud800", "x" * 10_000, [], [[]] * 50, {}, {"": {}}]
    changed: Any = dict(place.body)
    for key in chance.sample([*changed, "method", "params", "data", "type"], 2):
        changed[key] = chance.choice(values)
    return place.request(json.dumps(chance.choice([changed, [changed] * 3, *values])).encode())


def _strange_head(place: Place, chance: random.Random) -> bytes:
    body = json.dumps(place.body).encode()
    heads: list[dict[str, str | None]] = [
        {"content_type": "text/plain"},
        {"content_type": None},
        {"accept": "text/html"},
        {"accept": "a" * 1_000},
        {"mcp_session_id": "x" * 1_000},
        {"mcp_protocol_version": "1999-01-01"},
        {"upgrade": "websocket", "connection": "upgrade"},
        {"upgrade": "websocket", "connection": "upgrade", "sec_websocket_key": "x"},
        {**_SOCKET, "sec_websocket_key": "\xe9"},
        {**_SOCKET, "sec_websocket_version": "12"},
        {**_SOCKET, "sec_websocket_extensions": "permessage-deflate; x=" + "9" * 2_000},
        {"upgrade": "h2c", "connection": "upgrade"},
        {"expect": "100-continue"},
        {"cookie": "a=b;" * 1_000},
        {"range": "bytes=0-"},
    ]
    return place.request(body, chance.choice(["POST", "GET", "DELETE"]), **chance.choice(heads))


def _made(kind: str, make: Maker, *, refused: bool) -> Callable[[Place, random.Random], Request]:
    return lambda place, chance: Request(kind, make(place, chance), refused)


#: The functions that make a request of each kind.
KINDS: Mapping[str, Callable[[Place, random.Random], Request]] = {
    kind: _made(kind, make, refused=refused)
    for kind, make, refused in (
        ("malformed JSON", _malformed, True),
        ("deep nesting", _deep, True),
        ("a key twice", _doubled, True),
        ("NaN, infinity", _no_number, True),
        ("huge number", _huge_number, True),
        ("huge body", _huge_body, True),
        ("wrong length", _wrong_length, True),
        ("wrong Host", _wrong_host, True),
        ("wrong Origin", _wrong_origin, True),
        ("wrong token", _wrong_token, True),
        ("wrong path", _wrong_path, True),
        ("wrong method", _wrong_method, True),
        ("no HTTP", _no_http, True),
        ("strange JSON", _strange, False),
        ("strange head", _strange_head, False),
    )
}

#: The kinds whose bodies are wrong, not their heads.
BODIES = (
    "malformed JSON",
    "deep nesting",
    "a key twice",
    "NaN, infinity",
    "huge number",
    "huge body",
    "strange JSON",
)
