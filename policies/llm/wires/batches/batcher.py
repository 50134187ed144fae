"""Sends the requests that episodes wait for, once all of them wait, and looks for the results.

A thread does it for each host; a command that is killed loses nothing (see `round_file`).
"""

import math
import threading
import time
from collections.abc import Iterable, Sequence

from attrs import define, evolve, field

from desim.errors import LimitReached, PolicyFailed
from desim.jobs.keep.rounds import Rounds
from policies.llm.wires.batches.batch_form import BatchRefused, BatchState, NotYet
from policies.llm.wires.batches.round_file import Attempt, RequestResult, RoundFile, SentRound
from policies.llm.wires.batches.tickets import (
    OpenRound,
    Sender,
    Ticket,
    affordable,
    groups,
    progress_line,
)
from policies.llm.wires.wire import ModelReply, NoReply

#: Seconds in which the last episode that came to wait may place further requests.
_SETTLE = 0.2

#: The growth of the seconds between two looks, and how many times the first they are at most.
_GROWTH, _LONGEST = 1.5, 10.0

#: Looks in a row that may fail: without an answer, and with a refusal, such as a status of 404
#: right after a batch was created.
_MOST_FAULTS, _MOST_REFUSALS = 20, 5

#: Seconds after which the thread looks around although nothing is due.
_LONGEST_WAIT = 1.0

#: Attempts at a request that the server accepts and does not process.
_MOST_UNPROCESSED = 20

#: Lists of batches without a round before it counts as never created: a new one may be missing.
_MOST_MISSES = 2


