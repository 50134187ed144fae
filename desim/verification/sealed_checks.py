"""The steps of `desim verify` for an entry that was played in a sealed session.

Every episode is played again with the answers on record; the policies of other roles decide again,
abandoned episodes go on with default actions, and both records are compared.
"""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from desim.episodes.caller import CallerSession
from desim.errors import BadRecord, DesimError, LimitReached, UsageError
from desim.records.episode import Episode
from desim.records.line_tags import tag_of
from desim.records.lines import Step
from desim.records.record_file import lines_of
from desim.verification.checks import Entry, Progress
from desim.verification.entries.entry_folder import (
    COMMITTED,
    RECORDS,
    SESSION,
    SUITE,
    EntryPlan,
    record_files,
    suite_digest,
)
from desim.verification.figures import outcome_of
from desim.verification.played_again import NotDecidable
from desim.verification.record_content import check_same, content_digest
from desim.verification.sealed.sealed_suite import (
    SealedEpisode,
    SealedSuite,
    answer_by_default,
)
from desim.verification.sealed.statements import SignedSession
from desim.verification.signed.canonical import digest
from desim.verification.suite_reach import check_suite_reach

#: Most bytes of a file of a session.
_MAX_BYTES = 8_000_000


def check_session(entry: Entry) -> None:
    """Steps 4 and 5b: the suite; the session, its signatures, its secret, and the seeds of both.

    Raises:
        BadRecord: A statement is false, or of another session, suite or player.
        NotDecidable: The key of the server, or a world at this revision, is not known here.
    """
    if entry.server is None:
        raise NotDecidable("the session is signed by a server; give its public key (--server)")
    if SESSION not in entry.folder.files:
        raise BadRecord(f"{SESSION} is missing, which sealed seeds need")
    if any(name in entry.folder.files for name in COMMITTED):
        raise BadRecord("the entry has a commitment, and its seeds are declared sealed")
    session = SignedSession.read(entry.folder.content(SESSION, _MAX_BYTES), entry.server.key)
    suite = _suite(entry)
    _check_player(entry, session)
    _check_suite(suite, session)
    entry.server.check_logged(session)
    number, name = session.opening.number, session.opening.name
    plan = suite.revealed(session.secret, number, name)
    entry.session, entry.plan = session, EntryPlan(plan, suite_digest(suite.suite))
    entry.counted = entry.server.counted(session)


def check_sealed_episodes(entry: Entry, progress: Progress) -> None:
    """Steps 7 to 9: the record of every episode is the session's, and holds what was played.

    Raises:
        BadRecord: One is another, is not proved by its tags, or differs; the text names the first.
    """
    session, suite = entry.session, _suite(entry)
    assert session is not None
    seeds = suite.seeds(session.secret, session.opening.number)
    jobs = entry.planned.jobs
    progress(0, len(jobs))
    for one, job, seed in zip(suite.episodes, jobs, seeds, strict=True):
        (name,) = record_files(job)
        file = entry.folder.path / name
        try:
            found = _proved(file, session, one.number)
            if found != session.closing.records[one.number]:
                raise BadRecord("it is not the one that the end of the session names")
            if found != entry.manifest.records.get(name):
                raise BadRecord("it is not the one that the manifest names")
            _check_played(file, one, seed, session.closing.abandoned.get(str(one.number)))
        except LimitReached:
            raise
        except DesimError as fault:
            raise BadRecord(f"record {name}, {fault}".replace(f"{file}: ", "")) from None
        entry.outcomes[job.name] = outcome_of(job, [file])
        progress(one.number + 1, len(jobs))


def check_receipts(folder: Path, receipts: Iterable[str]) -> None:
    """Check that every receipt that a client has kept is of a line in a record of an entry.

    Args:
        folder: The folder of an entry that was accepted.
        receipts: The receipts.

    Raises:
        BadRecord: One is not, so that a record was exchanged after its client had played.
    """
    lines = (line for file in (folder / RECORDS).glob("*.jsonl.gz") for line in lines_of(file))
    tags = {tag_of(line) for line in lines}
    for receipt in receipts:
        if receipt not in tags:
            raise BadRecord(f"the receipt {receipt[:40]} is of no line of the records")


