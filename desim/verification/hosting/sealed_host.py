"""The sessions of a server: offers, openings, closings, and its public log.

public/server.pub          the server's public key
public/log.jsonl           every opening and closing, in signed lines
public/SESSION/            the entry of a closed session: anybody may have it
private/SESSION/           journal and records of a session, for the server alone
"""

import secrets
import time
from pathlib import Path
from typing import Any

import msgspec

from desim.errors import UsageError
from desim.records.record_lock import RecordLock
from desim.short_repr import shown
from desim.show.files import write_whole
from desim.verification.boards.board_log import BoardLog, Event
from desim.verification.entries.entry_manifest import is_plain_name
from desim.verification.hosting.hosted_session import BrokenByServer, HostedSession
from desim.verification.hosting.journal import SessionJournal, sync_file
from desim.verification.hosting.session_entry import write_entry
from desim.verification.record_content import content_digest
from desim.verification.sealed.derived import Secret
from desim.verification.sealed.listed_server import BROKEN, LOG, PUBLIC_KEY
from desim.verification.sealed.sealed_suite import SealedSuite
from desim.verification.sealed.statements import FORMAT, Closing, Offer, Opening, signed
from desim.verification.signed.canonical import canonical
from desim.verification.signed.keys import PrivateKey

#: The name of a journal.
JOURNAL = "journal.jsonl"

#: Offers that wait for their opening, at most; the oldest is dropped.
_MOST_OFFERS = 1_000

#: Open sessions, at most.
_MOST_OPEN = 1_000


