"""Calls whose replies come with a batch, and the rounds in which they are under way."""

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from attrs import Factory, define, field, frozen

from policies.llm.wires.batches.batch_form import BatchForm, BatchServer
from policies.llm.wires.batches.forms import batch_form
from policies.llm.wires.batches.round_file import SentRound
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.wire import ModelReply

#: Bytes between two requests of a batch.
_SEPARATOR = 2


@frozen(eq=False)
class Sender:
    """The server, the API and the model to which the requests of a batch go.

    Attributes:
        name: Requests of the same name go together: API, address, model and variable of the key.
        endpoint: The server, its key and the form of a call.
        form: The form of a batch.
    """

    name: str
    endpoint: Endpoint
    form: BatchForm = field(
        default=Factory(lambda self: batch_form(self.endpoint.form), takes_self=True), init=False
    )

    @property
    def server(self) -> BatchServer:
        """The server of its batches."""
        return BatchServer(self.endpoint)


@define(eq=False)
class Ticket:
    """A call whose reply comes with a batch.

    Attributes:
        call: The digest that identifies the call, also after a kill.
        job: The job that makes it.
        sender: How it is sent.
        fields: Its fields, as the chat completions API names them.
        body: The body of the request.
        cost: The money that it is expected to use.
        money_left: By the name of a limit: returns the money that is left.
        resends: How often it is sent again after an error.
        future: Receives the reply.
        attempt: The number of its present attempt, from 0.
        failures: Attempts of this command that ended with an error.
        unprocessed: Attempts of this command that the server did not process.
        waited: Whether the job waits for it.
    """

    call: str
    job: str
    sender: Sender
    fields: Mapping[str, Any] = field(repr=False)
    body: Mapping[str, Any] = field(repr=False)
    cost: float = 0.0
    money_left: Mapping[str, Callable[[], float]] = field(factory=dict, repr=False)
    resends: int = 0
    future: "Future[ModelReply]" = field(factory=Future, init=False)
    attempt: int = field(default=0, init=False)
    failures: int = field(default=0, init=False)
    unprocessed: int = field(default=0, init=False)
    waited: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        # An episode that is stopped cancels what it waits for; the result is set nevertheless.
        self.future.set_running_or_notify_cancel()

    @property
    def id(self) -> str:
        """The identifier of its present attempt: 64 characters, which both forms take."""
        return hashlib.sha256(f"{self.call} {self.attempt}".encode()).hexdigest()

    @property
    def line(self) -> bytes:
        """The request in a batch."""
        path = self.sender.endpoint.form.path
        return self.sender.form.line(self.id, path, self.body)


@define(eq=False)
class OpenRound:
    """A round under way.

    Attributes:
        sent: It on disk.
        sender: How it was sent.
        requests: The identifiers of its requests.
        due: When it is looked at next, by the monotonic clock.
        pause: Seconds to the look after that.
        tickets: By the identifier of a request the call of this command that waits for it.
        done: Requests that have ended, as far as the server says.
        faults: Looks in a row that failed.
        refusals: Those of them that the server refused.
        misses: Lists of batches in which it was missing.
        trouble: Why the last look failed.
    """

    sent: SentRound
    sender: Sender
    requests: set[str]
    due: float
    pause: float
    tickets: dict[str, Ticket] = field(factory=dict)
    done: int = 0
    faults: int = 0
    refusals: int = 0
    misses: int = 0
    trouble: str = ""


def groups(tickets: Sequence[Ticket]) -> Iterator[list[Ticket]]:
    """Yield the calls that go in one batch: of one sender, within the limits of its form."""
    by_sender: dict[str, list[Ticket]] = {}
    for ticket in tickets:
        by_sender.setdefault(ticket.sender.name, []).append(ticket)
    for mine in by_sender.values():
        yield from _parts(mine, mine[0].sender.form)


def _parts(tickets: Sequence[Ticket], form: BatchForm) -> Iterator[list[Ticket]]:
    part: list[Ticket] = []
    size = 0
    for ticket in tickets:
        length = len(ticket.line) + _SEPARATOR
        if part and (len(part) >= form.most_requests or size + length > form.most_bytes):
            yield part
            part, size = [], 0
        part.append(ticket)
        size += length
    if part:
        yield part


def affordable(unsent: Sequence[Ticket], under_way: Sequence[Ticket]) -> list[Ticket]:
    """Return the calls that the limits of money allow together with those under way.

    As a single call may exceed a limit that is not reached, one is returned if none is under way.
    """
    left: dict[str, float] = {}
    for ticket in (*under_way, *unsent):
        for name, money in ticket.money_left.items():
            if name not in left:
                left[name] = money()
    for ticket in under_way:
        _take(ticket, left)
    spendable = [one for one in unsent if all(left[name] > 0 for name in one.money_left)]
    allowed = []
    for ticket in spendable:
        if all(left[name] >= ticket.cost for name in ticket.money_left):
            _take(ticket, left)
            allowed.append(ticket)
    return allowed or ([] if under_way else spendable[:1])


def _take(ticket: Ticket, left: dict[str, float]) -> None:
    for name in ticket.money_left:
        left[name] -= ticket.cost


def progress_line(
    open_rounds: Sequence[OpenRound], unsent: int, rounds: int, results_twice: int
) -> str:
    """Return a line on the requests under way.

    Args:
        open_rounds: The rounds under way.
        unsent: The number of requests to be sent.
        rounds: The number of all rounds of the folder.
        results_twice: The number of results that came a second time.
    """
    requests = sum(len(one.requests) for one in open_rounds)
    done = sum(one.done for one in open_rounds)
    due = min((one.due for one in open_rounds), default=math.inf)
    parts = [f"{requests:,} requests under way, {done:,} of them done"] if requests else []
    parts += [f"{unsent:,} to be sent"] if unsent else []
    parts += [] if due == math.inf else [f"next look at {_clock(due)}"]
    parts += [f"{results_twice:,} results came twice"] if results_twice else []
    trouble = [f"; the last look failed: {one.trouble}" for one in open_rounds if one.trouble]
    batches = f"{rounds:,} batches so far" if rounds != 1 else "1 batch so far"
    return f"{batches}, {', '.join(parts) or 'none under way'}{''.join(trouble[:1])}"


def _clock(due: float) -> str:
    """Return a moment of the monotonic clock as the time of the day."""
    return time.strftime("%H:%M:%S", time.localtime(time.time() + due - time.monotonic()))
