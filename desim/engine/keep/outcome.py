"""The outcomes of jobs with records: read from these, and kept in a journal, one SQLite file.

The journal may be read while its jobs are played, which can take days, unlike the store of cells of
a sweep; the lock of the folder keeps other writers out.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from desim.core.policy import most_known
from desim.core.roles import Knowledge
from desim.engine.keep.fingerprint import difference
from desim.engine.keep.sqlite_file import WAYS, SqliteFile
from desim.engine.record_job import RecordJob
from desim.episodes.usage import default_share, is_played, unplayed_roles, usage_in_all
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.show.labels import flat

#: The key of a policy's notes that says which limit of the episode was reached.
LIMIT = "limit"


class Played(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of an episode.

    Attributes:
        job: The name of its job.
        episode: Its place in a series, from 1.
        training: Whether its policies only learned from it, so that it is not scored.
        score: The score; None if the episode has not ended.
        ended: The reason of its end.
        decisions: The number of its decisions.
        metrics: Further figures, nested ones by their path.
        usage: Sums over all roles of what policies noted: calls, tokens, cost, seconds.
        limit: The limit of the episode that was reached, or one shared with others; empty for none.
        error: Why it failed; empty if it did not.
        seconds: Wall time of the command that ended it.
        knows: The most that one of its policies knows.
        revision: The revision of the world in words; empty if its record states none.
        unplayed: The roles whose language models mostly took the default action.
    """

    job: str
    episode: int = 1
    training: bool = False
    score: float | None = None
    ended: str = ""
    decisions: int = 0
    metrics: dict[str, Any] = {}
    usage: dict[str, float] = {}
    limit: str = ""
    error: str = ""
    seconds: float = 0.0
    knows: Knowledge = "observation"
    revision: str = ""
    unplayed: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """The outcome: failed, cut (by a limit), training, not played or done; the last counts.

        Not played is an episode in which the language model of a role mostly took the default
        action; see `desim.episodes.usage.MOST_DEFAULTS`.
        """
        if self.error:
            return "failed"
        if self.limit:
            return "cut"
        if self.training:
            return "training"
        # Rows of earlier versions name no roles.
        return "not played" if self.unplayed or not is_played(self.usage) else "done"

    @property
    def default_share(self) -> float | None:
        """The share of default actions in the decisions of language models; None without any."""
        return default_share(self.usage)

    @property
    def seconds_played(self) -> float:
        """Seconds waited for replies, which a kill does not shorten; without any, wall time."""
        return self.usage.get("seconds", 0.0) or self.seconds


