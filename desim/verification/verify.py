"""Verifies entries of suites, and single records: every action is derived again.

Nothing that an entry names is imported or opened, and no connection is made; a rule of the
submitter's own is asked in a process of its own. The first failed step ends an entry with one
sentence.
"""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from attrs import field, frozen

from desim.core.limits import Alarm
from desim.errors import BadRecord, DesimError, LimitReached, UsageError
from desim.records.episode import Episode
from desim.records.reach import model_reaches, refuse
from desim.verification.boards.board_log import BoardLog
from desim.verification.checked_jobs import CheckProcesses
from desim.verification.checks import (
    Entry,
    Progress,
    check_code,
    check_complete,
    check_episodes,
    check_figures,
    check_plan,
    check_seeds,
    check_signature,
)
from desim.verification.entries.entry_folder import EntryFolder
from desim.verification.entries.entry_manifest import Seeds
from desim.verification.figures import scores_of, tuning_warnings
from desim.verification.offline import offline
from desim.verification.played_again import (
    NotDecidable,
    Players,
    play_again,
    rehearses,
    same_versions,
)
from desim.verification.record_content import check_same
from desim.verification.sealed.listed_server import ListedServer
from desim.verification.sealed_checks import check_sealed_episodes, check_session
from desim.verification.signed.canonical import digest
from desim.verification.signed.keys import PublicKey

#: The outcome of a verification, with its exit code.
Decision = Literal["accepted", "refused", "not decidable"]
EXIT_CODES: dict[Decision, int] = {"accepted": 0, "refused": 1, "not decidable": 2}

#: Wall time of an entry: a stranger may hand in a suite of 100,000 long episodes.
MOST_MINUTES = 60.0

#: The statement that an accepted entry proves and the one that it leaves open, by the class of its
#: seeds and the derivation of its actions.
_PROVES = {
    ("public", "asked again"): (
        "the rule gives this result on these seeds",
        "that it was not fitted to them",
    ),
    ("public", "parsed again"): (
        "the recorded replies, prompts and method give these actions, use and figures",
        "that the named model wrote the replies, and that they are its first ones",
    ),
    ("fresh", "asked again"): (
        "the rule was fixed before these seeds existed, and gives this result",
        "that its author has made no other commitments under other names",
    ),
    ("fresh", "parsed again"): (
        "prompt and method were fixed before these seeds existed, and the replies give this result",
        "that the named model wrote the replies, and that they are its first ones",
    ),
    ("sealed", "repeated"): (
        "every action was chosen without the seed, once for each episode, and none was left out",
        "who or what chose the actions, nor that client and server do not collude",
    ),
}


@frozen
class Verdict:
    """The verdict on an entry or a record.

    Attributes:
        subject: Its path.
        decision: Accepted, refused, or not decidable here.
        sentences: Why it is not accepted.
        seeds: The class of the seeds.
        actions: The derivation of its actions: "asked again" or "parsed again"; "repeated" for
            those that a client sent to the server of a sealed session.
        name: The entry's name.
        key: The identity of its key; empty without one.
        episodes: How many episodes were played again.
        manifest: The digest of the manifest; empty for a record.
        warnings: What a reader of an accepted entry is to know of it.
        counted: Which session or commitment of its key it is, by the log: "session 2 of 5".
        scores: By world the scores of each seed, as texts, those of repeats together.
    """

    subject: str
    decision: Decision
    sentences: tuple[str, ...] = ()
    seeds: str = ""
    actions: str = ""
    name: str = ""
    key: str = ""
    episodes: int = 0
    manifest: str = ""
    warnings: tuple[str, ...] = ()
    counted: str = ""
    scores: Mapping[str, Mapping[str, Sequence[str]]] = field(factory=dict, repr=False)

    @property
    def text(self) -> str:
        """The verdict in one line, or one for each fault."""
        if self.decision != "accepted":
            return "\n".join(f"{self.subject}: {self.decision}: {one}" for one in self.sentences)
        proves, open_question = _PROVES[self.seeds, self.actions]
        owner = f", signed by {self.key[:16]}" if self.key else ", not signed"
        count = f"{self.episodes:,} episode{'s' if self.episodes != 1 else ''}"
        warned = f" It is {self.counted} of its key." if self.counted else ""
        warned += "".join(f" Warning: {sentence}." for sentence in self.warnings)
        return (
            f"{self.subject}: accepted: {count} {self.actions}, {self.seeds} seeds{owner}. This "
            f"proves that {proves}, and not {open_question}.{warned}"
        )


