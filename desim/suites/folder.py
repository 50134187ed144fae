"""The folder of a suite: its manifest, a record for each episode, outcomes, and what was spent.

suite.json       the manifest: format, fingerprint, the suite's file as text
records/JOB.jsonl  one record an episode; of a series records/JOB/episode-001.jsonl and so on
outcomes.jsonl   what came of each job, a line whenever one ends; the last line of a job counts
spent.jsonl      what was spent, a line a call
status.json      what runs now
results.csv      a row an episode
table.csv        a row for each column of each entry; results.json holds the same
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from attrs import evolve

from desim.episodes.record_lock import RecordLock
from desim.errors import UsageError, WriteFailed
from desim.suites.ledger import Ledger
from desim.suites.outcome import Outcome
from desim.suites.plan import Plan, read_plan

__all__ = ["Folder"]

#: The format of the folder, counted up when its meaning changes.
FORMAT = "desim-suite/1"

_MANIFEST = "suite.json"


class _Manifest(msgspec.Struct):
    format: str
    fingerprint: dict[str, str]
    file: str
    text: str


class Folder:
    """A folder that holds one suite's episodes.

    Args:
        path: The folder, which need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def status(self) -> Path:
        """The file that says what runs now."""
        return self.path / "status.json"

    def record(self, job: str) -> Path:
        """Return the path of a job's record."""
        return self.path / "records" / f"{job}.jsonl"

    def ledger(self, *, write: bool = False) -> Ledger:
        """Open what was spent."""
        return Ledger(self.path / "spent.jsonl", write=write)

    @contextlib.contextmanager
    def opened(self, plan: Plan) -> Iterator[None]:
        """Lock the folder for a suite, after a check that it holds this one or nothing.

        Raises:
            UsageError: It holds another suite or other files, another command plays into it, or it
                cannot be written.
        """
        self.check(plan)
        try:
            (self.path / "records").mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise UsageError(f"cannot write {self.path}: {fault.strerror}") from None
        with RecordLock(self.path / "suite"):
            self.check(plan)
            self.write(_MANIFEST, msgspec.json.encode(_manifest(plan)))
            yield

    def plan(self) -> Plan:
        """Return the plan of the suite that was played here, to print its results.

        Raises:
            UsageError: There is none.
        """
        manifest = self._manifest()
        if manifest is None:
            raise UsageError(f"{self.path} holds no suite; give a suite's file and --out FOLDER")
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "suite.toml"
            copy.write_text(manifest.text, encoding="utf-8")
            plan = read_plan(copy, to_play=False)
        return evolve(plan, path=Path(manifest.file))

    def outcomes(self) -> dict[str, Outcome]:
        """Return the last outcome of each job; a line that was cut is none."""
        found: dict[str, Outcome] = {}
        with contextlib.suppress(FileNotFoundError):
            for line in (self.path / "outcomes.jsonl").read_bytes().split(b"\n"):
                with contextlib.suppress(msgspec.DecodeError):
                    outcome = msgspec.json.decode(line, type=Outcome)
                    found[outcome.job] = outcome
        return found

    def add(self, outcome: Outcome) -> None:
        """Keep the outcome of a job.

        Raises:
            WriteFailed: The system does not take it.
        """
        path = self.path / "outcomes.jsonl"
        try:
            with path.open("ab", buffering=0) as file:
                file.write(b"\n" + msgspec.json.encode(outcome))
        except OSError as fault:
            raise WriteFailed(f"cannot write {path}: {fault.strerror}") from None

    def write(self, name: str, content: bytes) -> None:
        """Replace a file as a whole.

        Raises:
            WriteFailed: The system does not take it.
        """
        path = self.path / name
        part = path.with_name(f".{name}.{os.getpid()}")
        try:
            part.write_bytes(content)
            part.replace(path)
        except OSError as fault:
            raise WriteFailed(f"cannot write {path}: {fault.strerror}") from None

    def check(self, plan: Plan) -> None:
        """Check that the folder holds this suite or nothing.

        Raises:
            UsageError: It holds another suite or other files.
        """
        manifest = self._manifest()
        if manifest is None:
            if self.path.is_dir() and any(self.path.iterdir()) and not _only_ours(self.path):
                raise UsageError(f"{self.path} holds other files and no suite; choose a new folder")
            return
        mine = plan.fingerprint()
        if mine != manifest.fingerprint:
            raise UsageError(
                f"{self.path} holds another suite ({_differing(manifest.fingerprint, mine)} "
                "differ); choose another folder (--out)"
            )

    def _manifest(self) -> _Manifest | None:
        path = self.path / _MANIFEST
        try:
            manifest = msgspec.json.decode(path.read_bytes(), type=_Manifest)
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            raise UsageError(f"{self.path} is no folder") from None
        except (OSError, msgspec.DecodeError) as fault:
            raise UsageError(f"{path} cannot be read: {fault}") from None
        if manifest.format != FORMAT:
            raise UsageError(
                f"{path} has the format {manifest.format!r}; this desim reads {FORMAT}"
            )
        return manifest


def _manifest(plan: Plan) -> _Manifest:
    try:
        text = plan.path.read_text(encoding="utf-8")
    except OSError as fault:
        raise UsageError(f"cannot read {plan.path}: {fault.strerror}") from None
    return _Manifest(FORMAT, plan.fingerprint(), str(plan.path.resolve()), text)


def _differing(theirs: Mapping[str, str], mine: Mapping[str, str]) -> str:
    """Return the topics in which two fingerprints differ."""
    topics = [topic for topic in {**theirs, **mine} if theirs.get(topic) != mine.get(topic)]
    return ", ".join(topics)


def _only_ours(path: Path) -> bool:
    """Return whether a folder without a manifest holds what a killed command has begun."""
    return all(each.name in {"suite.lock", "records"} for each in path.iterdir()) and not any(
        (path / "records").glob("*")
    )
