"""Anthropic's Message Batches: one request holds all, and nothing in it can name our round.

A batch whose creation was not answered is found by its time, its size and, once it has ended, by
the identifiers in its results.
"""

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from policies.llm.wires.batches.batch_form import (
    BatchServer,
    BatchState,
    NotYet,
    as_object,
    batch_id,
    count_of,
    failure,
)
from policies.llm.wires.batches.round_file import RequestResult, SentRound
from policies.llm.wires.completion import Redact

#: The path of batches below the server's address.
_PATH = "v1/messages/batches"

#: Seconds by which the clock of a server may differ from ours.
_CLOCKS = 60.0

#: Kinds of results of requests that were not processed.
_UNPROCESSED = ("expired", "canceled")


@frozen
class MessageBatches:
    """Message Batches as Anthropic has them."""

    most_requests: int = 100_000
    most_bytes: int = 256_000_000

    def line(self, name: str, path: str, body: Mapping[str, Any]) -> bytes:  # noqa: ARG002 (one path)
        """Return an element of the list of requests."""
        return json.dumps({"custom_id": name, "params": body}).encode()

    def create(self, server: BatchServer, sent: SentRound, lines: Sequence[bytes]) -> str:  # noqa: ARG002
        """Create the batch."""
        body = b'{"requests": [' + b", ".join(lines) + b"]}"
        return batch_id(server.object("POST", _PATH, body))

    def find(
        self, server: BatchServer, sent: SentRound, requests: set[str], known: set[str]
    ) -> str | None:
        """Return the batch of the round's time and size whose results have its identifiers."""
        running = False
        for batch in server.listed(_PATH, "after_id", 1000):
            name, created = batch_id(batch), _time(batch.get("created_at"))
            if created is not None and created < sent.begun - _CLOCKS:
                break
            if name in known or _total(batch) != len(requests):
                continue
            if batch.get("processing_status") != "ended":
                running = True
            elif requests & {one.id for one in self._lines(server, name, len(requests))}:
                return name
        if running:
            raise NotYet
        return None

    def state(self, server: BatchServer, batch: str) -> BatchState:
        """Return the state of a batch."""
        found = server.object("GET", f"{_PATH}/{batch}")
        processing = count_of(as_object(found.get("request_counts")).get("processing"))
        ended = found.get("processing_status") == "ended"
        return BatchState(ended, max(0, _total(found) - processing))

    def results(
        self,
        server: BatchServer,
        batch: str,
        state: BatchState,  # noqa: ARG002 (the path follows from the id)
        requests: int,
    ) -> Iterator[RequestResult]:
        """Yield the results."""
        return self._lines(server, batch, requests)

    def _lines(self, server: BatchServer, batch: str, requests: int) -> Iterator[RequestResult]:
        # Not the address in `results_url`, to which the key would be sent wherever it is.
        lines = server.results(f"{_PATH}/{batch}/results", requests)
        return (_result(line, server.endpoint.redacted) for line in lines)


def _total(batch: Mapping[str, Any]) -> int:
    return sum(map(count_of, as_object(batch.get("request_counts")).values()))


def _time(text: Any) -> float | None:
    """Return a time as RFC 3339 writes it, in seconds since 1970; None for any other text."""
    try:
        return dt.datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError):
        return None


def _result(line: Mapping[str, Any], redact: Redact) -> RequestResult:
    name, result = str(line.get("custom_id")), as_object(line.get("result"))
    kind = result.get("type")
    if kind == "succeeded":
        return RequestResult(name, "reply", body=json.dumps(result.get("message")).encode())
    if kind in _UNPROCESSED:
        return RequestResult(name, "unprocessed", str(kind))
    return failure(name, 0, result.get("error"), redact)
