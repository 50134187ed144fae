"""The folder of an entry: its files, which are regular, expected, and within limits.

manifest.json  manifest.sig   what the submitter says, and his signature
suite.toml                    the suite, byte for byte
records/NAME.jsonl.gz         one record an episode; of a series records/NAME/episode-001.jsonl.gz
code/MODULE.py                the rules of the submitter's own, if the manifest names their digest
commitment.json .sig  receipt.json  beacon.json         of fresh seeds
session.json                  the signed statements of a sealed session
"""

import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import Attribute, asdict, evolve, frozen

from desim.errors import BadRecord, UsageError, possible
from desim.jobs.plan.record_job import RecordJob
from desim.show.files import read_regular
from desim.suites.suite_file import EntryTable, PooledTable, Suite, WorldTable, parsed_suite
from desim.suites.suite_plan import Plan, SuiteJob, plan_of_entry
from desim.verification.entries.entry_manifest import MAX_MANIFEST_BYTES, EntryManifest
from desim.verification.signed.canonical import canonical, digest

MANIFEST, SIGNATURE, SUITE, RECORDS = "manifest.json", "manifest.sig", "suite.toml", "records"

#: Files of fresh seeds, and the file of a sealed session.
COMMITTED = ("commitment.json", "commitment.sig", "receipt.json", "beacon.json")
SESSION = "session.json"

#: Most records of an entry, most bytes of one file, and of all.
MAX_RECORDS, MAX_FILE_BYTES, MAX_BYTES = 10_000, 1 << 30, 2 << 30

#: The folder of code, with the most files and bytes of it.
CODE, MAX_CODE_FILES, MAX_CODE_BYTES = "code", 200, 2_000_000

#: The path of a module: names of Python, in at most eight folders.
_MODULE = re.compile(r"code/(?:[A-Za-z_]\w{0,99}/){0,8}[A-Za-z_]\w{0,99}\.py", re.ASCII)

#: Most bytes of a suite's file, and of a file of a commitment or a session.
MAX_SUITE_BYTES = 1_000_000


@frozen
class EntryFolder:
    """The folder of an entry, whose files were checked.

    Attributes:
        path: The folder.
        files: The paths below it, with `/`.
    """

    path: Path
    files: frozenset[str]

    @classmethod
    def opened(cls, path: Path) -> "EntryFolder":
        """Return the folder after a check of the names, kinds and sizes of its files.

        Raises:
            BadRecord: It has another file, one that is a link, a pipe or a device, or too much.
            UsageError: It cannot be read, or has no manifest.
        """
        if not path.is_dir():
            raise UsageError(f"{path} is no folder; an entry is a folder with {MANIFEST}")
        sizes = {name: size for name, size in _files(path, path) if _is_expected(name)}
        if MANIFEST not in sizes:
            raise UsageError(f"{path} has no {MANIFEST}, which every entry has")
        records = [name for name in sizes if name.startswith(f"{RECORDS}/")]
        if len(records) > MAX_RECORDS:
            raise BadRecord(f"{path} has more than {MAX_RECORDS:,} records, the limit")
        code = [size for name, size in sizes.items() if is_code(name)]
        if len(code) > MAX_CODE_FILES or sum(code) > MAX_CODE_BYTES:
            raise BadRecord(
                f"{path} has more than {MAX_CODE_FILES} files or {MAX_CODE_BYTES:,} bytes of code, "
                "the limit"
            )
        if sum(sizes.values()) > MAX_BYTES:
            raise BadRecord(f"{path} holds more than {MAX_BYTES >> 30} GiB, the limit")
        return cls(path, frozenset(sizes))

    def content(self, name: str, most: int = MAX_SUITE_BYTES) -> bytes:
        """Return the bytes of a file.

        Raises:
            BadRecord: It is missing, or beyond the limit.
        """
        try:
            return read_regular(self.path / name, most)
        except OSError as fault:
            raise BadRecord(f"{name} of the entry: {fault.strerror}") from None

    def manifest(self) -> EntryManifest:
        """Return the manifest.

        Raises:
            BadRecord: It is not valid.
        """
        return EntryManifest.read(self.content(MANIFEST, MAX_MANIFEST_BYTES))

    def code(self) -> dict[str, bytes]:
        """Return the bytes of each file of code, by its path below the folder of code.

        Raises:
            BadRecord: See `content`.
        """
        names = sorted(name for name in self.files if is_code(name))
        return {name.removeprefix(f"{CODE}/"): self.content(name, MAX_CODE_BYTES) for name in names}

    @property
    def records(self) -> frozenset[str]:
        """The paths of the records in the folder."""
        return frozenset(name for name in self.files if name.startswith(f"{RECORDS}/"))