def verify(
    path: str | Path,
    *,
    every: bool = False,
    trust: bool = False,
    workers: CheckProcesses | None = None,
    board: BoardLog | None = None,
    server: ListedServer | None = None,
    minutes: float = MOST_MINUTES,
    progress: Progress = lambda *_: None,
) -> Verdict:
    """Verify the folder of an entry, or one record.

    Args:
        path: The folder, or the record.
        every: Whether later steps are taken after one has failed.
        trust: Whether modules may be imported and files opened that it names.
        workers: Processes that several calls share; an entry whose code is trusted gets as many of
            its own. None plays episodes again in this process.
        board: The log of the board that received the commitment of an entry with fresh seeds.
        server: The server of the session of an entry with sealed seeds.
        minutes: Wall time, after which it is not decidable; in the main thread of a process alone.
        progress: Called with the episodes and series done, and all of them.

    Raises:
        UsageError: The path does not exist or cannot be read.
    """
    subject = Path(path)
    if not subject.exists():
        raise UsageError(f"{subject} does not exist; give the folder of an entry, or a record")
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(offline())
            stack.enter_context(Alarm(60 * minutes))
            if not subject.is_dir():
                return _of_record(subject, trust=trust)
            used = workers or CheckProcesses()
            if trust:
                used = stack.enter_context(CheckProcesses(used.processes))
            used.seconds = 60 * minutes
            how = EntryChecks(every=every, trust=trust, workers=used, board=board, server=server)
            return _of_folder(subject, progress, how)
    except LimitReached:
        late = f"it was not verified within {minutes:g} minutes, the limit (--minutes)"
        return Verdict(str(path), "not decidable", (late,))


@frozen(kw_only=True)
class EntryChecks:
    """The options of a verification; see `verify`."""

    every: bool
    trust: bool
    workers: CheckProcesses
    board: BoardLog | None
    server: ListedServer | None


def _of_folder(path: Path, progress: Progress, how: EntryChecks) -> Verdict:
    faults: list[DesimError] = []
    entry: Entry | None = None
    try:
        folder = EntryFolder.opened(path)
        manifest = folder.manifest()
        entry = Entry(folder, manifest, how.trust, how.workers, how.board, how.server)
    except BadRecord as fault:
        return _verdict(path, None, [fault])
    for step in _steps(manifest.seeds, progress):
        try:
            step(entry)
        except (BadRecord, NotDecidable) as fault:
            faults.append(fault)
            if not how.every or entry.plan is None:
                break
    return _verdict(path, entry, faults)


def _steps(seeds: Seeds, progress: Progress) -> Iterator[Callable[[Entry], None]]:
    yield check_signature
    yield check_code
    if seeds == "sealed":
        yield check_session
        yield check_complete
        yield lambda entry: check_sealed_episodes(entry, progress)
    else:
        yield check_plan
        yield check_seeds
        yield check_complete
        yield lambda entry: check_episodes(entry, progress)
    yield check_figures


def _verdict(path: Path, entry: Entry | None, faults: list[DesimError]) -> Verdict:
    sentences = tuple(map(str, faults))
    refused = any(not isinstance(fault, NotDecidable) for fault in faults)
    if faults or entry is None:
        return Verdict(str(path), "refused" if refused else "not decidable", sentences)
    manifest = entry.manifest
    key = PublicKey(bytes.fromhex(manifest.key)).id if manifest.key else ""
    return Verdict(
        str(path),
        "accepted",
        seeds=manifest.seeds,
        actions=_actions(entry),
        name=manifest.name,
        key=key,
        episodes=sum(one.ended_episodes for one in entry.outcomes.values()),
        manifest=digest(manifest.content),
        warnings=tuple(tuning_warnings(entry.planned.plan)),
        counted=entry.counted,
        scores=scores_of(entry.planned.plan, entry.outcomes),
    )


def _actions(entry: Entry) -> str:
    if entry.session is not None:
        return "repeated"
    return "parsed again" if entry.rehearsed else "asked again"


def _of_record(path: Path, *, trust: bool) -> Verdict:
    """Verify one record by its own header."""
    try:
        actions = _played_again(path, trust=trust)
    except NotDecidable as fault:
        return Verdict(str(path), "not decidable", (str(fault),))
    except BadRecord as fault:
        return Verdict(str(path), "refused", (str(fault).removeprefix(f"{path}: "),))
    return Verdict(str(path), "accepted", seeds="public", actions=actions, episodes=1)


def _played_again(path: Path, *, trust: bool) -> str:
    """Play the episode of a record again; return how its actions were derived.

    Raises:
        BadRecord: The record is not whole, is a branch, or differs.
        NotDecidable: It names a stranger's code or something that does not exist here, or it
            differs and was made with other versions.
    """
    header = Episode.read(path, keep_steps=False).header
    if header.starts or header.futures:
        raise BadRecord("the record is a branch, whose first decisions are another episode's")
    try:
        if not trust:
            refuse(model_reaches(header.model, header.params))
        players = Players(header.build(trust=trust), dict(header.policies))
        if not trust:
            players.check_reach()
        players.lineup(header.seed)
    except (BadRecord, LimitReached):
        raise
    except DesimError as fault:
        raise NotDecidable(str(fault)) from None
    made_with = header.provenance.versions
    with tempfile.TemporaryDirectory(prefix="desim-verify-") as folder, same_versions(made_with):
        try:
            (again,) = play_again(players, [path], Path(folder))
        except (NotDecidable, LimitReached):
            raise
        except DesimError as fault:
            raise BadRecord(str(fault)) from None
        check_same(path, again)
    return "parsed again" if rehearses(players) else "asked again"
