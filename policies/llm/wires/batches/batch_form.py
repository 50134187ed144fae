"""The form in which an API takes batches, and the server that takes them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from attrs import frozen

from desim.schema.untrusted import refuse_constant
from policies.llm.wires.batches.round_file import Fate, RequestResult, SentRound
from policies.llm.wires.completion import Redact
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.fault import ServerError, printable
from policies.llm.wires.post import MAX_BODY, Exchange
from policies.llm.wires.wire import NoReply

#: Seconds for one exchange: an upload of a whole round, or the results of one.
_SECONDS = 600.0

#: Bytes of the results of a batch that are read at most.
_MOST_RESULTS = 1024**3

#: Entries of a list of batches that are looked through at most.
_LISTED = 2_000


@frozen
class BatchState:
    """The state of a batch at the server.

    Attributes:
        ended: Whether no request of it is under way, so that results can be read.
        done: Requests that have ended; 0 where the server does not say.
        files: Where the results are.
        refused: Why the server took none of its requests; empty if it took them.
        fate: What becomes of the requests of a batch that was not taken.
    """

    ended: bool
    done: int = 0
    files: tuple[str, ...] = ()
    refused: str = ""
    fate: Fate = "refused"


class NotYet(Exception):
    """Whether a round was created cannot be said yet, as batches that may be it are under way."""


class BatchRefused(Exception):
    """The server has not created a batch; the argument says why."""


@frozen
class BatchServer:
    """The server of batches, reached without automatic resends.

    Attributes:
        endpoint: Its address and key, and the form of a call.
    """

    endpoint: Endpoint

    def object(self, method: str, path: str, body: bytes = b"", **how: Any) -> Mapping[str, Any]:
        """Return the JSON object of a response.

        Raises:
            BatchRefused: The server has refused the request, so that it has no effect.
            NoReply: It is not known whether the request had an effect.
        """
        content = self.content(method, path, body, **how)
        try:
            found = json.loads(content, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, Mapping):
            raise NoReply(f"sent no JSON object for {path}")
        return found

    def content(self, method: str, path: str, body: bytes = b"", **how: Any) -> bytes:
        """Return the body of a response, likewise."""
        exchange = Exchange(method=method, once=True, **how)
        response = self.endpoint.exchanged(path, body, _SECONDS, exchange)
        try:
            self.endpoint.check_status(response)
        except NoReply as fault:
            if fault.final:
                raise BatchRefused(str(fault)) from None
            raise
        return response.content

    def results(self, path: str, requests: int) -> Iterator[Mapping[str, Any]]:
        """Yield the lines of a file of results.

        Raises:
            BatchRefused: The file cannot be read now or later.
            NoReply: It cannot be read now.
        """
        most = min(_MOST_RESULTS, MAX_BODY * (requests + 1))
        for line in self.content("GET", path, most=most).splitlines():
            if line.strip():
                yield _result_line(line)

    def listed(self, path: str, after: str, limit: int) -> Iterator[Mapping[str, Any]]:
        """Yield the batches of a list, the newest first.

        Args:
            path: The path of the list.
            after: The parameter that names the batch before the next page.
            limit: Batches of a page.
        """
        query, seen = f"?limit={limit}", 0
        while True:
            page = self.object("GET", f"{path}{query}")
            batches = [one for one in as_list(page.get("data")) if isinstance(one, Mapping)]
            yield from batches
            seen += len(batches)
            if not (batches and page.get("has_more")) or seen >= _LISTED:
                return
            query = f"?limit={limit}&{after}={batch_id(batches[-1])}"


class BatchForm(Protocol):
    """An API of batches."""

    @property
    def most_requests(self) -> int:
        """Requests of a batch, at most."""
        ...

    @property
    def most_bytes(self) -> int:
        """Bytes of a batch as it is sent, at most."""
        ...

    def line(self, name: str, path: str, body: Mapping[str, Any]) -> bytes:
        """Return a request of a batch.

        Args:
            name: The identifier under which its result comes.
            path: The path of a call below the server's address.
            body: The body of a call.
        """
        ...

    def create(self, server: BatchServer, sent: SentRound, lines: Sequence[bytes]) -> str:
        """Create the batch of a round and return the server's identifier of it.

        Raises:
            BatchRefused: The batch was not created.
            NoReply: It is not known whether it was created.
        """
        ...

    def find(
        self, server: BatchServer, sent: SentRound, requests: set[str], known: set[str]
    ) -> str | None:
        """Return the server's identifier of the batch of a round; None if it has none.

        Args:
            server: The server.
            sent: The round.
            requests: The identifiers of its requests.
            known: Batches of other rounds.

        Raises:
            NotYet: Batches that may be it are under way.
            BatchRefused: The server does not list batches.
            NoReply: It cannot be said now.
        """
        ...

    def state(self, server: BatchServer, batch: str) -> BatchState:
        """Return the state of a batch.

        Raises:
            BatchRefused: The server does not know the batch, or refuses.
            NoReply: It cannot be said now.
        """
        ...

    def results(
        self, server: BatchServer, batch: str, state: BatchState, requests: int
    ) -> Iterable[RequestResult]:
        """Return the results of an ended batch, in any order.

        Raises:
            BatchRefused: They cannot be read.
            NoReply: They cannot be read now.
        """
        ...


#: Codes of requests that were not processed, and of errors that pass.
_UNPROCESSED = frozenset(("batch_expired", "batch_cancelled"))
_PASSING = frozenset(
    """api_error overloaded_error rate_limit_error rate_limit_exceeded timeout_error request_timeout
    server_error""".split()  # noqa: SIM905 (shorter)
)


def failure(name: str, status: int, body: Any, redact: Redact) -> RequestResult:
    """Return the result of a request that brought no reply.

    Args:
        name: The identifier of the request.
        status: The HTTP status of its own; 0 if the server states none.
        body: What the server sent in place of a reply.
        redact: Removes the key from every text.
    """
    error = ServerError.read(status, body)
    why = printable(error.message or ", ".join(error.codes) or "an error without a text", redact)
    if not _UNPROCESSED.isdisjoint(error.codes):
        return RequestResult(name, "unprocessed", why)
    # Without a status only the code says that it may pass.
    passing = not error.final if status else not _PASSING.isdisjoint(error.codes)
    return RequestResult(name, "failed" if passing and not error.no_money else "refused", why)


def batch_id(batch: Mapping[str, Any]) -> str:
    """Return the identifier of a batch, which becomes a part of addresses.

    Raises:
        NoReply: The identifier is missing or has other characters.
    """
    name = batch.get("id")
    if not (
        isinstance(name, str)
        and name.isascii()
        and name.replace("_", "").replace("-", "").isalnum()
    ):
        raise NoReply("sent a batch without a valid id")
    return name


def count_of(value: Any) -> int:
    """Return a number that a server reports; 0 for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def as_list(value: Any) -> list[Any]:
    """Return a list that a server sends; an empty one if it sends something else."""
    return value if isinstance(value, list) else []


def as_object(value: Any) -> Mapping[str, Any]:
    """Return an object that a server sends; an empty one if it sends something else."""
    return value if isinstance(value, Mapping) else {}


def _result_line(line: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(line, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, Mapping):
        # Its request would count as not processed, and be paid for a second time.
        raise NoReply("sent results with a line that is no JSON object")
    return found
