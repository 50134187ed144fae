"""The calls of one seat, of which the replies come with batches."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field

from desim.errors import PolicyFailed
from desim.jobs.keep.rounds import Rounds
from desim.jobs.keep.spending import JobBudget
from policies.llm.wires.batches.batcher import Batcher
from policies.llm.wires.batches.tickets import Sender, Ticket
from policies.llm.wires.budget import CallLimits
from policies.llm.wires.suspension import result_of
from policies.llm.wires.wire import Complete, ModelReply, NoReply, Request, Send

#: Characters a token of a request, and tokens that a reply is expected to have where the request
#: does not limit them.
_CHARACTERS_PER_TOKEN, _USUAL_REPLY = 4, 1_000

#: The field that limits the tokens of a reply.
_REPLY_LIMIT = "max_completion_tokens"


@define(eq=False, kw_only=True)
class BatchedCalls:
    """A `send` whose requests go in batches with those of other episodes.

    A call is identified by its seat, its request, and how often the seat has made this request
    before. So a resumed episode finds the reply that it was waiting for, and an episode that knows
    its questions may send all of them with the first, in any order.

    Attributes:
        sender: How requests are sent.
        rounds: The rounds of the command.
        budget: What the policies of the job may use.
        role: The seat.
        limits: The limits and prices of the seat.
        retries: How often the model is asked again after an invalid reply.
        resends: How often a request is sent again after an error.
        ahead: Returns the requests that are certain to come, such as independent questions.
    """

    sender: Sender
    rounds: Rounds
    budget: JobBudget
    role: str
    limits: CallLimits
    retries: int = 0
    resends: int = 3
    ahead: Callable[[], Sequence[Request]] = tuple
    _made: Counter[str] = field(factory=Counter, init=False)
    _call: tuple[str, int] = field(default=("", 0), init=False)
    _placed: dict[tuple[str, int], Ticket] | None = field(default=None, init=False)

    def fields(self, request: Request) -> dict[str, Any]:
        """Return the fields of a request, without key and address."""
        return self.sender.endpoint.fields(request)

    def through(self, metered: Send) -> Complete:
        """Return a `complete` that sends by this, through limits and record.

        It raises `PolicyFailed` if a request brought no reply.
        """

        def complete(request: Request) -> ModelReply:
            # Counted also where the record holds the reply: a later equal request is another call.
            name = self._digest(self.fields(request))
            self._call = name, self._made[name]
            self._made[name] += 1
            try:
                return metered(request, math.inf)
            except NoReply as fault:
                raise PolicyFailed(f"{self.sender.endpoint.name} {fault}") from None

        return complete

    def __call__(self, request: Request, timeout: float) -> ModelReply:  # noqa: ARG002 (a batch has none)
        """Return the reply of the present call, once its batch has brought it.

        Raises:
            NoReply: It brought none.
            LimitReached: The command does not wait for it.
        """
        batcher = self.rounds.shared(Batcher)
        if self._placed is None:
            self._placed = dict(self._sent_ahead(batcher))
        ticket = self._placed.pop(self._call, None)
        if ticket is None:
            ticket = self._ticket(*self._call, self.fields(request))
            batcher.place(ticket)
        batcher.wait(ticket)
        return result_of(ticket.future)

    def _sent_ahead(self, batcher: Batcher) -> Iterator[tuple[tuple[str, int], Ticket]]:
        """Place the requests that are certain to come, as far as the limits of the seat allow."""
        left, counts = self._calls_ahead(), Counter[str]()
        for request in self.ahead() if left else ():
            fields = self.fields(request)
            name = self._digest(fields)
            call = name, counts[name]
            counts[name] += 1
            # A reply that is on record is not asked for; the present call has been counted.
            if left and (counts[name] > self._made[name] or call == self._call):
                ticket = self._ticket(*call, fields)
                batcher.place(ticket)
                left -= 1
                yield call, ticket

    def _calls_ahead(self) -> int:
        """Return how many calls can be sent ahead without passing a limit of the seat."""
        limits = self.limits
        if limits.max_tokens is not None or limits.max_cost is not None:
            return 0
        if limits.max_calls is None:
            return _MANY
        return (limits.max_calls - self._made.total() + 1) // (self.retries + 1)

    def _ticket(self, name: str, before: int, fields: Mapping[str, Any]) -> Ticket:
        body = self.sender.endpoint.form.body(fields)
        return Ticket(
            call=_sha256([name, before]),
            job=self.budget.job,
            sender=self.sender,
            fields=fields,
            body=body,
            cost=self._expected_cost(fields),
            money_left=self.budget.money_left,
            resends=self.resends,
        )

    def _digest(self, fields: Mapping[str, Any]) -> str:
        run = self.rounds.shared(Batcher).file.run
        return _sha256([run, self.budget.job, self.role, fields])

    def _expected_cost(self, fields: Mapping[str, Any]) -> float:
        characters = len(json.dumps(fields))
        limit = fields.get(_REPLY_LIMIT)
        reply = ModelReply(
            prompt_tokens=characters // _CHARACTERS_PER_TOKEN,
            completion_tokens=limit if isinstance(limit, int) else _USUAL_REPLY,
            batch="expected",
        )
        return self.limits.cost(reply)


#: More calls than an episode makes.
_MANY = 1_000_000


def _sha256(plain: Any) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
