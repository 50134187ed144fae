"""`desim verify`: whether a record, or the folder of a suite, is what it claims to be.

Every record is played again from its seed: rules decide once more by what they observe, recorded
replies of language models are read once more, and answers that nobody can ask for again, such as
those of people and of routers, are repeated. The new record is compared with the one that is
verified, its outcome with that in the folder, and the tables with those that the outcomes give.
"""

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import define

from desim import catalog
from desim.catalog.policy_spec import label
from desim.core.model import Model
from desim.core.policy import OutsidePolicy, most_known
from desim.core.streams import kept_globals
from desim.episodes.driver import play_session
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import Lineup, Policies, assign, resolve
from desim.episodes.replay import replay
from desim.episodes.series import SeriesOptions, episode_file, series
from desim.episodes.session import Session
from desim.episodes.usage import unplayed_roles, usage_in_all
from desim.errors import BadRecord, DesimError, UsageError
from desim.records.differences import DifferingPlace, RecordDifferences, record_differences
from desim.records.episode import Episode
from desim.records.provenance import versions
from desim.records.reach import model_reaches, policy_reaches, refuse
from desim.short_repr import short_repr
from desim.show.labels import flat
from desim.suites.result_table import result_files
from desim.suites.suite_file import ROUTER, Suite
from desim.suites.suite_folder import Played, read_folder, record_in
from desim.suites.suite_plan import with_cells, with_hosts

#: A class or function that is named by its module.
_IMPORTED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

#: Fields of a header that say where and by which code an episode was played.
_ENVIRONMENT = ("format", "version", "code", "provenance")

#: Fields of an outcome that its record holds as well.
_ON_RECORD = ("score", "ended", "decisions", "metrics", "usage", "ledger_digest", "knows")

#: What was done with the episodes, and those that have been verified of all.
Progress = Callable[[int, int], None]


@define
class Verified:
    """What was verified, and how.

    Attributes:
        asked: Episodes whose every policy decided again.
        repeated: Episodes with answers that were repeated, as nobody can be asked for them again.
        differences: A sentence for each difference; none if all is as it claims to be.
    """

    asked: int = 0
    repeated: int = 0
    differences: tuple[str, ...] = ()


def verify_record(path: Path, *, trust: bool = False) -> Verified:
    """Verify one record.

    Args:
        path: A whole record of an episode that begins at its begin.
        trust: Whether modules that it names may be imported, and files opened.

    Raises:
        BadRecord: It cannot be read, is a branch, or cannot be played again.
        UsageError: It names a module or a file, or was made with other versions and differs.
    """
    header = Episode.read(path, keep_steps=False).header
    if header.starts or header.futures:
        raise BadRecord(f"{path} is a branch, whose first decisions are another episode's")
    if not trust:
        refuse(model_reaches(header.model, header.params), path)
        for role, spec in header.policies.items():
            refuse(policy_reaches(role, spec, header.model, header.params), path)
    verified = Verified()
    model = header.build(trust=trust)
    found = _played_again(model, dict(header.policies), [path], verified, trust=trust)
    verified.differences = tuple(found)
    return verified


def verify_suite(
    folder: Path, *, trust: bool = False, progress: Progress = lambda *_: None
) -> Verified:
    """Verify the folder of a suite: all its records, outcomes and tables.

    Args:
        folder: The folder.
        trust: Whether modules that its suite names may be imported, and files opened.
        progress: Called with the jobs done, and all of them.

    Raises:
        UsageError: The folder holds no suite, or the suite names a module or a file.
        BadRecord: An outcome is damaged.
    """
    plan, outcomes = read_folder(folder)
    if not trust and (named := next(_reaches(plan.suite), "")):
        raise UsageError(f"{folder}: the suite names {named}; --trust imports and opens it")
    cells = with_cells(plan, keys=False).cells
    verified, found = Verified(), list[str]()
    for done, job in enumerate(plan.jobs):
        progress(done, len(plan.jobs))
        played, cell = outcomes.get(job, ()), cells[job[:2]]
        if not played:
            found.append(f"{job}: it was not played")
        ended = {record_in(folder, one): one for one in played if one.score is not None}
        policies = None if plan.suite.entries[job.entry].method == ROUTER else cell.entry.policies
        try:
            for file, one in ended.items():
                found += (f"{job}: {text}" for text in _from_record(one, file))
            if ended:
                again = _played_again(cell.model, policies, [*ended], verified, trust=trust)
                found += (f"{job}: {text}" for text in again)
        except BadRecord as fault:
            found.append(f"{job}: {fault}")
    for name, content in result_files(plan, outcomes).items():
        path = folder / name
        shown = path.read_bytes() if path.is_file() else b""
        if content not in (shown, shown.replace(b"\r\n", b"\n")):
            found.append(f"{path} is not what the outcomes give")
    verified.differences = tuple(found)
    return verified


