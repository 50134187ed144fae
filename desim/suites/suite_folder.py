"""The folder of a suite, and the outcomes in it, which are read as data.

suite.toml       a copy of the suite's file; reference/ has copies of the published figures it names
sweep.sqlite     results of all jobs, and what determines them (`desim.engine.store`)
records/         a record an episode; of episodes in a row a folder a job
earlier/         records that were set aside, until their jobs have been played again
rows.csv         a row an episode
table.csv        the table of results; results.json holds the same
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from desim.core.policy import most_known
from desim.core.roles import Knowledge
from desim.engine.plan import RECORDS
from desim.engine.store import FILE_NAME, Store
from desim.episodes.series import episode_file
from desim.episodes.usage import default_share, is_played, unplayed_roles, usage_in_all
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.show.labels import flat

#: The copy of the suite's file in its folder, and of the published figures that it names.
SUITE, REFERENCE = "suite.toml", "reference"

#: The beginning of the error of an episode that a limit has stopped.
_LIMIT = "LimitReached: "

#: Fields of an episode that its record holds as well.
_ON_RECORD = ("score", "ended", "decisions", "metrics", "usage", "ledger_digest", "knows")


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an episode.

    Attributes:
        episode: Its place in a row, from 1.
        training: Whether its policies only learned from it, so that it is not scored.
        score: The score; None if the episode has not ended.
        ended: The reason of its end.
        decisions: The number of its decisions.
        metrics: Further figures, nested ones by their path.
        ledger_digest: The digest of its ledgers.
        usage: Sums over all roles of what policies noted: calls, tokens, cost, seconds.
        limit: The limit of the episode that was reached, or one shared with others; empty for none.
        error: Why it failed; None if it did not.
        seconds: Wall time of the command that ended it.
        knows: The most that one of its policies knows.
        unplayed: The roles whose language models mostly took the default action.
        cluster: The cluster of its seed; empty for none.
        record: The name of its record in the folder; None without one.
    """

    episode: int = 1
    training: bool = False
    score: float | None = None
    ended: str | None = None
    decisions: int | None = None
    metrics: dict[str, Any] = {}
    ledger_digest: str | None = None
    usage: dict[str, float] = {}
    limit: str = ""
    error: str | None = None
    seconds: float = 0.0
    knows: Knowledge = "observation"
    unplayed: tuple[str, ...] = ()
    cluster: str = ""
    record: str | None = None

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
        return "not played" if self.unplayed or not is_played(self.usage) else "done"

    @property
    def default_share(self) -> float | None:
        """The share of default actions in the decisions of language models; None without any."""
        return default_share(self.usage)

    @property
    def seconds_played(self) -> float:
        """Seconds waited for replies, which a kill does not shorten; without any, wall time."""
        return self.usage.get("seconds", 0.0) or self.seconds


#: The outcomes of a suite: by the name of a job those of its episodes, of which the last may be the
#: one that failed or was cut.
Outcomes = Mapping[str, tuple[Played, ...]]


class _Row(Played, frozen=True, kw_only=True):
    """A row of the store: a job with the results of one episode, or of several in a row."""

    job: str
    seed: int
    repeat: int
    train: int
    tuning: bool = False
    episodes: tuple[Played, ...] | None = None


_decode = msgspec.json.Decoder(_Row).decode


def job_name(prefix: str, seed: int, repeat: int) -> str:
    """Return the name of a job, from that of its world and entry."""
    return f"{prefix}__seed{seed}__{repeat + 1}"


def outcomes_of(rows: Iterable[bytes]) -> dict[str, tuple[Played, ...]]:
    """Return the outcomes in the rows of a store.

    Raises:
        BadRecord: A row is damaged.
    """
    read = _decoded(rows)
    return {job_name(one.job, one.seed, one.repeat): tuple(_each(one)) for one in read}


def _decoded(rows: Iterable[bytes]) -> list[_Row]:
    try:
        return [_decode(row) for row in rows]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise BadRecord(f"a row of {FILE_NAME} is not as a suite wrote it: {fault}") from None


def _each(row: _Row) -> Iterator[Played]:
    """Yield the outcomes of a job's episodes; none if a limit was reached before its first call."""
    ended = row.episodes or ()
    for number, one in enumerate(ended, 1):
        yield msgspec.structs.replace(one, episode=number, training=number <= row.train)
    error = row.error or ""
    if row.episodes is not None and not error:
        return
    limit = error.removeprefix(_LIMIT) if error.startswith(_LIMIT) else ""
    if limit and row.record is None:
        return
    number = len(ended) + 1
    yield msgspec.structs.replace(
        row,
        episode=number,
        training=number <= row.train,
        limit=limit or row.limit,
        error=None if limit else row.error,
    )


