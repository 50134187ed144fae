"""A server that speaks HTTP badly on purpose: each mode is a function that writes to a socket."""

import gzip
import json
import os
import socket
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any

from support.stub import Served, serving

#: The key that the client sends, which no output may hold.
KEY = "sk-hostile-0123456789/abc"

Mode = Callable[[socket.socket], None]

MIB = 1024**2


def completion(content: Any = '{"order_qty": 7}', **more: Any) -> dict[str, Any]:
    """Return a completion with one message."""
    reply = {"role": "assistant", "content": content} | more.pop("message", {})
    choice = {"index": 0, "finish_reason": "stop", "message": reply}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return {"object": "chat.completion", "choices": [choice], "usage": usage} | more


def calls(count: int, arguments: Any = '{"quantity": 7}', name: Any = "order") -> dict[str, Any]:
    """Return a completion with tool calls."""
    one = {"type": "function", "function": {"name": name, "arguments": arguments}}
    listed = [one | {"id": f"id{number}"} for number in range(count)]
    return completion(None, message={"tool_calls": listed})


def sent(
    body: Any,
    status: str = "200 OK",
    *headers: str,
    length: int | str | None = None,
) -> Mode:
    """Return a mode that sends a whole response: bytes, or an object as JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return written(
        head(status, *headers, f"Content-Length: {len(raw) if length is None else length}"), raw
    )


def head(status: str, *headers: str) -> bytes:
    """Return a status line and headers."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", "Connection: close", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def written(*parts: bytes) -> Mode:
    """Return a mode that writes bytes."""

    def mode(client: socket.socket) -> None:
        for part in parts:
            client.sendall(part)

    return mode


def endless(first: bytes, part: bytes, pause: float = 0.0) -> Mode:
    """Return a mode that writes the same bytes until the client is gone."""

    def mode(client: socket.socket) -> None:
        client.sendall(first)
        for each in repeat(part):
            client.sendall(each)
            time.sleep(pause)

    return mode


def dripping(whole: bytes) -> Mode:
    """Return a mode that writes a byte a second."""

    def mode(client: socket.socket) -> None:
        for number in range(len(whole)):
            client.sendall(whole[number : number + 1])
            time.sleep(1)

    return mode


