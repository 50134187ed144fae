"""`desim verify`: whether the folder of a suite is what it claims to be.

All its episodes are played again in another folder: rules decide once more by what they observe,
and recorded replies of language models are read once more. The new records and outcomes are
compared with those in the folder, and the tables with those that the outcomes give.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import define

from desim.engine.plan import RECORDS
from desim.episodes.usage import usage_in_all
from desim.errors import BadRecord, UsageError
from desim.records.differences import RecordDifferences, record_differences
from desim.records.provenance import versions
from desim.records.reach import model_reaches
from desim.short_repr import short_repr
from desim.suites.play import SuitePlaying
from desim.suites.result_table import result_files
from desim.suites.suite_file import Suite
from desim.suites.suite_folder import Played, read_folder, record_in
from desim.suites.suite_plan import with_cells

#: A class or function that is named by its module.
_IMPORTED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

#: Fields of a header that say where and by which code an episode was played.
_ENVIRONMENT = ("format", "version", "code", "provenance")


@define
class Verified:
    """The number of ended episodes that were played again, and a sentence for each difference."""

    episodes: int = 0
    differences: tuple[str, ...] = ()


def verify_suite(folder: Path, *, trust: bool = False) -> Verified:
    """Verify the folder of a suite: all its records, outcomes and tables. No host is contacted.

    Args:
        folder: That of the suite.
        trust: Whether modules that its suite names may be imported, and files opened.

    Raises:
        UsageError: The folder holds no suite, the suite names a module or a file, or a record was
            made with other versions and differs.
        BadRecord: An outcome is damaged.
    """
    plan, outcomes = read_folder(folder)
    if not trust and (named := next(_reaches(plan.suite), "")):
        raise UsageError(f"{folder}: the suite would {named}. Nothing was done; --trust allows it")
    plan, found = with_cells(plan, keys=False), list[str]()
    with tempfile.TemporaryDirectory(prefix="desim-verify-") as temporary:
        out = Path(temporary)
        if (folder / RECORDS).is_dir():
            shutil.copytree(folder / RECORDS, out / "earlier")
        again = SuitePlaying(plan, out, plan.suite.concurrent, os.cpu_count() or 1, rehearsed=True)
        again.play()
        for job in plan.jobs:
            then, now = outcomes.get(job, ()), again.outcomes.get(job, ())
            texts = _of_job(folder, then, out, now) if then else ["it was not played"]
            found += (f"{job}: {text}" for text in texts)
    for name, content in result_files(plan, outcomes).items():
        path = folder / name
        shown = path.read_bytes() if path.is_file() else b""
        if content not in (shown, shown.replace(b"\r\n", b"\n")):
            found.append(f"{path} is not what the outcomes give")
    ended = [one for each in outcomes.values() for one in each if one.score is not None]
    return Verified(len(ended), tuple(found))


def _of_job(
    folder: Path, then: Sequence[Played], out: Path, now: Sequence[Played]
) -> Iterator[str]:
    """Yield what differs between the ended episodes of a job in two folders."""
    for one in then:
        if one.score is None:
            continue
        new = now[one.episode - 1] if one.episode <= len(now) else Played(error="nothing")
        if new.score is None:
            yield f"episode {one.episode} cannot be played again: {new.error or new.limit}"
            continue
        for field in Played.__struct_fields__:
            was, is_ = getattr(one, field), getattr(new, field)
            if was != is_ and field not in ("seconds", "usage"):  # which counts lost requests, too
                yield f"{field} is {short_repr(was)} in the rows, now {short_repr(is_)}"
        record = record_in(folder, one)
        try:
            found = record_differences(record, record_in(out, new))
        except BadRecord as fault:
            yield str(fault) if record.exists() else f"{record} is missing, and its outcome is not"
            continue
        if found.a.result and usage_in_all(found.a.result.usage.values()) != one.usage:
            yield f"usage is {short_repr(one.usage)} in the rows, and another one on record"
        if difference := _first_of(found):
            made, here = found.a.header.provenance.versions, versions()
            if made != here:
                raise UsageError(
                    f"{record}: {difference}; it was made with {made}, here are {here}: verify it "
                    "there"
                )
            yield f"{record}: {difference}"


def _first_of(found: RecordDifferences) -> str:
    """Return the first difference of a record from the one that was played now; "" without one."""
    places = [
        *(("header", p) for p in found.header if p.path.partition(".")[0] not in _ENVIRONMENT),
        *((one.label, place) for one in (found.decision,) if one for place in one.places),
        *(("end", place) for place in found.end),
    ]
    texts = (f"{at}: {p.path} is {short_repr(p.a)}, now {short_repr(p.b)}" for at, p in places)
    return next(texts, "")


def _reaches(suite: Suite) -> Iterator[str]:
    """Yield what building a suite would import or open, found in its text before it is built."""
    specs = [one for world in suite.worlds.values() for one in world.policy.values()]
    for world in suite.worlds.values():
        yield from model_reaches(world.model.partition("/")[0], world.set)
    for entry in suite.entries.values():
        own = entry.policy.values() if isinstance(entry.policy, dict) else (entry.policy,)
        specs += (*own, entry.method)
    yield from (f"import {one}" for spec in specs for one in _IMPORTED.findall(spec))