def _from_record(played: Played, record: Path) -> Iterator[str]:
    """Yield a sentence for each difference of an outcome from the record of its episode."""
    past = Episode.read(record, whole=False, keep_steps=False) if record.exists() else None
    if past is None or (result := past.result) is None:
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
    for field in (*_ON_RECORD, "unplayed"):
        kept, now = (msgspec.to_builtins(getattr(one, field)) for one in (played, again))
        if kept != now:
            yield f"{field} is {kept!r} in the rows and {now!r} on record"


# -- an episode is played again --------------------------------------------------------------------


def _played_again(
    model: Model[Any],
    policies: Policies | None,
    records: Sequence[Path],
    verified: Verified,
    *,
    trust: bool,
) -> Iterator[str]:
    """Play recorded episodes again, in a row if they are several, and yield what differs.

    Without policies their answers are repeated.
    """
    past = [Episode.read(record, keep_steps=False) for record in records]
    seeds = [each.header.seed for each in past]
    with tempfile.TemporaryDirectory(prefix="desim-verify-") as folder:
        with kept_globals(seeds[0]):
            lineup = None if policies is None else _asked(model, policies, past)
            try:
                again = _record_again(model, lineup, seeds, Path(folder)) if lineup else ()
            except DesimError as fault:
                raise BadRecord(f"{records[0]}: {fault}") from None
        if lineup is None:
            verified.repeated += len(past)
            for record in records:
                replay(record, trust=trust)
            return
        verified.asked += len(past)
        for record, new, then in zip(records, again, past, strict=True):
            if difference := _difference(record_differences(record, new)):
                made, here = then.header.provenance.versions, versions()
                if made != here:
                    raise UsageError(
                        f"{record}: {difference}; it was made with {made}, here are {here}: verify "
                        "it there"
                    )
                yield f"{record}: {difference}"


def _asked(model: Model[Any], policies: Policies, past: Sequence[Episode]) -> Lineup | None:
    """Return the policies that decide again; None if one cannot, such as a person.

    A language model takes its replies from the records.
    """
    try:
        given = assign(model, policies)
        labels = {role: label(one) for role, one in given.items()}
        lineup = resolve(model, with_hosts(model, given), past[0].header.seed, labels)
        for role, policy in lineup.policies.items():
            if isinstance(policy, OutsidePolicy):
                its = (line.entry for one in past for line in one.transcript if line.role == role)
                policy.rehearse(its)
    except UsageError:  # the label of a person or of an agent names no policy that plays again
        return None
    return lineup


def _record_again(
    model: Model[Any], lineup: Lineup, seeds: Sequence[int], folder: Path
) -> list[Path]:
    files = [episode_file(folder, number) for number in range(1, len(seeds) + 1)]
    if len(seeds) > 1:
        for _ in series(SeriesOptions(model, lineup, seeds, record=folder)):
            pass
        return files
    how = EpisodeOptions(keep_steps=False, keep_state=False)
    with Session(model, lineup, seeds[0], files[0], how=how) as session:
        play_session(session)
    return files


def _difference(found: RecordDifferences) -> str:
    """Return the first difference of a record from the one that was played now; "" without one."""
    for place in found.header:
        if place.path.partition(".")[0] not in _ENVIRONMENT:
            return f"header: {_is(place)}"
    if first := found.decision:
        alone = "the decision is in one of the two alone"
        return f"{first.label}: {_is(first.places[0]) if first.places else alone}"
    return f"end: {_is(found.end[0])}" if found.end else ""


def _is(place: DifferingPlace) -> str:
    return f"{place.path} is {short_repr(place.a)}, played now {short_repr(place.b)}"


# -- what a stranger's suite names -----------------------------------------------------------------


def _reaches(suite: Suite) -> Iterator[str]:
    """Yield the modules and files that a suite names, found in its text before it is built."""
    specs = [one for world in suite.worlds.values() for one in world.policy.values()]
    for world in suite.worlds.values():
        name = world.model.partition("/")[0]
        if ":" in name or name not in catalog.model_names():
            yield f"the world {short_repr(world.model)}"
        else:
            yield from model_reaches(name, world.set)
    for entry in suite.entries.values():
        own = entry.policy.values() if isinstance(entry.policy, dict) else (entry.policy,)
        specs += (*own, entry.method)
    for spec in specs:
        yield from (f"the module of {one}" for one in _IMPORTED.findall(spec))
