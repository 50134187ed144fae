"""`desim verify`: whether a record, or the folder of a suite, is what it claims to be.

Every record is played again from its seed: rules decide once more by what they observe, recorded
replies of language models are read once more, and people's and other answers that nobody can ask
for again are repeated. The new record is compared with the one that is verified, its outcome with
that in the folder, and the tables with those that the outcomes give.
"""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define

from desim import catalog
from desim.catalog.policy_spec import Spec, label
from desim.core.model import Model
from desim.core.policy import OutsidePolicy
from desim.core.streams import kept_globals
from desim.episodes.driver import play_session
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import Lineup, Policies, assign, resolve
from desim.episodes.replay import replay
from desim.episodes.series import SeriesOptions, episode_file, series
from desim.episodes.session import Session
from desim.errors import BadRecord, DesimError, UsageError
from desim.records.differences import DifferingPlace, RecordDifferences
from desim.records.differences import record_differences as differences_of
from desim.records.episode import Episode
from desim.records.provenance import versions
from desim.records.reach import model_reaches, policy_reaches, refuse
from desim.short_repr import short_repr
from desim.suites.predictions import FILE, Predictions, is_routed
from desim.suites.result_files import result_files
from desim.suites.suite_file import Suite
from desim.suites.suite_folder import (
    Outcomes,
    Played,
    outcomes_in,
    record_differences,
    record_in,
)
from desim.suites.suite_plan import Plan, SuiteJob, plan_to_print, with_cells, with_hosts

#: A class or function that is named by its module.
_IMPORTED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

#: Fields of a header that say where and by which code an episode was played.
_ENVIRONMENT = ("format", "version", "code", "provenance")

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
    printed = plan_to_print(folder)
    if not trust and (named := next(_reaches(printed.suite), "")):
        raise UsageError(f"{folder}: the suite names {named}; --trust imports and opens it")
    plan = with_cells(printed, keys=False)
    verified, outcomes = Verified(), outcomes_in(folder)
    found: list[str] = []
    try:
        predictions = Predictions.of(plan, outcomes, folder)
    except BadRecord:  # found with its job
        predictions = Predictions(plan, {})
    for done, job in enumerate(plan.jobs):
        progress(done, len(plan.jobs))
        known = predictions.known(job) if is_routed(plan, job) else ()
        found += _of_job(job, outcomes.get(job.name, ()), folder, verified, known, trust=trust)
    found += _of_predictions(predictions, folder)
    found += _of_tables(printed, outcomes, folder)
    verified.differences = tuple(found)
    return verified


def _of_job(
    job: SuiteJob,
    played: Sequence[Played],
    folder: Path,
    verified: Verified,
    known: Sequence[Mapping[str, Any]],
    *,
    trust: bool,
) -> Iterator[str]:
    assert job.cell is not None
    if not played:
        yield f"{job.name}: it was not played"
        return
    ended = [one for one in played if one.score is not None]
    files = [record_in(folder, one, in_a_row=job.is_series) for one in ended]
    try:
        for one, file in zip(ended, files, strict=True):
            yield from record_differences(job.name, one, file)
        if ended:
            policies = job.cell.entry.policies
            again = _played_again(
                job.cell.model, policies, files, verified, known=known, trust=trust
            )
            yield from (f"{job.name}: {each}" for each in again)
    except BadRecord as fault:
        yield f"{job.name}: {fault}"


def _of_predictions(found: Predictions, folder: Path) -> Iterator[str]:
    path = folder / FILE
    if path.is_file() and path.read_bytes() != found.content:
        yield f"{path} is not what the records say"


def _of_tables(plan: Plan, outcomes: Outcomes, folder: Path) -> Iterator[str]:
    for name, content in result_files(plan, outcomes).items():
        path = folder / name
        found = path.read_bytes() if path.is_file() else b""
        if content not in (found, found.replace(b"\r\n", b"\n")):
            yield f"{path} is not what the outcomes give"


# -- an episode is played again --------------------------------------------------------------------


def _played_again(
    model: Model[Any],
    policies: Policies,
    records: Sequence[Path],
    verified: Verified,
    *,
    known: Sequence[Mapping[str, Any]] = (),
    trust: bool,
) -> Iterator[str]:
    """Play recorded episodes again, in a row if they are several, and yield what differs."""
    past = [Episode.read(record, keep_steps=False) for record in records]
    seeds = [each.header.seed for each in past]
    with tempfile.TemporaryDirectory(prefix="desim-verify-") as folder:
        with kept_globals(seeds[0]):
            lineup = _asked(model, policies, past, known)
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
            if difference := _difference(differences_of(record, new)):
                _check_versions(then, f"{record}: {difference}")
                yield f"{record}: {difference}"


def _asked(
    model: Model[Any],
    policies: Policies,
    past: Sequence[Episode],
    known: Sequence[Mapping[str, Any]],
) -> Lineup | None:
    """Return the policies that decide again; None if one cannot, such as a person.

    A language model takes its replies from the records; *known* is that of `Cell`.
    """
    try:
        given = assign(model, policies)
        labels = {role: label(one) for role, one in given.items()}
        lineup = resolve(model, with_hosts(model, given), past[0].header.seed, labels)
        for role, policy in lineup.policies.items():
            if isinstance(policy, OutsidePolicy):
                its = (line.entry for one in past for line in one.transcript if line.role == role)
                policy.rehearse(its)
                policy.reuse(known)
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


def _check_versions(then: Episode, difference: str) -> None:
    """Refuse to judge a record that differs and was made with other versions.

    Raises:
        UsageError: It was.
    """
    made, here = then.header.provenance.versions, versions()
    if made != here:
        raise UsageError(f"{difference}; it was made with {made}, here are {here}: verify it there")


# -- what a stranger's suite names -----------------------------------------------------------------


def _reaches(suite: Suite) -> Iterator[str]:
    """Yield the modules and files that a suite names, found in its text before it is built."""
    for world in suite.worlds.values():
        name = world.model.partition("/")[0]
        if ":" in name or name not in catalog.model_names():
            yield f"the world {short_repr(world.model)}"
            return
        yield from model_reaches(name, world.set)
        yield from _in_specs(world.policy.values())
    for entry in suite.entries.values():
        specs = entry.policy.values() if isinstance(entry.policy, dict) else (entry.policy,)
        yield from _in_specs(specs)
        yield from _in_specs([entry.method])
        yield from (f"{name}={value}" for name, value in entry.options.items() if name == "memory")


def _in_specs(specs: Iterable[str]) -> Iterator[str]:
    for text in filter(None, specs):
        spec = Spec.read(text)
        for each in (spec.name, *spec.arguments.values()):
            yield from (f"the module of {one}" for one in _IMPORTED.findall(each))
