"""A server on loopback that takes batches in both forms, and can misbehave as real ones do."""

import json
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from attrs import define, field

from desim.jobs.keep.record_folder import RecordFolder
from policies.llm.wires.resending import GATES

#: The forms of batches by the API, and seconds between two looks in tests.
FORMS = ("chat", "messages")
FAST = ("--poll", "0.05")

#: Answers a request: HTTP status and body, by the body of the request.
Answer = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]


class Dropped(Exception):
    """The connection is closed without an answer."""


@define
class Batch:
    """A batch of the server.

    Attributes:
        id: Its identifier.
        requests: The bodies by `custom_id`.
        created: Seconds since 1970.
        metadata: What its creator gave.
        lines: Its results, once they were made.
        looks: How often its state was read.
    """

    id: str
    requests: dict[str, dict[str, Any]]
    created: float
    metadata: dict[str, Any]
    lines: list[dict[str, Any]] | None = None
    looks: int = 0


@define
class BatchStub:
    """The state of the server.

    Attributes:
        answer: Answers a request.
        takes: Seconds that a batch is in progress.
        drops: Creations of batches that are carried out and not answered.
        loses: Creations of batches that are neither carried out nor answered.
        expires: Batches of which every other request expires.
        twice: Whether every line comes twice.
        shuffles: Whether lines come in any order.
        unknown: Looks at a batch that get 404 first.
        finalizing: Looks at a batch that is finalizing first.
        refuses: Batches that are refused as a whole, with a code.
        url: The address, as a base URL.
        batches: All batches.
        paid: The `custom_id` of each request that was carried out, in order.
        lines: The lines of all uploaded files, and the elements of Message Batches.
        direct: Requests that came without a batch.
    """

    answer: Answer
    takes: float = 0.0
    drops: int = 0
    loses: int = 0
    expires: int = 0
    twice: bool = False
    shuffles: bool = False
    unknown: int = 0
    finalizing: int = 0
    refuses: list[str] = field(factory=list)
    url: str = ""
    batches: list[Batch] = field(factory=list)
    paid: list[str] = field(factory=list)
    lines: list[dict[str, Any]] = field(factory=list)
    direct: int = 0
    _files: dict[str, list[dict[str, Any]]] = field(factory=dict)
    _lock: Any = field(factory=threading.RLock)

    def handle(self, method: str, address: str, content: bytes) -> tuple[int, Any]:
        """Return the status and the body of a response."""
        parts = urlsplit(address)
        path = parts.path.removeprefix("/v1/").split("/")
        with self._lock:
            if method == "POST":
                return self._post(path, content)
            return self._get(path, parse_qs(parts.query))

    def _post(self, path: list[str], content: bytes) -> tuple[int, Any]:
        match path:
            case ["files"]:
                return self._upload(content)
            case ["batches"]:
                body = json.loads(content)
                lines = self._files[body["input_file_id"]]
                made = self._create({one["custom_id"]: one["body"] for one in lines}, body)
                return 200, self._openai(made)
            case ["messages", "batches"]:
                self.lines += (lines := json.loads(content)["requests"])
                made = self._create({one["custom_id"]: one["params"] for one in lines}, {})
                return 200, self._anthropic(made)
            case ["chat", "completions"] | ["messages"]:
                self.direct += 1
                return self.answer(json.loads(content))
        return 404, {"error": {"message": f"no path {'/'.join(path)}"}}

    def _get(self, path: list[str], query: dict[str, list[str]]) -> tuple[int, Any]:
        shown = self._anthropic if path[0] == "messages" else self._openai
        match path:
            case [*_, "batches"]:
                for one in self.batches:
                    one.looks += 1
                return 200, self._page([shown(one) for one in reversed(self.batches)], query)
            case [*_, "batches", name]:
                return self._state(name, shown)
            case ["files", name, "content"]:
                return 200, self._file(name)
            case [*_, name, "results"]:
                return 200, _jsonl(self._done(self._named(name)))
        return 404, {"error": {"message": f"no {path}"}}

    # -- both forms --------------------------------------------------------------------------------

    def _create(self, requests: dict[str, dict[str, Any]], body: dict[str, Any]) -> Batch:
        if self.loses:
            self.loses -= 1
            raise Dropped
        made = Batch(
            f"batch_{len(self.batches)}", requests, time.time(), body.get("metadata") or {}
        )
        self.batches.append(made)
        if self.drops:
            self.drops -= 1
            raise Dropped
        return made

    def _named(self, name: str) -> Batch:
        return next(one for one in self.batches if one.id == name)

    def _state(self, name: str, shown: Callable[[Batch], Any]) -> tuple[int, Any]:
        batch = self._named(name)
        batch.looks += 1
        if batch.looks <= self.unknown:
            return 404, {"error": {"message": "no such batch"}}
        return 200, shown(batch)

    def _ended(self, batch: Batch) -> bool:
        if batch.lines is not None:
            return True
        return time.time() - batch.created >= self.takes and batch.looks > (
            self.unknown + self.finalizing
        )

    def _done(self, batch: Batch) -> list[dict[str, Any]]:
        """Return the results of a batch in OpenAI's form or in Anthropic's, made once."""
        if batch.lines is None:
            expires, self.expires = self.expires > 0, max(0, self.expires - 1)
            batch.lines = []
            for place, (name, body) in enumerate(batch.requests.items()):
                batch.lines.append(self._line(name, body, expires=expires and place % 2 == 0))
            if self.twice:
                batch.lines += batch.lines
            if self.shuffles:
                random.Random(len(self.paid)).shuffle(batch.lines)  # noqa: S311 (an order)
        return batch.lines

    def _line(self, name: str, body: dict[str, Any], *, expires: bool) -> dict[str, Any]:
        if expires:
            fault = {"code": "batch_expired", "message": "not processed in time"}
            openai = {"id": f"r{name[:8]}", "custom_id": name, "response": None, "error": fault}
            return {**openai, "result": {"type": "expired"}}
        status, reply = self.answer(body)
        if status == 200:
            self.paid.append(name)
            result = {"type": "succeeded", "message": reply}
        else:
            result = {"type": "errored", "error": {"type": "error", **reply}}
        response = {"status_code": status, "request_id": "q", "body": reply}
        line = {"id": f"r{name[:8]}", "custom_id": name, "response": response, "error": None}
        return {**line, "result": result}

    # -- OpenAI's form -----------------------------------------------------------------------------

    def _upload(self, content: bytes) -> tuple[int, Any]:
        edge = content[: content.index(b"\r\n")]
        part = next(one for one in content.split(edge) if b'name="file"' in one)
        lines = [
            json.loads(line) for line in part.partition(b"\r\n\r\n")[2].split(b"\n") if line.strip()
        ]
        self.lines += lines
        name = f"file-{len(self._files)}"
        self._files[name] = lines
        return 200, {
            "id": name,
            "object": "file",
            "purpose": "batch",
            "filename": "x.jsonl",
            "bytes": len(content),
            "created_at": int(time.time()),
            "status": "processed",
        }

    def _file(self, name: str) -> bytes:
        """Return the output or error file of a batch, `BATCH-output` or `BATCH-error`."""
        batch, _, kind = name.rpartition("-")
        lines = [
            {key: line[key] for key in ("id", "custom_id", "response", "error")}
            for line in self._done(self._named(batch))
            if (_good(line) == (kind == "output"))
        ]
        return _jsonl(lines)

    def _openai(self, batch: Batch) -> dict[str, Any]:
        status, lines, errors = "in_progress", [], None
        if self.refuses and batch.id == self.batches[-1].id and batch.lines is None:
            batch.metadata["refused"] = self.refuses.pop(0)
        if code := batch.metadata.get("refused"):
            status = "failed"
            errors = {"object": "list", "data": [{"code": code, "message": f"because {code}"}]}
        elif self._ended(batch):
            status, lines = "completed", self._done(batch)
        elif self.finalizing and time.time() - batch.created >= self.takes:
            status = "finalizing"
        good = sum(map(_good, lines))
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "input_file_id": "file-0",
            "status": status,
            "created_at": int(batch.created),
            "errors": errors,
            "metadata": {k: v for k, v in batch.metadata.items() if k != "refused"},
            "output_file_id": f"{batch.id}-output" if good else None,
            "error_file_id": f"{batch.id}-error" if good < len(lines) else None,
            "request_counts": {
                "total": len(batch.requests),
                "completed": good,
                "failed": len(lines) - good,
            },
        }

    # -- Anthropic's form --------------------------------------------------------------------------

    def _anthropic(self, batch: Batch) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        ended = self._ended(batch)
        if ended:
            # A line that comes twice is one request.
            for line in {one["custom_id"]: one for one in self._done(batch)}.values():
                counts[line["result"]["type"]] += 1
        else:
            counts["processing"] = len(batch.requests)
        at = datetime.fromtimestamp(batch.created, UTC).isoformat()
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": at,
            "expires_at": at,
            "ended_at": at if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/messages/batches/{batch.id}/results" if ended else None,
        }

    def _page(self, data: list[dict[str, Any]], query: dict[str, list[str]]) -> dict[str, Any]:
        after = (query.get("after") or query.get("after_id") or [""])[0]
        ids = [one["id"] for one in data]
        start = ids.index(after) + 1 if after else 0
        most = min(3, int(query["limit"][0]))  # short pages, so that several are read
        page = data[start : start + most]
        return {"object": "list", "data": page, "has_more": start + most < len(data)}