def outcomes_in(folder: Path) -> dict[str, tuple[Played, ...]]:
    """Return the outcomes of the last command in a folder; none before the first has begun.

    Raises:
        UsageError: The store cannot be read.
        BadRecord: A row is damaged.
    """
    return outcomes_of(_rows(folder))


def was_tuning(folder: Path) -> bool:
    """Return whether the last command in a folder has played the tuning seeds."""
    return any(row.tuning for row in _decoded(_rows(folder)))


def _rows(folder: Path) -> list[bytes]:
    if not (folder / FILE_NAME).exists():
        return []
    with Store(folder, read=True) as store:
        return [*store.rows()]


def is_whole(outcomes: Outcomes, job: str, episodes: int) -> bool:
    """Return whether all episodes of a job have ended, so that nothing is left to play."""
    return ended_episodes(outcomes.get(job, ())) == episodes


def ended_episodes(played: Iterable[Played]) -> int:
    """Return how many episodes have ended."""
    return sum(one.score is not None for one in played)


def used(outcomes: Outcomes) -> dict[str, float]:
    """Return the sums of usage over all episodes, those that failed or were cut included."""
    return usage_in_all(one.usage for each in outcomes.values() for one in each)


# -- records ---------------------------------------------------------------------------------------


def record_in(folder: Path, played: Played, *, in_a_row: bool) -> Path:
    """Return the record of an episode in the folder of its suite."""
    # The name alone, as a stranger's row may name any file.
    record = folder / RECORDS / Path(played.record or "none").name
    return episode_file(record, played.episode) if in_a_row else record


def record_differences(job: str, played: Played, record: Path) -> Iterator[str]:
    """Yield a sentence for each difference between an outcome and the record of its episode.

    Args:
        job: The name of the job.
        played: Its outcome.
        record: The record.

    Raises:
        BadRecord: The record is missing, cut or damaged.
    """
    if not record.exists():
        raise BadRecord(f"{record} is missing or cut, and its outcome is not")
    past = Episode.read(record, whole=False, keep_steps=False)
    if (result := past.result) is None:
        raise BadRecord(f"{record} is missing or cut, and its outcome is not")
    again = Played(
        score=result.score,
        ended=result.ended,
        decisions=result.decisions,
        metrics=dict(flat(result.metrics)),
        usage=usage_in_all(result.usage.values()),
        ledger_digest=result.ledger_digest,
        knows=most_known(past.header.knows.values()),
        unplayed=unplayed_roles(result.usage),
    )
    for field in _ON_RECORD:
        kept, found = _plain(getattr(played, field)), _plain(getattr(again, field))
        if kept != found:
            yield f"{job}: {field} is {kept!r} in the rows and {found!r} on record"


def check_records(folder: Path, outcomes: Outcomes, in_a_row: Mapping[str, bool]) -> None:
    """Check that the records of all ended episodes are those of their outcomes.

    Args:
        folder: The folder of the suite.
        outcomes: The outcomes.
        in_a_row: By job whether it has several episodes; others are not checked.

    Raises:
        BadRecord: One is missing, cut, damaged or another one.
    """
    for job, several in in_a_row.items():
        for one in outcomes.get(job, ()):
            if one.score is None:
                continue
            file = record_in(folder, one, in_a_row=several)
            try:
                found = next(record_differences(job, one, file), "")
            except BadRecord as fault:
                found = str(fault)
            if found:
                raise BadRecord(
                    f"{found if str(file) in found else f'{file} was altered: {found}'}; put the "
                    "record back, or play the suite anew (--restart)"
                )


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


# -- folders ---------------------------------------------------------------------------------------


def check_folder(folder: Path) -> None:
    """Refuse a folder that a suite cannot be played into.

    Raises:
        UsageError: It is a file, holds other files, or a suite of an earlier desim.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    refuse_earlier_format(folder)
    if folder.is_dir() and not (folder / FILE_NAME).exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} holds other files and no suite; choose a new folder")


def holds_suite(folder: Path) -> bool:
    """Return whether a suite was played into a folder."""
    return all((folder / name).exists() for name in (SUITE, FILE_NAME))


def refuse_earlier_format(folder: Path) -> None:
    """Refuse the folder of an earlier desim.

    Raises:
        UsageError: It is one.
    """
    if (folder / "suite.json").exists():
        raise UsageError(
            f"{folder} holds a suite of an earlier desim, which kept it in other files; choose "
            "another folder (--out)"
        )
