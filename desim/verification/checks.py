"""The steps of `desim verify`, each of which refuses an entry with one sentence.

Source: reference `verification.md`, section 5.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import define, field

from desim.errors import BadRecord, UsageError
from desim.jobs.keep.outcome import JobOutcome
from desim.suites.suite_file import EntryTable
from desim.verification.asked_rule import StrangersRule, asked_apart
from desim.verification.boards.board_log import BoardLog
from desim.verification.boards.commitment import opened
from desim.verification.checked_jobs import CheckProcesses, JobToCheck
from desim.verification.entries.entry_folder import (
    CODE,
    COMMITTED,
    MANIFEST,
    SESSION,
    SIGNATURE,
    SUITE,
    EntryFolder,
    EntryPlan,
    entry_digest,
    entry_suite,
    plan_of,
    record_files,
    suite_digest,
    without_seeds,
)
from desim.verification.entries.entry_manifest import MAX_MANIFEST_BYTES, EntryManifest, ResultText
from desim.verification.figures import (
    figures_of,
    knowledge_of,
    revisions_of,
    tuned_on_of,
    used_by,
)
from desim.verification.played_again import NotDecidable, Players
from desim.verification.rule_code import code_digest, rules_of
from desim.verification.sealed.listed_server import ListedServer
from desim.verification.sealed.sealed_suite import check_draws
from desim.verification.sealed.statements import SignedSession
from desim.verification.signed.canonical import digest
from desim.verification.signed.keys import PublicKey
from desim.verification.suite_reach import check_suite_reach

#: Reports how many of how many jobs were checked.
Progress = Callable[[int, int], object]


@define
class Entry:
    """An entry while it is checked; each step adds what the next ones use.

    Attributes:
        folder: Its files.
        manifest: What its submitter says.
        trust: Whether modules may be imported and files opened that it names.
        workers: The processes that check its jobs.
        board: The log of the board that received its commitment; None if none is known.
        server: The server of its sealed session; None if none is known.
        session: Its sealed session, once it was read.
        rules: The rules of its submitter's own, by name, unless they are trusted.
        counted: Which session or commitment of its key it is: "session 2 of 5".
        plan: The plan of its suite.
        outcomes: What was derived again, by job.
        rehearsed: Whether language models decided, whose replies are on record.
        replies: The record of each reply, by the identifier that its server gave it.
    """

    folder: EntryFolder
    manifest: EntryManifest
    trust: bool = False
    workers: CheckProcesses = field(factory=CheckProcesses)
    board: BoardLog | None = None
    server: ListedServer | None = None
    session: SignedSession | None = None
    rules: dict[str, StrangersRule] = field(factory=dict)
    counted: str = ""
    plan: EntryPlan | None = None
    outcomes: dict[str, JobOutcome] = field(factory=dict)
    rehearsed: bool = False
    replies: dict[str, str] = field(factory=dict)

    @property
    def planned(self) -> EntryPlan:
        """The plan of its suite, once it was read."""
        assert self.plan is not None
        return self.plan


def check_signature(entry: Entry) -> None:
    """Step 2: the signature over the bytes of the manifest.

    Raises:
        BadRecord: The manifest names a key and is not signed by it, or is signed and names none.
    """
    signed, key = SIGNATURE in entry.folder.files, entry.manifest.key
    if not key:
        if signed:
            raise BadRecord("the manifest is signed, and names no key")
        return
    if not signed:
        raise BadRecord("the manifest does not have the signature of its key")
    content = entry.folder.content(MANIFEST, MAX_MANIFEST_BYTES)
    PublicKey(bytes.fromhex(key)).check(
        "entry", content, entry.folder.content(SIGNATURE), "the manifest"
    )


def check_plan(entry: Entry) -> None:
    """Step 4: the suite, its worlds and their revisions.

    Raises:
        BadRecord: The suite is another one, or lacks the entry.
        NotDecidable: It names a stranger's code, or something that does not exist here.
    """
    content = entry.folder.content(SUITE)
    if digest(content) != entry.manifest.suite_file:
        raise BadRecord("the suite's file is not the one that the manifest names")
    suite, shared = entry_suite(content, entry.manifest.entry)
    if shared != entry.manifest.suite:
        raise BadRecord("the suite is another one than the manifest names")
    entry.rules = {} if entry.trust else _own_rules(entry, suite.entries[entry.manifest.entry])
    with asked_apart(entry.rules):
        if not entry.trust:
            check_suite_reach(suite)
        try:
            entry.plan = plan_of(suite, shared)
        except UsageError as fault:
            raise NotDecidable(str(fault)) from None
        for job in entry.planned.jobs if not entry.trust else ():
            Players(job.model, job.policies).check_reach()


def _own_rules(entry: Entry, table: EntryTable) -> dict[str, StrangersRule]:
    """Return the rules whose code is in the folder, as processes of their own declare them.

    Raises:
        BadRecord: See `StrangersRule.of`.
        NotDecidable: See `StrangersRule.of`.
    """
    code = entry.folder.code()
    tops = {path.partition("/")[0].removesuffix(".py") for path in code}
    names = [name for name in rules_of(table) if name.partition(":")[0].partition(".")[0] in tops]
    return {name: StrangersRule.of(name, code) for name in names}


def check_code(entry: Entry) -> None:
    """Check that the folder holds the code that the manifest names.

    Raises:
        BadRecord: It holds another one, or code that the manifest does not name.
    """
    code = entry.folder.code()
    if code and not entry.manifest.code:
        raise BadRecord(f"the folder has {f'{CODE}/{min(code)}'!r}, and the manifest names no code")
    if code_digest(code) != entry.manifest.code:
        raise BadRecord("the code is not the one that the manifest names")


def check_seeds(entry: Entry) -> None:
    """Step 5: the seeds are the suite's, or those of the commitment's beacon.

    Raises:
        BadRecord: They are others, or the commitment, its receipt or its beacon is false.
        NotDecidable: The receipt is of a board that is not known here.
    """
    if (named := tuned_on_of(entry.planned.plan)) != entry.manifest.tuned_on:
        claimed = entry.manifest.tuned_on or "none"
        raise BadRecord(f"the suite says tuned on {named or 'none'}, the manifest {claimed}")
    if SESSION in entry.folder.files:
        raise BadRecord(
            f"the entry has a session, and its seeds are declared {entry.manifest.seeds}"
        )
    if entry.manifest.session:
        raise BadRecord("the manifest names a session, and its seeds are not declared sealed")
    fresh = any(name in entry.folder.files for name in COMMITTED)
    match entry.manifest.seeds:
        case "public":
            if not (fresh or entry.manifest.commitment):
                return
            raise BadRecord("the entry has a commitment, and its seeds are declared public")
        case _:
            _check_fresh(entry)


def _check_fresh(entry: Entry) -> None:
    """Check the seeds of an entry that was committed before they existed."""
    if entry.board is None:
        raise NotDecidable("the commitment was received by a board; give its folder (--board)")
    found = [name for name in COMMITTED if name in entry.folder.files]
    made = opened({name: entry.folder.content(name) for name in found}, entry.board)
    commitment, suite = made.commitment, entry.planned.plan.suite
    (table,) = suite.entries.values()
    if commitment.key != entry.manifest.key:
        raise BadRecord("the commitment is of another key than the manifest")
    if commitment.digest != entry.manifest.commitment:
        raise BadRecord("the commitment is not the one that the manifest names")
    if commitment.code != entry.manifest.code:
        raise BadRecord("the code is not the one that was committed")
    if commitment.suite != suite_digest(without_seeds(suite)):
        raise BadRecord("the commitment is of another suite")
    if (commitment.entry, commitment.entry_digest) != (entry.manifest.entry, entry_digest(table)):
        raise BadRecord("the entry is not the one that was committed: its table has changed")
    own = [name for name, world in suite.worlds.items() if world.seeds]
    if own or suite.seeds != made.seeds.text:
        raise BadRecord("the suite has other seeds than the beacon gives")
    try:
        check_draws(entry.planned.plan.worlds)
    except UsageError as fault:
        raise BadRecord(str(fault)) from None
    entry.counted = entry.board.counted(made.receipt)


def check_complete(entry: Entry) -> None:
    """Step 6: exactly one record for each episode of the suite, and no other.

    Raises:
        BadRecord: One is missing, is named and not of the suite, or lies there and is not named.
    """
    named = entry.manifest.records
    wanted = {name for job in entry.planned.jobs for name in record_files(job)}
    for name in sorted(wanted - named.keys()):
        raise BadRecord(f"record {name} is missing")
    for name in sorted((named.keys() | entry.folder.records) - wanted):
        raise BadRecord(f"record {name} is no part of the suite")


def check_episodes(entry: Entry, progress: Progress) -> None:
    """Steps 7 to 9: every episode is played again, and its record compared with the new one.

    Raises:
        BadRecord: A record differs, or two have a reply in common; the text names the first.
        NotDecidable: The episodes cannot be played again here.
    """
    jobs, present = entry.planned.jobs, entry.folder.files
    digests, folder = entry.manifest.records, entry.folder.path
    made_with = entry.manifest.made_with
    tasks = [
        JobToCheck(
            job,
            folder,
            {name: digests.get(name, "") for name in names},
            present & {*names},
            made_with,
            entry.rules,
        )
        for job, names in ((job, record_files(job)) for job in jobs)
    ]
    progress(0, len(jobs))
    for done, checked in enumerate(entry.workers.checked(tasks), 1):
        entry.outcomes[checked.outcome.job] = checked.outcome
        entry.rehearsed = entry.rehearsed or checked.rehearsed
        for name, replies in checked.replies.items():
            _check_replies(entry, name, replies)
        progress(done, len(jobs))


def check_figures(entry: Entry) -> None:
    """Steps 10 to 12: knowledge, revisions, usage, limits and tables, from the new records.

    Raises:
        BadRecord: One differs from the manifest, or money is beyond the suite's limit.
    """
    plan, outcomes, manifest = entry.planned.plan, entry.outcomes, entry.manifest
    knows = knowledge_of(plan, outcomes)
    for world, level in knows.items():
        if level != (claimed := manifest.knows.get(world, "observation")):
            raise BadRecord(f"{world}: the policies know {level!r}, the manifest says {claimed!r}")
    _check_same("world", revisions_of(plan, outcomes), manifest.worlds)
    _check_same("use", used_by(outcomes.values()), manifest.used)
    _check_limits(entry)
    figures = figures_of(plan, outcomes)
    for world in figures.keys() | manifest.results.keys():
        _check_world(world, figures.get(world), manifest.results.get(world))


def _check_replies(entry: Entry, name: str, replies: Iterable[str]) -> None:
    """Check that no reply of a record is in another, by the identifiers of a server.

    Raises:
        BadRecord: One is.
    """
    for number in replies:
        if (other := entry.replies.setdefault(number, name)) != name:
            raise BadRecord(f"record {name}: a reply is also that of {other}")


def _check_limits(entry: Entry) -> None:
    """Check that no more money was used than the entry's limit allows, a last call apart."""
    plan, used = entry.planned.plan, float(entry.manifest.used.get("cost", "0"))
    limits = [one.table.max_cost for one in plan.entries.values()] + [plan.suite.max_cost]
    most = min((limit for limit in limits if limit is not None), default=None)
    calls = float(entry.manifest.used.get("calls", "0"))
    if most is not None and used > most + (used / calls if calls else 0.0):
        raise BadRecord(f"the records cost {used:g}, the limit is {most:g}")


def _check_same(what: str, found: dict[str, str], claimed: dict[str, str]) -> None:
    for name in sorted(found.keys() | claimed.keys()):
        now, then = found.get(name, "none"), claimed.get(name, "none")
        if now != then:
            raise BadRecord(f"{what} {name}: {now}, the manifest says {then}")


def _check_world(world: str, found: ResultText | None, claimed: ResultText | None) -> None:
    if found is None or claimed is None:
        where = "no part of the suite" if found is None else "missing in the manifest"
        raise BadRecord(f"the results of {world} are {where}")
    for part, now, then in _figures(found, claimed):
        if now != then:
            raise BadRecord(f"{part} of {world} is {now}, the manifest says {then}")


def _figures(found: ResultText, claimed: ResultText) -> Iterator[tuple[str, Any, Any]]:
    for name in ResultText.__struct_fields__:
        if name != "columns":
            yield name, getattr(found, name), getattr(claimed, name)
    for head in found.columns.keys() | claimed.columns.keys():
        now, then = found.columns.get(head, {}), claimed.columns.get(head, {})
        for end in now.keys() | then.keys():
            yield f"the {end} of {head!r}", now.get(end), then.get(end)
