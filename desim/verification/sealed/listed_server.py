"""A trusted server of sealed sessions: its public key and, if it is at hand, its log."""

from pathlib import Path
from typing import Self

from attrs import frozen

from desim.errors import BadRecord
from desim.verification.boards.board_log import BoardLog
from desim.verification.sealed.statements import SignedSession
from desim.verification.signed.keys import PublicKey, read_public

#: Names of files in the public folder of a server.
PUBLIC_KEY, LOG = "server.pub", "log.jsonl"

#: The note in the log of a session that could not be ended.
BROKEN = "broken by the server"


@frozen
class ListedServer:
    """A server of sealed sessions.

    Attributes:
        key: Its public key.
        log: Its log; None if only the key is known.
    """

    key: PublicKey
    log: BoardLog | None = None

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the server of a public key, or of a server's public folder.

        Raises:
            UsageError: The key or the log cannot be read.
            BadRecord: The log was altered.
        """
        if not path.is_dir():
            return cls(read_public(path))
        key = read_public(path / PUBLIC_KEY)
        return cls(key, BoardLog(path / LOG, key))

    def counted(self, session: SignedSession) -> str:
        """Return which of the sessions that its key has opened a session is; empty if unknown.

        Only a server's log tells of the sessions that their client did not submit.
        """
        key, subject = session.opening.key, session.opening.digest
        if self.log is None or not key:
            return ""
        same = [one.line.subject for one in self.log.of("opened") if one.line.key == key]
        return f"session {same.index(subject) + 1} of {len(same)}" if subject in same else ""

    def check_logged(self, session: SignedSession) -> None:
        """Check that a session is in the log: opened once, and closed as it says.

        Raises:
            BadRecord: It is not.
        """
        if self.log is None:
            return
        subject = session.opening.digest
        opened = [one for one in self.log.of("opened") if one.line.subject == subject]
        if len(opened) != 1:
            times = "twice" if opened else "not"
            raise BadRecord(f"the session is {times} in the log of its server")
        closed = [one.line.note for one in self.log.of("closed") if one.line.subject == subject]
        if closed != [session.closing.digest]:
            raise BadRecord("the end of the session is not the one in the log of its server")
