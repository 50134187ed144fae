"""OpenAI's batches: a file of requests is uploaded, and a batch is created from it.

A batch names its round in its metadata, by which it is found again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from policies.llm.wires.batches.batch_form import (
    BatchServer,
    BatchState,
    as_list,
    as_object,
    batch_id,
    count_of,
    failure,
)
from policies.llm.wires.batches.round_file import RequestResult, SentRound
from policies.llm.wires.completion import Redact

#: The key of our round in a batch's metadata.
_ROUND = "desim_round"

#: States after which nothing of a batch is under way.
_ENDED = ("completed", "expired", "cancelled")

#: Errors of a whole batch after which it may be sent again.
_FULL = {"token_limit_exceeded"}

#: The status of a reply.
_SUCCESS = 200


@frozen
class OpenAIBatches:
    """Files and batches as OpenAI has them, and many servers likewise."""

    most_requests: int = 50_000
    most_bytes: int = 200_000_000

    def line(self, name: str, path: str, body: Mapping[str, Any]) -> bytes:
        """Return a line of the uploaded file."""
        line = {"custom_id": name, "method": "POST", "url": f"/v1/{path}", "body": body}
        return json.dumps(line).encode() + b"\n"

    def create(self, server: BatchServer, sent: SentRound, lines: Sequence[bytes]) -> str:
        """Upload the file, and create the batch."""
        file = batch_id(_uploaded(server, f"{sent.id}.jsonl", b"".join(lines)))
        body = {
            "input_file_id": file,
            "endpoint": json.loads(lines[0])["url"],
            "completion_window": "24h",
            "metadata": {_ROUND: sent.id},
        }
        return batch_id(server.object("POST", "batches", json.dumps(body).encode()))

    def find(
        self,
        server: BatchServer,
        sent: SentRound,
        requests: set[str],  # noqa: ARG002 (the metadata say it)
        known: set[str],  # noqa: ARG002
    ) -> str | None:
        """Return the batch whose metadata name the round."""
        for batch in server.listed("batches", "after", 100):
            if as_object(batch.get("metadata")).get(_ROUND) == sent.id:
                return batch_id(batch)
            if 0 < count_of(batch.get("created_at")) < sent.begun - _CLOCKS:
                return None
        return None

    def state(self, server: BatchServer, batch: str) -> BatchState:
        """Return the state of a batch; one of a state that is not known is under way."""
        found = server.object("GET", f"batches/{batch}")
        status, counts = found.get("status"), as_object(found.get("request_counts"))
        done = count_of(counts.get("completed")) + count_of(counts.get("failed"))
        named = (found.get("output_file_id"), found.get("error_file_id"))
        if status != "failed":
            files = tuple(batch_id({"id": file}) for file in named if file)
            return BatchState(status in _ENDED, done, files)
        errors = [as_object(each) for each in as_list(as_object(found.get("errors")).get("data"))]
        why = "; ".join(str(error.get("message") or error.get("code")) for error in errors[:3])
        full = any(error.get("code") in _FULL for error in errors)
        refused = f"refused the batch: {why or 'without a reason'}"
        return BatchState(ended=True, refused=refused, fate="failed" if full else "refused")

    def results(
        self,
        server: BatchServer,
        batch: str,  # noqa: ARG002 (the state names the files)
        state: BatchState,
        requests: int,
    ) -> Iterator[RequestResult]:
        """Yield the lines of the file of outputs and of that of errors, where there are such."""
        for file in state.files:
            for line in server.results(f"files/{file}/content", requests):
                yield _result(line, server.endpoint.redacted)


#: The head of a part of a form.
_PART = "Content-Disposition: form-data"

#: Seconds by which the clock of a server may differ from ours.
_CLOCKS = 60.0


def _uploaded(server: BatchServer, name: str, content: bytes) -> Mapping[str, Any]:
    """Upload a file of requests; one that no batch is created from costs nothing."""
    edge = f"desim-{name}"
    body = b"".join(
        (
            f'--{edge}\r\n{_PART}; name="purpose"\r\n\r\nbatch\r\n'.encode(),
            f'--{edge}\r\n{_PART}; name="file"; filename="{name}"\r\n'.encode(),
            b"Content-Type: application/jsonl\r\n\r\n",
            content,
            f"\r\n--{edge}--\r\n".encode(),
        )
    )
    return server.object("POST", "files", body, media=f"multipart/form-data; boundary={edge}")


def _result(line: Mapping[str, Any], redact: Redact) -> RequestResult:
    name, response = str(line.get("custom_id")), as_object(line.get("response"))
    # An error of null may be a failure: the status of the response says it.
    status, body = count_of(response.get("status_code")), as_object(response.get("body"))
    if status == _SUCCESS:
        return RequestResult(name, "reply", body=json.dumps(body).encode())
    return failure(name, status, body or line.get("error"), redact)
