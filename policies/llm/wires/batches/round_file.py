"""The requests sent in batches and their results: one SQLite file for all commands of a folder.

A round is in the file before its batch is created, and a result before it is used. So a command
that is killed at any moment finds out what it has sent, and sends no request a second time.
"""

import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from attrs import frozen

from desim.errors import UsageError, WriteFailed

#: The result of a request: a body with a reply; the server did not process it; an error after
#: which it may be sent again; an error that stays.
Fate = Literal["reply", "unprocessed", "failed", "refused"]

#: Seconds that a transaction waits for one of another thread.
_PATIENCE = 60.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (run TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rounds (
    id TEXT PRIMARY KEY, sender TEXT NOT NULL, begun REAL NOT NULL, batch TEXT,
    ended INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS requests (
    id TEXT PRIMARY KEY, call TEXT NOT NULL, attempt INTEGER NOT NULL, round TEXT NOT NULL,
    fate TEXT, why TEXT NOT NULL DEFAULT '', seconds REAL, body BLOB,
    again INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS calls ON requests (call);
CREATE INDEX IF NOT EXISTS of_round ON requests (round);
"""


@frozen
class SentRound:
    """A round of requests that was sent, or was about to be.

    Attributes:
        id: Its identifier, drawn by us.
        begun: When it was written, in seconds since 1970.
        batch: The server's identifier of its batch; None if the server has not answered.
    """

    id: str
    begun: float
    batch: str | None = None


@frozen
class Attempt:
    """One attempt at a call.

    Attributes:
        id: The identifier under which it was sent.
        attempt: Counted from 0 among the attempts at the call.
        round: The identifier of its round.
        batch: The server's identifier of its batch; empty if the server has not answered.
        fate: Its result; None while it is under way.
        why: Why it brought no reply.
        seconds: From the round to the result.
        body: The body of the response; empty without a reply.
    """

    id: str
    attempt: int
    round: str
    batch: str
    fate: Fate | None
    why: str = ""
    seconds: float = 0.0
    body: bytes = b""


@frozen
class RequestResult:
    """The result of one request of a batch; see `Attempt`."""

    id: str
    fate: Fate
    why: str = ""
    body: bytes = b""


class RoundFile:
    """The rounds of a folder; threads may share it.

    Args:
        path: The file, which need not exist.

    Attributes:
        run: A text that no other file has, so that equal requests of two folders differ.

    Raises:
        UsageError: The file cannot be opened, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        try:
            self._file = sqlite3.connect(
                path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            self._file.execute("PRAGMA synchronous = FULL")
            self._file.executescript(_SCHEMA)
            self._file.execute(
                "INSERT INTO about SELECT ? WHERE NOT EXISTS (SELECT * FROM about)",
                (uuid.uuid4().hex,),
            )
            ((self.run,),) = self._file.execute("SELECT run FROM about")
        except (sqlite3.Error, ValueError) as fault:
            raise UsageError(f"cannot read {path}: {fault}") from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    def last(self, call: str) -> Attempt | None:
        """Return the last attempt at a call, or the one that brought a reply; None without one."""
        query = (
            "SELECT q.id, attempt, round, coalesce(batch, ''), fate, why, coalesce(seconds, 0), "
            "coalesce(body, x'') FROM requests q JOIN rounds r ON r.id = round WHERE call = ? "
            "ORDER BY coalesce(fate, '') = 'reply' DESC, attempt DESC LIMIT 1"
        )
        with self._changing() as file:
            row = file.execute(query, (call,)).fetchone()
        return Attempt(*row) if row else None

    def begin(self, sender: str, attempts: Mapping[str, tuple[str, int]]) -> SentRound:
        """Write a round before it is sent.

        Args:
            sender: What its requests have in common.
            attempts: By the identifier of a request its call and attempt.
        """
        sent = SentRound(uuid.uuid4().hex, time.time())
        with self._changing() as file:
            file.execute(
                "INSERT INTO rounds (id, sender, begun) VALUES (?, ?, ?)",
                (sent.id, sender, sent.begun),
            )
            file.executemany(
                "INSERT INTO requests (id, call, attempt, round) VALUES (?, ?, ?, ?)",
                ((name, *attempt, sent.id) for name, attempt in attempts.items()),
            )
        return sent

    def created(self, sent: str, batch: str) -> None:
        """Write the server's identifier of the batch of a round."""
        with self._changing() as file:
            file.execute("UPDATE rounds SET batch = ? WHERE id = ?", (batch, sent))

    def fail(self, request: str, why: str) -> None:
        """Write that a reply cannot be read."""
        with self._changing() as file:
            file.execute(
                "UPDATE requests SET fate = 'failed', why = ? WHERE id = ?", (why, request)
            )

    def open_rounds(self, sender: str) -> list[SentRound]:
        """Return the rounds of a sender that have not ended, the oldest first."""
        query = "SELECT id, begun, batch FROM rounds WHERE sender = ? AND NOT ended ORDER BY begun"
        with self._changing() as file:
            return [SentRound(*row) for row in file.execute(query, (sender,))]

    def batches(self) -> set[str]:
        """Return the server's identifiers of all batches."""
        with self._changing() as file:
            return {row[0] for row in file.execute("SELECT batch FROM rounds WHERE batch NOTNULL")}

    def requests(self, sent: str) -> set[str]:
        """Return the identifiers of the requests of a round."""
        with self._changing() as file:
            return {
                row[0] for row in file.execute("SELECT id FROM requests WHERE round = ?", (sent,))
            }

    def counts(self) -> tuple[int, int]:
        """Return the number of rounds, and of results that came a second time."""
        query = "SELECT (SELECT count(*) FROM rounds), (SELECT total(again) FROM requests)"
        with self._changing() as file:
            rounds, again = file.execute(query).fetchone()
        return rounds, int(again)

    def end(self, sent: SentRound, results: Iterable[RequestResult], rest: RequestResult) -> None:
        """Write the results of a round; the first reply of a request counts.

        Args:
            sent: The round.
            results: In any order; those of other rounds are ignored.
            rest: The result of the requests that are not among them.
        """
        seconds = round(max(0.0, time.time() - sent.begun), 3)
        with self._changing() as file:
            # A reply is paid for, whatever else a second line says.
            for one in sorted(results, key=lambda one: one.fate != "reply"):
                file.execute(
                    "UPDATE requests SET again = again + (fate NOTNULL), "
                    "why = iif(fate ISNULL, ?1, why), body = iif(fate ISNULL, ?2, body), "
                    "fate = coalesce(fate, ?3), seconds = ?4 WHERE id = ?5 AND round = ?6",
                    (one.why, one.body, one.fate, seconds, one.id, sent.id),
                )
            file.execute(
                "UPDATE requests SET fate = ?, why = ? WHERE round = ? AND fate ISNULL",
                (rest.fate, rest.why, sent.id),
            )
            file.execute("UPDATE rounds SET ended = 1 WHERE id = ?", (sent.id,))

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction.

        Raises:
            WriteFailed: The file cannot be read or written.
        """
        try:
            with self._lock:
                self._file.execute("BEGIN IMMEDIATE")
                try:
                    yield self._file
                except BaseException:
                    self._file.execute("ROLLBACK")
                    raise
                self._file.execute("COMMIT")
        except sqlite3.Error as fault:
            raise WriteFailed(f"cannot write {self._path}: {fault}") from None
