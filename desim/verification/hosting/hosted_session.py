"""One sealed session of a server: its episodes are played once each, in a fixed order.

A reply follows from the observations and the calls of its client alone. The journal and the
record are on disk before a reply is sent, so that after a kill of either side the session goes on
where it was, and no decision can be answered twice.
"""

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from desim.core.model_protocols import Rows, offers
from desim.core.reported import HasTables
from desim.core.world import Decision
from desim.episodes.caller import CallerSession
from desim.errors import BadRecord, DesimError, UsageError, WrongAction, possible
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.records.record_file import lines_of
from desim.schema import codec, plain_observation
from desim.verification.hosting.journal import SessionJournal, sync_file
from desim.verification.sealed.derived import Secret
from desim.verification.sealed.sealed_suite import SealedEpisode, SealedSuite, answer_by_default
from desim.verification.sealed.statements import Offer, Opening

#: Hexadecimal digits of a receipt, the tag at the end of a record's last line.
_RECEIPT = 32

#: Bytes from the begin of that tag to the end of the file.
_TAIL = _RECEIPT + len(b'"}\n')


class BrokenByServer(UsageError):
    """A session that cannot go on, through no fault of its client."""

    def __init__(self) -> None:
        super().__init__("the session is broken by the server; it is closed, and shown as such")


@frozen
class SealedTurn:
    """The state of an episode as its client sees it.

    Attributes:
        episode: The number of the episode.
        answered: How many decisions the client has answered in it; the next answer names it.
        observations: The observations of the open decisions by seat, as plain values.
        possible: The tags of the actions that may be answered now, by seat, where not all may.
        receipt: The tag of the last line of the record, whose key is revealed at the end.
    """

    episode: int
    answered: int
    observations: Mapping[str, Any] = field(factory=dict)
    possible: Mapping[str, tuple[str, ...]] = field(factory=dict)
    receipt: str = ""

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return not self.observations