def _suite(entry: Entry) -> SealedSuite:
    """Return the suite of an entry.

    Raises:
        BadRecord: It is another one than the manifest names.
        NotDecidable: It names a stranger's code, or something that does not exist here.
    """
    content = entry.folder.content(SUITE)
    if digest(content) != entry.manifest.suite_file:
        raise BadRecord("the suite's file is not the one that the manifest names")
    try:
        suite = SealedSuite.read(content, check=None if entry.trust else check_suite_reach)
    except NotDecidable:
        raise
    except UsageError as fault:
        raise NotDecidable(str(fault)) from None
    if suite_digest(suite.suite) != entry.manifest.suite:
        raise BadRecord("the suite is another one than the manifest names")
    return suite


def _check_player(entry: Entry, session: SignedSession) -> None:
    """Check that the entry is that of the client who opened the session."""
    manifest, opening = entry.manifest, session.opening
    if manifest.session != session.offer.session:
        raise BadRecord("the session is not the one that the manifest names")
    if manifest.entry != opening.name:
        raise BadRecord(f"the session was opened as {opening.name!r}, not {manifest.entry!r}")
    if manifest.key and not opening.key:
        raise BadRecord("the session was opened without a key, and is signed afterwards")
    if opening.key != manifest.key:
        raise BadRecord("the session was opened with another key than that of the manifest")
    if manifest.commitment != opening.commitment:
        raise BadRecord("the session was opened with another commitment than the manifest names")


def _check_suite(suite: SealedSuite, session: SignedSession) -> None:
    """Check that the session is one of the suite, and that its seeds make a difference."""
    offer = session.offer
    if offer.suite != suite.digest or offer.episodes != len(suite.episodes):
        raise BadRecord("the session was played with another suite")
    for world, here in suite.revisions.items():
        if (then := offer.worlds.get(world, "none")) != here:
            raise NotDecidable(f"world {world} has revision {here} here, the session {then}")
    try:
        suite.check_hides()
    except UsageError as fault:
        raise BadRecord(str(fault)) from None


def _proved(file: Path, session: SignedSession, number: int) -> str:
    """Return the content digest of a record, after a check of its tags.

    Raises:
        BadRecord: It is missing, not whole, a branch, or not proved by the key of the session.
    """
    header = Episode.read(file, keep_steps=False, key=session.secret.record_key(number)).header
    if header.starts or header.futures:
        raise BadRecord("it is a branch")
    return content_digest(file)


def _check_played(file: Path, one: SealedEpisode, seed: int, answered: int | None) -> None:
    """Play an episode again with the answers on record, and compare both records.

    Args:
        file: The record.
        one: The episode.
        seed: Its seed.
        answered: How many decisions the client has answered; None for all.

    Raises:
        BadRecord: The records differ.
    """
    steps = Episode.read(file, keep_steps=False).steps
    with tempfile.TemporaryDirectory(prefix="desim-verify-") as folder:
        again = Path(folder) / "again.jsonl"
        with one.session(seed, record=again) as session:
            answers = (step for step in steps if step.role in one.seats)
            while session.open:
                if answered is not None and session.answered >= answered:
                    answer_by_default(session)
                else:
                    _answer_as_on_record(session, answers)
                session.advance()
        check_same(file, again)


def _answer_as_on_record(session: CallerSession, answers: Iterator[Step]) -> None:
    """Answer an open decision as the next one on record.

    Raises:
        BadRecord: The record has no further one, or one of another role.
    """
    step = next(answers, None)
    decision = session.open[0]
    if step is None or step.role != decision.role:
        raise BadRecord(f"decision {session.session.decided + 1} is not on record")
    session.answer(decision, step.action)