def resetting(client: socket.socket) -> None:
    """Reset the connection instead of closing it."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(client.detach())  # the server would announce the end first


def silent(_: socket.socket) -> None:
    """Send nothing for a minute."""
    time.sleep(60)


def raw_json(text: str) -> Mode:
    """Return a mode that sends a text as the body."""
    return sent(text.encode())


def reply_bytes(content: bytes) -> Mode:
    """Return a mode whose completion has these bytes as the text."""
    whole = json.dumps(completion("HERE")).encode()
    return sent(whole.replace(b"HERE", content))


def escaped(text: str) -> str:
    """Write every character of a text as JSON may."""
    return "".join(f"\\u{ord(c):04x}" for c in text)


def percent(text: str) -> str:
    """Write every character of a text as an address may."""
    return "".join(f"%{ord(c):02X}" for c in text)


def _bomb(wbits: int) -> bytes:
    """Compress 512 MiB of spaces, one of them so that its form can be repeated."""
    zipper = zlib.compressobj(9, zlib.DEFLATED, wbits)
    first, again = (zipper.compress(b" " * MIB) + zipper.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * 511


def bombing(encoding: str, wbits: int) -> Mode:
    """Return a mode that sends a small body that unfolds to 512 MiB."""

    def mode(client: socket.socket) -> None:
        sent(_bomb(wbits), "200 OK", f"Content-Encoding: {encoding}")(client)

    return mode


GZIP = "Content-Encoding: gzip"
CHUNKED = "Transfer-Encoding: chunked"
HUGE = "9" * 4000
OK = json.dumps(completion()).encode()
#: The beginning of a gzip stream, and an empty stored block that is not its last.
GZIP_HEAD, EMPTY_BLOCK = gzip.compress(b"")[:10], b"\x00\x00\x00\xff\xff"
DEEP = "[" * 100_000


#: What the server does with a request, by name.
MODES: dict[str, Mode] = {
    "endless body": endless(head("200 OK"), b"x" * MIB),
    "endless chunks": endless(head("200 OK", CHUNKED), b"10000\r\n" + b" " * 65536 + b"\r\n"),
    "endless error body": endless(head("500 Broken"), b"x" * MIB),
    "body of one byte a second": dripping(head("200 OK") + OK),
    "headers of one byte a second": dripping(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1000),
    "one byte chunks": endless(head("200 OK", CHUNKED), b"1\r\n \r\n", 0.01),
    "gzip bomb": bombing("gzip", zlib.MAX_WBITS | 16),
    "deflate bomb": bombing("deflate", zlib.MAX_WBITS),
    "gzip that unfolds to nothing": endless(head("200 OK", GZIP) + GZIP_HEAD, EMPTY_BLOCK * 9999),
    "redirect to another host": sent(b"", "302 Found", "Location: http://127.0.0.2:1/v1"),
    "redirect that keeps the method": sent(b"", "307 Moved", "Location: http://127.0.0.2:1/v1"),
    "redirect loop": sent(b"", "308 Moved", "Location: /v1/chat/completions"),
    "redirect to nowhere": sent(b"", "301 Moved"),
    "redirect with the key": sent(b"", "302 Found", f"Location: http://{percent(KEY)}.example/"),
    "HTML": sent(b"<!DOCTYPE html><title>Sign in</title>"),
    "truncated JSON": sent(OK[:-9]),
    "body shorter than its length": sent(OK, length=len(OK) + 9),
    "body longer than its length": sent(OK, length=9),
    "negative length": sent(OK, length=-1),
    "two lengths": sent(OK, "200 OK", "Content-Length: 3"),
    "length that is a word": sent(OK, length="many"),
    "chunk that is garbage": written(head("200 OK", CHUNKED), b"zz\r\n\x00\xff\r\n"),
    "chunk of 2**64 bytes": written(head("200 OK", CHUNKED), b"FFFFFFFFFFFFFFFF\r\nx"),
    "huge header": written(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 8 * MIB),
    "endless headers": endless(b"HTTP/1.1 200 OK\r\n", b"X-Y: z\r\n" * 999),
    "endless 100 Continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 99),
    "101 Switching Protocols": written(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
    "not HTTP": written(b"\x16\x03\x01\x02\x00\x01" * 99),
    "SSH": written(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "invalid UTF-8 in the text": reply_bytes(b'{\\"order_qty\\": 7} \xff\xfe'),
    "invalid UTF-8 elsewhere": sent(OK.replace(b"stop", b"\xc3(")),
    "a surrogate as bytes": reply_bytes(b"\xed\xa0\x80"),
    "a lone surrogate": reply_bytes(b'{\\"order_qty\\": 7} \\ud800'),
    "a lone surrogate in arguments": sent(calls(1, '{"quantity": 7, "x": "\ud800"}')),
    "NaN in usage": sent(OK.replace(b"10", b"NaN")),
    "NaN as quantity": sent(completion('{"order_qty": NaN}')),
    "infinity as quantity": sent(completion('{"order_qty": 1e999}')),
    "nested body": sent(DEEP.encode()),
    "nested message": raw_json(f'{{"choices": [{{"message": {DEEP}'),
    "nested text": sent(completion(DEEP + "{" * 1000)),
    "nested arguments": sent(calls(1, '{"quantity":' + DEEP)),
    "braces": sent(completion("{" * 3_000_000)),
    "backslashes": sent(completion("\\" * 1_500_000)),
    "100,000 tool calls": sent(calls(30_000)),
    "100,000 tool calls, too large": sent(calls(100_000)),
    "a million choices": raw_json('{"choices": [' + "[]," * 1_300_000 + "[]]}"),
    "huge integer as quantity": sent(completion(f'{{"order_qty": {HUGE}}}')),
    "huge integer in arguments": sent(calls(1, f'{{"quantity": {HUGE}}}')),
    "integer that Python refuses": sent(completion(f'{{"order_qty": {HUGE * 2}}}')),
    "huge token counts": raw_json(json.dumps(completion()).replace("10", HUGE)),
    "negative token counts": raw_json(json.dumps(completion()).replace("10", "-10")),
    "duplicate keys": raw_json('{"choices": [], ' + json.dumps(completion())[1:]),
    "duplicate quantity": sent(completion('{"order_qty": 1, "order_qty": 2}')),
    "429, wait 10**9 s": sent({}, "429 Slow", "Retry-After: 1000000000"),
    "429, wait -1 s": sent({}, "429 Slow", "Retry-After: -1"),
    "429, wait a while": sent({}, "429 Slow", "Retry-After: a while"),
    "429, wait nan": sent({}, "429 Slow", "Retry-After: nan"),
    "429, wait until 9999": sent({}, "429 S", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"),
    "500": sent({"error": {"message": "broken"}}, "500 Broken"),
    "error without text": sent(b"", "503 Busy"),
    "error that is a list": sent([{"error": []}], "400 Bad"),
    "error with control characters": sent({"error": "\x1b[2J\x07\r\n" * 99}, "400 Bad"),
    "connection reset": resetting,
    "connection closed": written(),
    "silence": silent,
    "empty body": sent(b""),
    "null": sent(b"null"),
    "null fields": sent(completion(None, usage=None, id=None)),
    "null message": sent({"choices": [{"message": None}]}),
    "wrong types": sent(completion(7, message={"tool_calls": "x", "refusal": []}, usage=[1])),
    "calls of wrong types": sent(calls(1, 7, name=[])),
    "call of no such tool": sent(calls(1, "{}", name="x" * 100_000)),
    "byte order mark": sent(b"\xef\xbb\xbf" + OK),
    "UTF-16": sent(json.dumps(completion()).encode("utf-16")),
    "204": sent(b"", "204 No Content"),
    "304": sent(b"", "304 Not Modified"),
    "418": sent({"error": "teapot"}, "418 Teapot"),
    "599": sent({}, "599 Strange"),
    "999": sent(OK, "999 Strange"),
    "000": sent(OK, "000 Strange"),
    "plain that says gzip": sent(OK, "200 OK", GZIP),
    "gzip that says br": sent(gzip.compress(OK), "200 OK", "Content-Encoding: br"),
    "gzip twice": sent(gzip.compress(gzip.compress(OK)), "200 OK", "Content-Encoding: gzip, gzip"),
    "truncated gzip": sent(gzip.compress(OK)[:-20], "200 OK", GZIP),
    "key in an error": sent({"error": {"message": f"bad key {KEY}"}}, "401 No"),
    "key, escaped": sent(f'{{"e": "{escaped(KEY)}"}}'.encode(), "401 No"),
    "key, escaped twice": sent({"e": json.dumps(KEY).replace("/", "\\/")}, "401 No"),
    "key, in percent": sent(f"bad key {percent(KEY)}".encode(), "401 No"),
    "key in a body that is no completion": sent(f"key {KEY}".encode()),
    "key in the text": sent(completion(f'{{"order_qty": 7, "note": "{KEY}"}}')),
    "key in the text, escaped": sent(completion(f'{{"order_qty": 7, "x": "{escaped(KEY)}"}}')),
    "key in a call": sent(calls(1, {"quantity": 7, "x": KEY}, name=KEY)),
    "key in the status line": sent({}, f"401 {KEY}"),
}  # fmt: skip


@contextmanager
def attacking(mode: Mode) -> Iterator[tuple[str, list[float]]]:
    """Serve every request so; yield the base URL, and the times of the connections."""
    with serving(Served(raw=mode)) as stub:
        yield stub.url, stub.times