@frozen
class EntryPlan:
    """The plan of one entry of a suite.

    Attributes:
        plan: The suite with this entry alone.
        digest: The digest of the suite's worlds.
    """

    plan: Plan
    digest: str

    @property
    def jobs(self) -> tuple[SuiteJob, ...]:
        """Its episodes and series, in the order of the suite."""
        return self.plan.jobs


def entry_suite(content: bytes, entry: str) -> tuple[Suite, str]:
    """Return a suite with one of its entries alone, and the digest of its worlds.

    Args:
        content: The suite's file.
        entry: The name of the entry.

    Raises:
        BadRecord: The suite has faults, or no such entry.
    """
    faults: list[str] = []
    try:
        suite = parsed_suite(Path(SUITE), content, faults)
    except UsageError as fault:
        raise BadRecord(str(fault)) from None
    if faults:
        raise BadRecord(f"{SUITE}: {faults[0]}")
    if entry not in suite.entries:
        raise BadRecord(f"{SUITE} has no entry {entry!r}; {possible(entry, suite.entries)}")
    return evolve(suite, entries={entry: suite.entries[entry]}), suite_digest(suite)


def suite_digest(suite: Suite) -> str:
    """Return the digest of what all entries of a suite share: worlds, seeds, repeats and columns.

    Decimal numbers are texts in it.
    """
    tuning = {"tuning_seeds": _plain(suite.tuning_seeds)} if suite.tuning_seeds else {}
    shared = {
        **tuning,
        "seeds": _plain(suite.seeds),
        "repeats": suite.repeats,
        "worlds": {name: _plain_fields(table) for name, table in suite.worlds.items()},
        "tables": {name: _plain_fields(table) for name, table in suite.tables.items()},
    }
    return digest(b"desim suite 1\n" + canonical(shared))


def without_seeds(suite: Suite) -> Suite:
    """Return a suite whose seeds are left open, as a commitment names it."""
    worlds = {name: evolve(table, seeds="") for name, table in suite.worlds.items()}
    return evolve(suite, seeds="", worlds=worlds)


def entry_digest(table: EntryTable) -> str:
    """Return the digest of an entry's table: its policy, or its model, method and options."""
    return digest(b"desim entry table 1\n" + canonical(_plain_fields(table)))


def plan_of(suite: Suite, shared: str) -> EntryPlan:
    """Return the plan of a suite with one entry.

    Args:
        suite: The suite with one entry.
        shared: The digest of its worlds.

    Raises:
        UsageError: The suite names something that does not exist here.
    """
    return EntryPlan(plan_of_entry(Path(SUITE), suite, []), shared)


def record_files(job: RecordJob) -> list[str]:
    """Return the paths of a job's records below the entry's folder."""
    if not job.is_series:
        return [f"{RECORDS}/{job.name}.jsonl.gz"]
    numbers = range(1, job.episodes + 1)
    return [f"{RECORDS}/{job.name}/episode-{number:03d}.jsonl.gz" for number in numbers]


def _files(root: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the path and the size of each file below a folder.

    Raises:
        BadRecord: One is not expected, not a regular file, or too large.
        UsageError: A folder cannot be read.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError as fault:
        raise UsageError(f"cannot read {folder}: {fault.strerror}") from None
    for path in entries:
        name, about = path.relative_to(root).as_posix(), path.lstat()
        if stat.S_ISDIR(about.st_mode) and _is_folder(name):
            yield from _files(root, path)
        elif not (stat.S_ISREG(about.st_mode) and _is_expected(name)):
            raise BadRecord(f"the folder has {name!r}, which no entry has")
        elif about.st_size > MAX_FILE_BYTES:
            raise BadRecord(f"{name} is beyond the limit of {MAX_FILE_BYTES >> 20} MiB")
        else:
            yield name, about.st_size


def is_code(name: str) -> bool:
    """Return whether a path below the entry's folder may be that of a file of code."""
    return bool(_MODULE.fullmatch(name))


def _is_folder(name: str) -> bool:
    parts = name.split("/")
    if parts[0] == CODE:
        return parts == [CODE] or is_code(f"{name}/module.py")
    return parts[0] == RECORDS and len(parts) <= 2  # noqa: PLR2004 (records, one series)


def _is_expected(name: str) -> bool:
    parts = name.split("/")
    if len(parts) == 1:
        return name in (MANIFEST, SIGNATURE, SUITE, *COMMITTED, SESSION)
    return is_code(name) or (parts[0] == RECORDS and name.endswith(".jsonl.gz"))


def _plain_fields(table: WorldTable | PooledTable | EntryTable) -> dict[str, object]:
    """Return the keys of a table that are not as by default: later versions may know more keys."""
    return {name: _plain(value) for name, value in asdict(table, filter=_is_set).items()}


def _is_set(key: "Attribute[Any]", value: object) -> bool:
    default: Any = key.default
    return bool(value != (default.factory() if hasattr(default, "factory") else default))


def _plain(value: object) -> object:
    """Return a value of a suite's file with its floats and dates as texts."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    return repr(value)