class JobOutcome(Played, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a job, which is one episode or a series.

    The limit and error of a series say why it stopped; score, end, decisions, metrics and usage are
    in its episodes.

    Attributes:
        episodes: The ended episodes of a series, in order; empty for one episode.
    """

    episodes: tuple[Played, ...] = ()

    @property
    def final(self) -> bool:
        """Whether all episodes have ended, so that nothing is left to play."""
        stopped = self.error or self.limit
        return bool(self.episodes and not stopped) or self.score is not None

    @property
    def ended_episodes(self) -> int:
        """The number of episodes that have ended."""
        return len(self.episodes) or int(self.score is not None)

    @property
    def each(self) -> tuple[Played, ...]:
        """The outcomes of its episodes, the one at which a series has stopped included."""
        if self.final and self.episodes:
            return self.episodes
        return (*self.episodes, self)


def read_outcome(job: str, record: Path, seconds: float = 0.0) -> JobOutcome | None:
    """Return the outcome in a complete record; None for a record that is missing or cut.

    Raises:
        BadRecord: The file is damaged, or holds something else.
    """
    played = read_played(job, record, seconds)
    return JobOutcome(**msgspec.structs.asdict(played)) if played else None


def read_played(
    job: str, record: Path, seconds: float = 0.0, episode: int = 1, *, training: bool = False
) -> Played | None:
    """Return the outcome of an episode by its record; None for one that is missing or cut.

    Raises:
        BadRecord: The file is damaged, or holds something else.
    """
    if not record.exists():
        return None
    recorded = Episode.read(record, whole=False, keep_steps=False)
    result = recorded.result
    if result is None:
        return None
    return Played(
        job=job,
        episode=episode,
        training=training,
        score=result.score,
        ended=result.ended,
        decisions=result.decisions,
        metrics=dict(flat(result.metrics)),
        usage=usage_in_all(result.usage.values()),
        limit=next(_limits_noted(recorded), ""),
        seconds=round(seconds, 3),
        knows=most_known(recorded.header.knows.values()),
        revision=recorded.header.provenance.text,
        unplayed=unplayed_roles(result.usage),
    )


def _limits_noted(episode: Episode) -> Iterator[str]:
    """Yield the limits that policies noted."""
    return (str(step.notes[LIMIT]) for step in episode.steps if step.notes and LIMIT in step.notes)


#: Seconds that a reader waits for a transaction of the writer, and the writer for a reader.
_PATIENCE = 10.0

_decode, _encode = msgspec.json.Decoder(JobOutcome).decode, msgspec.json.Encoder().encode
_topics = msgspec.json.Decoder(dict[str, str]).decode

#: Exceptions that the decoding of an untrusted row raises.
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError)


class Journal(SqliteFile):
    """Keeps the last outcome of each job by its name; a context manager.

    A plan may grow: a journal is continued by one with more jobs and more topics.

    Args:
        folder: The folder of the journal.
        identity: What determines the episodes, by topic; None opens an existing journal for
            reading.
        jobs: All jobs of the plan, to which outcomes belong; empty for reading.
        restart: Discard the outcomes of an existing journal, of these jobs or others.

    Attributes:
        discarded: The number of outcomes that were discarded.

    Raises:
        UsageError: See `SqliteFile`; the identity of the kept outcomes has a topic that is missing
            or different in *identity*, or an outcome is of no job of the plan.
    """

    file_name: ClassVar[str] = "suite.sqlite"
    form: ClassVar[int] = 3
    command: ClassVar[str] = "suite"
    tables: ClassVar[str] = """
CREATE TABLE identity (topics BLOB NOT NULL);
CREATE TABLE outcomes (job TEXT PRIMARY KEY, outcome BLOB NOT NULL)"""

    def __init__(
        self,
        folder: Path,
        identity: Mapping[str, str] | None = None,
        jobs: Sequence[RecordJob] = (),
        *,
        restart: bool = False,
    ) -> None:
        super().__init__(folder, read=identity is None, restart=restart)
        self.discarded = 0
        if identity is not None:
            with self._usage_errors():
                self._begin(identity, jobs, restart=restart)

    def put(self, outcome: JobOutcome) -> None:
        """Keep the outcome of a job; an earlier one is replaced.

        Raises:
            UsageError: The outcome cannot be written, for instance because the disk is full.
        """
        with self._usage_errors(), self._transaction():
            query = "INSERT INTO outcomes VALUES (?, ?) ON CONFLICT DO UPDATE SET outcome = ?"
            text = _encode(outcome)
            self._file.execute(query, (outcome.job, text, text))

    def outcomes(self) -> dict[str, JobOutcome]:
        """Return the outcomes by the names of their jobs.

        Raises:
            BadRecord: An outcome is damaged.
        """
        with self._usage_errors():
            stored = self._file.execute("SELECT outcome FROM outcomes ORDER BY rowid").fetchall()
        try:
            found = [_decode(row) for (row,) in stored]
        except _UNREADABLE as fault:
            raise BadRecord(f"{self.path} holds a row that is no outcome: {fault}") from None
        return {outcome.job: outcome for outcome in found}

    def identity(self) -> dict[str, str]:
        """Return what determines the episodes.

        Raises:
            UsageError: It is damaged.
        """
        with self._usage_errors():
            stored = self._file.execute("SELECT topics FROM identity").fetchone()
        try:
            return _topics(stored[0]) if stored else {}
        except _UNREADABLE as fault:
            raise UsageError(f"{self.path} holds no suite: {fault}; {WAYS}") from None

    def require(self, identity: Mapping[str, str], jobs: Sequence[RecordJob]) -> None:
        """Check that the kept outcomes are some of a plan's.

        Args:
            identity: What determines the episodes of the plan, by topic.
            jobs: All its jobs.

        Raises:
            UsageError: They are not; the text names the differences.
        """
        stored = self.identity()
        if not stored.items() <= identity.items():
            now = {topic: text for topic, text in identity.items() if topic in stored}
            raise UsageError(f"{self.path} holds {difference(self.command, stored, now)}; {WAYS}")
        kept = {job for (job,) in self._file.execute("SELECT job FROM outcomes")}
        if others := sorted(kept - {job.name for job in jobs}):
            more = f" and {len(others) - 1:,} more" if len(others) > 1 else ""
            text = f"{self.path} holds another suite, with the episodes {others[0]}{more}; {WAYS}"
            raise UsageError(text)

    def _begin(
        self, identity: Mapping[str, str], jobs: Sequence[RecordJob], *, restart: bool
    ) -> None:
        if restart:
            self.discarded = self._integer("SELECT count(*) FROM outcomes")
        else:
            self.require(identity, jobs)
        with self._transaction():
            if restart:
                self._file.execute("DELETE FROM outcomes")
            self._file.execute("DELETE FROM identity")
            self._file.execute("INSERT INTO identity VALUES (?)", (_encode(identity),))

    def _connected(self) -> sqlite3.Connection:
        file = super()._connected()
        file.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")
        return file

    def _lock(self) -> None:
        """Take no lock that lasts: the folder's keeps other writers out, and readers may read."""