class HostedSession:
    """A sealed session of a server.

    Args:
        folder: The folder of the session, which is the server's alone.
        suite: The suite that it plays.
        journal: Its journal, which holds at least the offer and the opening.

    Raises:
        BadRecord: The journal was altered.

    Attributes:
        offer: What the server has offered.
        opening: What the client has answered.
        secret: The secret.
        journal: Its journal.
    """

    def __init__(self, folder: Path, suite: SealedSuite, journal: SessionJournal) -> None:
        try:
            (offered,), (opened,) = journal.of("offered"), journal.of("opened")
            self.offer = Offer(**offered["offer"]["says"])
            self.opening = Opening(**opened["open"]["says"])
            self.secret = Secret(bytes.fromhex(offered["secret"]), self.offer.session)
            self.ticket: str = offered["ticket"]
        except (KeyError, TypeError, ValueError):
            raise BadRecord(f"the journal in {folder} does not begin with an offer") from None
        self.journal, self._folder = journal, folder
        self._episodes = suite.episodes
        self._seeds = suite.seeds(self.secret, self.opening.number)
        self._at: CallerSession | None = None
        with contextlib.suppress(BrokenByServer):  # which the journal has now
            self._note_end()

    # -- state -------------------------------------------------------------------------------------

    @property
    def next(self) -> int:
        """The number of the episode that is open or begins next; that of all if all have ended."""
        return len(self.journal.of("ended"))

    @property
    def over(self) -> bool:
        """Whether it is closed, or is being closed."""
        return any(self.journal.of(event) for event in ("closing", "closed", "broken"))

    @property
    def is_late(self) -> bool:
        """Whether its time is over."""
        return time.time() > self.opening.time + self.offer.seconds

    @property
    def records(self) -> list[Path]:
        """The records of its episodes, in their order."""
        return [self._folder / f"{number:05d}.jsonl" for number in range(len(self._episodes))]

    def episode(self, number: int) -> SealedEpisode:
        """Return an episode by its number."""
        return self._episodes[number]

    # -- calls of the client -----------------------------------------------------------------------

    def begin(self, number: int | None = None) -> SealedTurn:
        """Begin the next episode, or return the open turn of the one that has begun.

        Args:
            number: The number of the episode, as a check; None for the next.

        Raises:
            UsageError: The episode has ended, is not the next one, or the session is over.
        """
        self._check_open()
        if self.next == len(self._episodes):
            raise UsageError("all episodes have ended; close_session closes the session")
        if number is not None and number != self.next:
            state = "has ended" if 0 <= number < self.next else "cannot be chosen"
            raise UsageError(f"episode {number} {state}; the next one is {self.next}")
        self._play()
        return self._turn()

    def answer(self, answered: int, action: Any, seat: str = "") -> SealedTurn:
        """Answer an open decision, and return the next turn.

        Args:
            answered: How many decisions the client has answered in this episode; the number of
                this one.
            action: The tagged object of the action.
            seat: The seat that answers; empty for the only one.

        Raises:
            UsageError: No episode has begun, the decision was answered already, the seat has none
                that is open, or the action does not fit the schema; nothing changes.
        """
        self._check_open()
        if not self._begun(self.next):
            raise UsageError("no episode has begun; call begin_episode")
        session = self._play()
        if answered != session.answered:
            state = "is answered already" if 0 <= answered < session.answered else "is not open"
            raise UsageError(f"decision {answered} {state}; the next one is {session.answered}")
        open_now = {one.role: one for one in session.open}
        role = seat or next(iter(open_now))
        if role not in open_now:
            raise UsageError(f"seat {role[:40]!r} has no open decision; {possible(role, open_now)}")
        self._check_form(open_now[role], action)
        try:
            session.answer(open_now[role], action)
        except RAISED as fault:  # for instance a full disk: the run has the answer, the record not
            raise self._broken(fault) from fault
        return self._moved()

    def tables(self, seat: str = "") -> Mapping[str, Rows]:
        """Return the tables that a seat may look up now; none if its world has none.

        Raises:
            UsageError: No episode has begun, or the client does not play the seat.
        """
        self._check_open()
        if not self._begun(self.next):
            raise UsageError("no episode has begun; call begin_episode")
        session, seats = self._play(), self._episodes[self.next].seats
        role = seat or seats[0]
        if role not in seats:
            raise UsageError(f"seat {role[:40]!r} is not played here; {possible(role, seats)}")
        model: Any = session.model
        return model.tables(session.run.state, role) if offers(model, HasTables) else {}

    # -- the end -----------------------------------------------------------------------------------

    def play_out(self) -> dict[str, int]:
        """Play all episodes that have not ended with default actions.

        Returns:
            By the number of each such episode how many decisions the client has answered.

        Raises:
            BrokenByServer: A record was lost or altered, or a world has failed.
        """
        if not self.journal.of("closing"):
            left = range(self.next, len(self._episodes))
            self.journal.add("closing", abandoned={str(n): self._answered(n) for n in left})
        while self.next < len(self._episodes):
            session = self._play()
            while session.open:
                answer_by_default(session)
                self._advance(session)
            self._ended()
        abandoned: dict[str, int] = self.journal.of("closing")[0]["abandoned"]
        return abandoned

    def stop(self) -> None:
        """Close its files; it can go on in another process."""
        if self._at is not None:
            self._at.close()
            self._at = None
        self.journal.close()

    # -- parts -------------------------------------------------------------------------------------

    def _note_end(self) -> None:
        """Note that an episode has ended whose server was killed before it could."""
        if self.over and not self.journal.of("closing"):
            return
        number = self.next
        past = self._past(number, self.records[number]) if self._begun(number) else None
        if past is not None and past.result is not None:
            self.journal.add("ended", episode=number)

    def _check_open(self) -> None:
        if self.journal.of("broken"):
            raise BrokenByServer
        if self.over:
            raise UsageError("the session is closed")
        if self.is_late:
            raise UsageError("the time of the session is over; it is being closed")

    def _check_form(self, decision: Decision, action: Any) -> None:
        """Check an action; the error tells nothing of the run, such as its clock.

        Raises:
            WrongAction: It does not fit the schema of the decision.
        """
        asked = decision.narrowed or self._episodes[self.next].model.roles[decision.role]
        try:
            codec(asked.action).take(action)
        except WrongAction:
            self.journal.add("refused")
            raise

    def _begun(self, number: int) -> bool:
        return any(each["episode"] == number for each in self.journal.of("begun"))

    def _answered(self, number: int) -> int:
        """Return how many decisions the client has answered in an episode."""
        if not self._begun(number):
            return 0
        return self._play().answered if number == self.next else 0

    def _play(self) -> CallerSession:
        """Return the episode that is open, which is begun or read from its record if need be."""
        if self._at is not None:
            return self._at
        number = self.next
        record, seed = self.records[number], self._seeds[number]
        past = self._past(number, record) if self._begun(number) else None
        if not self._begun(number):
            self.journal.add("begun", episode=number)
        key = self.secret.record_key(number)
        try:
            if past is None:
                record.unlink(missing_ok=True)  # of a server that was killed before its first line
            how = {"record": record, "past": past, "key": key}
            self._at = self._episodes[number].session(seed, **how)
            sync_file(record)
        except RAISED as fault:
            raise self._broken(fault) from fault
        return self._at

    def _past(self, number: int, record: Path) -> Episode | None:
        """Return the record of an episode, proved by its tags; None before its first line.

        Raises:
            BrokenByServer: It is not proved, or has fewer decisions than the journal.
        """
        sent = [one["decisions"] for one in self.journal.of("answered") if one["episode"] == number]
        if not sent and not (record.exists() and next(lines_of(record), b"").endswith(b"\n")):
            return None
        try:
            past = Episode.read(record, whole=False, key=self.secret.record_key(number))
        except DesimError as fault:
            raise self._broken(fault) from fault
        if len(past.steps) < max(sent, default=0) or past.header.seed != self._seeds[number]:
            raise self._broken(BadRecord("the record has fewer decisions than the journal"))
        return past

    def _moved(self) -> SealedTurn:
        """Move on to the next open decisions; the answers are on disk when this returns."""
        session = self._play()
        answered = session.answered
        if not session.open:
            self._advance(session)
        number = self.next
        sync_file(self.records[number])
        self.journal.add("answered", episode=number, decisions=session.session.decided)
        if session.open:
            return self._turn()
        self._ended()
        return SealedTurn(number, answered, receipt=self._receipt(number))

    def _advance(self, session: CallerSession) -> None:
        try:
            session.advance()
        except RAISED as fault:
            raise self._broken(fault) from fault

    def _ended(self) -> None:
        number = self.next
        self._play().close()
        self._at = None
        sync_file(self.records[number])
        self.journal.add("ended", episode=number)

    def _turn(self) -> SealedTurn:
        session, roles = self._play(), self._episodes[self.next].model.roles
        shown = {
            one.role: plain_observation(one.observation, roles[one.role].observation)
            for one in session.open
        }
        narrowed = {one.role: one.possible for one in session.open if one.possible}
        return SealedTurn(self.next, session.answered, shown, narrowed, self._receipt(self.next))

    def _receipt(self, number: int) -> str:
        """Return the tag of the last line of a record."""
        with self.records[number].open("rb") as file:
            file.seek(-_TAIL, os.SEEK_END)
            return file.read(_RECEIPT).decode()

    def _broken(self, fault: BaseException) -> BrokenByServer:
        """Note that the session cannot go on; the reason stays in the journal."""
        if not self.journal.of("broken"):
            self.journal.add("broken", why=str(fault)[:500])
        return BrokenByServer()