@define(eq=False)
class Batcher:
    """Sends and fetches the requests of the episodes of one host.

    Attributes:
        rounds: Which episodes wait, and what the command does in a round.
        file: What was sent.
    """

    rounds: Rounds
    file: RoundFile = field(init=False)
    _unsent: list[Ticket] = field(factory=list, init=False)
    _open: dict[str, OpenRound] = field(factory=dict, init=False)
    _senders: dict[str, Sender] = field(factory=dict, init=False)
    _not_before: float = field(default=0.0, init=False)
    _fault: BaseException | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.file = RoundFile(self.rounds.file)
        # A daemon, so that Ctrl-C ends the process at once.
        threading.Thread(target=self._work, name="desim-batches", daemon=True).start()

    # -- calls -------------------------------------------------------------------------------------

    def place(self, ticket: Ticket) -> None:
        """Take a call; its future is set at once if its reply is on disk."""
        with self.rounds.changed:
            if self._fault:
                raise PolicyFailed(f"batches cannot be sent: {self._fault}")
            self._know(ticket.sender)
            last = self.file.last(ticket.call)
            if last and last.fate in ("failed", "refused"):
                # An earlier command has given it up; this one tries again.
                ticket.attempt = last.attempt + 1
                last = None
            self._put(ticket, last)

    def wait(self, ticket: Ticket) -> None:
        """Count a call that its job waits for now."""
        with self.rounds.changed:
            if not ticket.future.done():
                ticket.waited = True
                self.rounds.wait(ticket.job)

    def _know(self, sender: Sender) -> None:
        """Take the rounds of a sender that earlier commands have left open."""
        if sender.name in self._senders:
            return
        self._senders[sender.name] = sender
        for sent in self.file.open_rounds(sender.name):
            requests = self.file.requests(sent.id)
            due = self._first_due(sent, 0.0)
            self._open[sent.id] = OpenRound(sent, sender, requests, due, self.rounds.options.pause)

    def _first_due(self, sent: SentRound, seconds: float) -> float:
        """Return when a round is looked at first; never where replies are not fetched."""
        looks = self.rounds.options.fetches or sent.batch is None
        return time.monotonic() + seconds if looks else math.inf

    def _put(self, ticket: Ticket, last: Attempt | None) -> None:
        """Put a call where it belongs after its last attempt."""
        if last is None:
            self._unsent.append(ticket)
            return
        ticket.attempt = last.attempt
        match last.fate:
            case None if last.round in self._open:
                self._open[last.round].tickets[last.id] = ticket
            case None:
                raise PolicyFailed(
                    f"a request is in batch {last.batch or 'unknown'}, which was sent to another "
                    "address or with another key_env; go on with those"
                )
            case "reply":
                self._deliver(ticket, last)
            case "unprocessed":
                ticket.unprocessed += 1
                self._again(ticket, last.why, ticket.unprocessed < _MOST_UNPROCESSED)
            case "failed":
                ticket.failures += 1
                self._not_before = time.monotonic() + self.rounds.options.pause
                self._again(ticket, last.why, ticket.failures <= ticket.resends)
            case "refused":
                self._again(ticket, last.why, may=False)

    def _deliver(self, ticket: Ticket, last: Attempt) -> None:
        try:
            reply = ticket.sender.endpoint.read(last.body, ticket.fields, last.seconds)
        except NoReply as fault:
            self.file.fail(last.id, str(fault))
            self._put(ticket, self.file.last(ticket.call))
        else:
            self._settle(ticket, evolve(reply, batch=last.batch))

    def _again(self, ticket: Ticket, why: str, may: bool) -> None:  # noqa: FBT001 (one use)
        """Send a call again with the next round if it may be."""
        ticket.attempt += 1
        if may:
            self._unsent.append(ticket)
        else:
            times = f", {ticket.attempt} times" if ticket.failures + ticket.unprocessed > 1 else ""
            self._settle(ticket, NoReply(f"answered in a batch: {why}{times}", final=True))

    def _settle(self, ticket: Ticket, result: ModelReply | BaseException) -> None:
        """Let a job continue with a reply or an error."""
        with self.rounds.changed:
            if ticket.future.done():
                return
            if ticket.waited:
                self.rounds.go_on(ticket.job)
            if isinstance(result, BaseException):
                ticket.future.set_exception(result)
            else:
                ticket.future.set_result(result)

    # -- the thread --------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while self.rounds.players > 0:
                self._turn()
        except BaseException as fault:  # noqa: BLE001 (raised by the calls)
            with self.rounds.changed:
                self._fault = fault
                for ticket in [*self._unsent, *self._under_way()]:
                    self._settle(ticket, PolicyFailed(f"batches cannot be sent: {fault}"))
        self.file.close()

    def _turn(self) -> None:
        """Look at the rounds that are due; send, or stop the episodes, where all of them wait."""
        with self.rounds.changed:
            seconds = self._seconds_to_wait()
            if seconds > 0:
                self.rounds.changed.wait(seconds)
            due = [one for one in self._open.values() if one.due <= time.monotonic()]
        for one in due:
            self._look(one)
        if not due and self._all_wait_on():
            self._round()
        self.rounds.progress = self._progress()

    def _seconds_to_wait(self) -> float:
        now = time.monotonic()
        moments = [one.due for one in self._open.values()]
        if self.rounds.all_wait and (self._unsent or not self.rounds.options.waits):
            moments.append(max(now, self._not_before) if self.rounds.options.sends else now)
        return min([_LONGEST_WAIT, *(moment - now for moment in moments)])

    def _all_wait_on(self) -> bool:
        """Whether all episodes wait, also after a moment for others of their requests."""
        before = len(self._unsent)
        if not self.rounds.all_wait:
            return False
        time.sleep(min(_SETTLE, self.rounds.options.pause))
        return self.rounds.all_wait and len(self._unsent) == before

    def _round(self) -> None:
        """Send what is open, or stop the episodes if this command does nothing more for them."""
        options = self.rounds.options
        if options.sends and self._unsent and time.monotonic() < self._not_before:
            return
        if ready := self._taken() if options.sends else []:
            for group in groups(ready):
                self._send(group)
        elif not options.waits and all(one.due == math.inf for one in self._open.values()):
            self._stop("its reply is not there: --submit sends requests, --collect fetches replies")
        elif options.sends and self._unsent and not self._open:
            self._stop("the limit of money is spent; the same command with a larger limit goes on")

    def _taken(self) -> list[Ticket]:
        """Take the calls that may be sent now."""
        with self.rounds.changed:
            waiting = self.rounds.waiting
            # An episode that has failed waits no longer for what was to be sent ahead for it.
            self._unsent = [ticket for ticket in self._unsent if ticket.job in waiting]
            ready = {*affordable(self._unsent, self._under_way())}
            taken = [ticket for ticket in self._unsent if ticket in ready]
            self._unsent = [ticket for ticket in self._unsent if ticket not in ready]
            if self._unsent:
                self._not_before = min((one.due for one in self._open.values()), default=0.0)
            return taken

    def _under_way(self) -> list[Ticket]:
        return [ticket for one in self._open.values() for ticket in one.tickets.values()]

    def _stop(self, why: str) -> None:
        with self.rounds.changed:
            self.rounds.progress = self._progress()
            for ticket in [*self._unsent, *self._under_way()]:
                self._settle(ticket, LimitReached(why))
            self._unsent.clear()

    def _progress(self) -> str:
        with self.rounds.changed:
            return progress_line(list(self._open.values()), len(self._unsent), *self.file.counts())

    # -- sending -----------------------------------------------------------------------------------

    def _send(self, tickets: Sequence[Ticket]) -> None:
        """Write a round, create its batch, and take the server's identifier of it."""
        sender = tickets[0].sender
        by_id = {ticket.id: ticket for ticket in tickets}
        sent = self.file.begin(
            sender.name, {name: (one.call, one.attempt) for name, one in by_id.items()}
        )
        pause = self.rounds.options.pause
        one = OpenRound(sent, sender, {*by_id}, time.monotonic() + pause, pause, by_id)
        with self.rounds.changed:
            self._open[sent.id] = one
        try:
            lines = [ticket.line for ticket in tickets]
            batch = sender.form.create(sender.server, sent, lines)
        except BatchRefused as fault:
            self._end(one, (), RequestResult("", "refused", str(fault)))
        except NoReply as fault:
            one.trouble = str(fault)
        else:
            self._created(one, batch)

    def _created(self, one: OpenRound, batch: str) -> None:
        self.file.created(one.sent.id, batch)
        one.sent = evolve(one.sent, batch=batch)
        one.due = self._first_due(one.sent, one.pause)

    # -- looking -----------------------------------------------------------------------------------

    def _look(self, one: OpenRound) -> None:
        """Ask the server for a round, and take its results if it has ended."""
        try:
            if one.sent.batch is None:
                self._find(one)
                return
            state = one.sender.form.state(one.sender.server, one.sent.batch)
            one.done = state.done
            if state.ended:
                self._take(one, one.sent.batch, state)
                return
            one.faults = one.refusals = 0
            one.trouble = ""
        except (BatchRefused, NoReply) as fault:
            one.trouble = str(fault)
            one.faults += 1
            one.refusals += isinstance(fault, BatchRefused)
        if one.faults > _MOST_FAULTS or one.refusals > _MOST_REFUSALS:
            self._give_up(one)
        self._later(one)

    def _later(self, one: OpenRound) -> None:
        """Let a round be looked at again, after more seconds than before."""
        if not self.rounds.options.waits:
            one.due = math.inf
            return
        one.due = time.monotonic() + one.pause
        one.pause = min(one.pause * _GROWTH, self.rounds.options.pause * _LONGEST)

    def _find(self, one: OpenRound) -> None:
        """Look for the batch of a round whose creation was not answered."""
        known = self.file.batches()
        try:
            batch = one.sender.form.find(one.sender.server, one.sent, one.requests, known)
        except NotYet:
            self._later(one)
            return
        if batch is not None:
            one.trouble = ""
            self._created(one, batch)
            return
        one.misses += 1
        one.due = time.monotonic() + self.rounds.options.pause
        if one.misses >= _MOST_MISSES:
            why = one.trouble or "the command was stopped before it was sent"
            self._end(one, (), RequestResult("", "failed", why))

    def _take(self, one: OpenRound, batch: str, state: BatchState) -> None:
        """Take the results of an ended batch."""
        if state.refused:
            self._end(one, (), RequestResult("", state.fate, state.refused))
            return
        found = one.sender.form.results(one.sender.server, batch, state, len(one.requests))
        clean = one.sender.endpoint.redacted
        results = [evolve(each, body=clean(each.body.decode()).encode()) for each in found]
        self._end(one, results, RequestResult("", "unprocessed", "the batch has no result of it"))

    def _end(self, one: OpenRound, results: Iterable[RequestResult], rest: RequestResult) -> None:
        """Write the results of a round, and let its jobs continue."""
        self.file.end(one.sent, results, rest)
        with self.rounds.changed:
            del self._open[one.sent.id]
            for ticket in one.tickets.values():
                self._put(ticket, self.file.last(ticket.call))

    def _give_up(self, one: OpenRound) -> None:
        """Let the calls of a round fail; the next command looks for it again."""
        with self.rounds.changed:
            for ticket in one.tickets.values():
                self._settle(ticket, NoReply(f"does not say what became of a batch: {one.trouble}"))
            one.tickets.clear()