def _good(line: dict[str, Any]) -> bool:
    return bool(line["response"]) and line["response"]["status_code"] == 200


def _jsonl(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@contextmanager
def batching(answer: Answer, **how: Any) -> Iterator[BatchStub]:
    """Serve batches whose requests are answered by a function."""
    stub = BatchStub(answer, **how)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])))

        def do_GET(self) -> None:
            self._answer(b"")

        def _answer(self, content: bytes) -> None:
            try:
                status, body = stub.handle(self.command, self.path, content)
            except Dropped:
                self.close_connection = True
                self.connection.close()
                return
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """Print nothing: clients are killed."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        GATES.pop(stub.url, None)


def shaped(body: dict[str, Any], words: str) -> dict[str, Any]:
    """Return a text as a message if the request is one of Messages, else as a completion."""
    if "max_tokens" in body:
        part = {"type": "text", "text": words, "citations": None}
        usage = {"input_tokens": 10, "output_tokens": 5, "service_tier": "batch"}
        return {
            "id": "msg",
            "type": "message",
            "role": "assistant",
            "model": "stub",
            "content": [part],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }
    said = {"role": "assistant", "content": words, "refusal": None}
    choice = {"index": 0, "finish_reason": "stop", "message": said, "logprobs": None}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [choice],
        "usage": usage,
    }


def ordered(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Answer in the Beer Game, in a way that depends on the request alone."""
    numbers = re.findall(r"\d+", json.dumps(body["messages"]))
    words = json.dumps({"order_qty": 100 + sum(map(int, numbers)) % 17})
    return 200, shaped(body, words)


def scores(out: Path) -> dict[str, Any]:
    """Return the parts of outcomes that do not depend on time, price and kills."""
    return {
        name: (o.score, o.ended, o.decisions, o.limit, o.usage.get("replies"), o.usage.get("calls"))
        for name, o in RecordFolder(out).outcomes().items()
    }
