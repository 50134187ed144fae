"""One episode of a job: its session with or without a record, its event loop, its errors as text.

`play_job` makes a row of it, for sweeps; `play_record` an outcome, for jobs with records.
"""

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from desim.core.model import Model
from desim.engine.run.play_series import in_background
from desim.episodes.driver import play_session, play_session_async
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import Lineup
from desim.episodes.session import Session
from desim.errors import BadRecord
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.record_file import begun
from desim.records.record_lock import RecordLock

#: Most characters of an error text.
_MAX_ERROR = 500

#: The topics of a header in which a record must fit its job.
_TOPICS = ("model", "params", "seed", "policies")


@contextlib.contextmanager
def opened_session(
    model: Model[Any],
    lineup: Lineup,
    seed: int,
    record: Path | None,
    how: EpisodeOptions,
    make: Callable[..., Session] = Session,
) -> Iterator[Session]:
    """Open the session of an episode, under the lock of its record if it has one.

    A cut record is continued: the policies make its decisions again, with the replies on record. A
    whole one is repeated in the same way, and nothing is written.

    Args:
        model: The frozen parameters.
        lineup: The policies.
        seed: A whole number of at least 0.
        record: The file that receives the episode, new or of a killed process; None records
            nothing.
        how: Settings of the episode and of its record.
        make: Makes the session, with the arguments of `Session`.

    Raises:
        BadRecord: The record cannot be read, is of another episode, or the policies decide
            otherwise than on record.
        UsageError: Another process writes the record, or it cannot be written.
    """
    if record is None:
        with make(model, lineup, seed, how=how) as session:
            yield session
        return
    with RecordLock(record):
        past = Episode.read(record, whole=False, keep_steps=False) if begun(record) else None
        if past is not None:
            _check_header(record, past.header, Header.of(model, seed, lineup.labels))
        with make(model, lineup, seed, record, past, how) as session:
            yield session


def _check_header(record: Path, recorded: Header, wanted: Header) -> None:
    """Check that a record belongs to an episode.

    Raises:
        BadRecord: The record has another model, seed or line-up.
    """
    for topic in _TOPICS:
        # As JSON, because what was recorded has lists where a header that starts now has tuples.
        now = msgspec.json.decode(msgspec.json.encode(getattr(wanted, topic)))
        if getattr(recorded, topic) != now:
            raise BadRecord(f"{record} is another episode's: its {topic} differ from the job's")


async def play_in_loop(session: Session) -> Episode:
    """Play a session in the event loop that runs; other episodes go on while its policies wait.

    An episode whose policies block their thread while they wait is played in a thread of its own.
    """
    if Lineup(session.policies, session.header.policies).waits:
        return await play_session_async(session)
    played: Episode = await in_background(play_session, session)
    return played


def error_label(fault: BaseException) -> str:
    """Return an exception as one line that is the same in every process."""
    return f"{type(fault).__name__}: {error_text(fault)}".removesuffix(": ")[:_MAX_ERROR]


def error_text(fault: BaseException) -> str:
    """Return the text of an exception as one line, without addresses in memory."""
    return " ".join(re.sub(r" at 0x[0-9a-fA-F]+", "", str(fault)).split())[:_MAX_ERROR]