class SealedHost:
    """The sealed sessions of a server.

    Args:
        folder: The server's folder; its open sessions go on.
        suite: The suite that is played.
        key: The server's private key.
        seconds: Seconds after its opening at which a session is closed.

    Raises:
        UsageError: The folder cannot be written, another server uses it, a session of another suite
            is open in it, or an episode of the suite does not depend on its seed.
        BadRecord: The log or a journal was altered.
    """

    def __init__(self, folder: Path, suite: SealedSuite, key: PrivateKey, seconds: int) -> None:
        suite.check_hides()
        self._suite, self._key, self._seconds = suite, key, seconds
        self._public, self._private = folder / "public", folder / "private"
        try:
            self._public.mkdir(parents=True, exist_ok=True)
            self._private.mkdir(mode=0o700, exist_ok=True)
        except OSError as fault:
            raise UsageError(f"cannot write {folder}: {fault.strerror}") from None
        self._lock = RecordLock(self._public / LOG)
        own = f"desim-ed25519 {key.public.hex} {key.name}\n".encode()
        write_whole(self._public / PUBLIC_KEY, [own])
        self._log = BoardLog(self._public / LOG, key.public)
        self._offers: dict[str, tuple[Secret, dict[str, Any]]] = {}
        self._sessions: dict[str, HostedSession] = {}
        for path in sorted(self._private.glob(f"*/{JOURNAL}")):
            self._go_on(path.parent)

    @property
    def open(self) -> list[str]:
        """The tickets of the sessions that are open."""
        return [*self._sessions]

    def offer(self) -> dict[str, Any]:
        """Return a new signed offer."""
        secret = Secret.drawn()
        offer = Offer(
            FORMAT,
            secret.session,
            secret.digest,
            self._suite.digest,
            self._suite.revisions,
            len(self._suite.episodes),
            self._seconds,
            int(time.time()),
            self._key.public.hex,
        )
        made = signed(offer, self._key)
        self._offers[secret.session] = secret, made
        while len(self._offers) > _MOST_OFFERS:
            del self._offers[next(iter(self._offers))]
        return made

    def opened(
        self, session: str, number: str, *, commitment: str = "", key: str = "", name: str = ""
    ) -> tuple[str, dict[str, Any]]:
        """Open the session of an offer; or return it once more, for a client that lost the reply.

        Args:
            session: The identifier of the offer.
            number: 32 random bytes of the client, 64 hexadecimal digits.
            commitment: The digest of what the client commits itself to.
            key: The public key of the client.
            name: The name of the entry.

        Returns:
            The ticket that every further call names, and the signed opening.

        Raises:
            UsageError: The offer does not exist, an argument has another form, or too many sessions
                are open.
        """
        for ticket, one in self._sessions.items():
            if (one.offer.session, one.opening.number) == (session, number):
                return ticket, one.journal.of("opened")[0]["open"]
        if session not in self._offers:
            raise UsageError("there is no offer of this session; offer_session makes one")
        if len(self._sessions) >= _MOST_OPEN:
            raise UsageError(f"{_MOST_OPEN:,} sessions are open, which is the most")
        secret, offer = self._offers[session]
        opening = _opening(offer, number, commitment, key, name)
        del self._offers[session]
        made, ticket = signed(opening, self._key), secrets.token_hex(16)
        folder = self._private / session
        folder.mkdir(mode=0o700)
        sync_file(self._private)
        journal = SessionJournal(folder / JOURNAL)
        journal.add("offered", offer=offer, secret=secret.raw.hex(), ticket=ticket)
        journal.add("opened", open=made)
        self._say("opened", opening.digest, opening.key)
        self._sessions[ticket] = HostedSession(folder, self._suite, journal)
        return ticket, made

    def at(self, ticket: str) -> HostedSession:
        """Return the open session of a ticket.

        Raises:
            UsageError: The ticket is not that of an open session.
        """
        if ticket not in self._sessions:
            raise UsageError("no open session has this ticket; open_session returns one")
        return self._sessions[ticket]

    def close(self, ticket: str) -> Path | None:
        """Close a session; episodes that have not ended are played by default actions.

        Returns:
            The folder of its entry; None for a session that is broken by the server.
        """
        session = self.at(ticket)
        try:
            abandoned = session.play_out()
        except BrokenByServer:
            self._say("closed", session.opening.digest, session.opening.key, BROKEN)
            session.journal.add("closed", close=BROKEN)
            self._forget(ticket)
            return None
        return self._entry(ticket, abandoned)

    def close_late(self) -> None:
        """Close the sessions whose time is over, that were being closed, or that are broken."""
        for ticket, session in [*self._sessions.items()]:
            if session.is_late or session.over:
                self.close(ticket)

    def stop(self) -> None:
        """Close all files; open sessions go on with the next server of the folder."""
        for ticket in self.open:
            self._forget(ticket)
        self._lock.__exit__()

    # -- parts -------------------------------------------------------------------------------------

    def _entry(self, ticket: str, abandoned: dict[str, int]) -> Path:
        """Write the entry of a session whose episodes have all ended."""
        session = self.at(ticket)
        journal, opening = session.journal, session.opening
        if not journal.of("signed"):
            closing = _closing(session, abandoned)
            journal.add("signed", close=signed(closing, self._key), digest=closing.digest)
        (end,) = journal.of("signed")
        statements = {
            "offer": journal.of("offered")[0]["offer"],
            "open": journal.of("opened")[0]["open"],
            "close": end["close"],
        }
        plan = self._suite.revealed(session.secret, opening.number, opening.name)
        out = self._public / session.offer.session
        said = session.offer, opening
        write_entry(out, self._suite, canonical(statements), said, plan, session.records)
        self._say("closed", opening.digest, opening.key, end["digest"])
        journal.add("closed", close=end["digest"])
        self._forget(ticket)
        return out

    def _go_on(self, folder: Path) -> None:
        """Open the session of a folder that was open when the server stopped."""
        journal = SessionJournal(folder / JOURNAL)
        if journal.of("closed") or not journal.of("opened"):
            journal.close()
            return
        session = HostedSession(folder, self._suite, journal)
        if session.offer.suite != self._suite.digest or session.offer.key != self._key.public.hex:
            session.stop()
            raise UsageError(
                f"session {session.offer.session} of another suite or key is open in this folder; "
                "serve that one, or choose another folder"
            )
        journal.add("resumed")
        self._say("opened", session.opening.digest, session.opening.key)
        self._sessions[session.ticket] = session

    def _say(self, event: Event, subject: str, client: str, note: str = "") -> None:
        """Add a line to the log, unless a killed server has."""
        if all(one.line.subject != subject for one in self._log.of(event)):
            self._log.add(event, subject, self._key, sender=client, note=note)
            sync_file(self._public / LOG)

    def _forget(self, ticket: str) -> None:
        self._sessions.pop(ticket).stop()


def _opening(offer: dict[str, Any], number: str, *texts: str) -> Opening:
    """Return the opening that a client asks for.

    Raises:
        UsageError: An argument has another form.
    """
    said = Offer(**offer["says"])
    commitment, key, name = texts
    plain = {"offer": said.digest, "number": number, "time": int(time.time())}
    given = {"commitment": commitment, "key": key, "name": name or "client"}
    if not is_plain_name(given["name"]):
        raise UsageError(f"the name {shown(name)} of the entry cannot be printed as it is")
    try:
        return msgspec.convert({**plain, **given}, Opening)
    except msgspec.ValidationError as fault:
        raise UsageError(f"the session cannot be opened: {fault}") from None


def _closing(session: HostedSession, abandoned: dict[str, int]) -> Closing:
    """Return what the server says at the end of a session."""
    journal = session.journal
    return Closing(
        session.opening.digest,
        session.secret.raw.hex(),
        [content_digest(record) for record in session.records],
        abandoned,
        len(journal.of("answered")),
        len(journal.of("refused")),
        len(journal.of("resumed")),
        int(time.time()),
    )
