"""The record of an episode: JSON lines out and in.

A header (format, version, model, preset, parameters, seed, policies), one line a decision (tick,
role, observation, action, notes), a last line with the result and the SHA-256 of the lines before.
Lines are flushed as they are written, so a killed run leaves a record that can be replayed up to
the decision before its death.
"""

import contextlib
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
from attrs import asdict, frozen

from desim import catalog
from desim.errors import BadRecord, DesimError, SchemaError, UsageError
from desim.kernel import Result
from desim.params import nearest_preset
from desim.protocols import Model
from desim.schema import encode, from_plain, tagged, to_plain
from desim.world import Decision

__all__ = ["FORMAT", "PERSON", "Episode", "Header", "Recorder", "Said", "Step", "lines_of"]

T = TypeVar("T")

#: Raised when the lines change their meaning; a record says which it was written in.
FORMAT = "desim-episode/1"

#: What a record calls a person who plays, who is no policy that could be built.
PERSON = "person"

_encode = msgspec.json.Encoder().encode

_HASHED_AT_ONCE = 256


class Step(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One decision.

    Attributes:
        t: The tick.
        role: Who decided.
        observation: What they saw; plain JSON values when read from a file.
        action: What they answered; a tagged object when read from a file.
        notes: What the policy said of it (tokens, cost), if anything.
    """

    t: int
    role: str
    observation: Any
    action: Any
    notes: dict[str, Any] | None = None


class Said(msgspec.Struct, frozen=True, gc=False):
    """What a policy heard and put on record before it decided.

    Attributes:
        said: A plain JSON value of the policy's own.
        role: Whose policy.
    """

    said: Any
    role: str


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a record: all that is needed to play the episode again but the answers."""

    format: str
    version: str
    model: str
    preset: str
    params: dict[str, Any]
    seed: int
    policies: dict[str, str]

    @classmethod
    def of(cls, model: Model[Any], seed: int, policies: Mapping[str, str]) -> "Header":
        """Describe an episode that is about to be played."""
        return cls(
            format=FORMAT,
            version=version(),
            model=catalog.model_name(type(model)),
            preset=nearest_preset(model),
            params=to_plain(model),
            seed=seed,
            policies=dict(policies),
        )

    def build(self) -> Model[Any]:
        """Make the model again.

        Raises:
            BadRecord: Its class is not here, or does not take these parameters.
        """
        try:
            built: Model[Any] = from_plain(self.params, catalog.model_class(self.model), "params")
        except (SchemaError, UsageError) as fault:
            raise BadRecord(f"written for {self.model} of desim {self.version}: {fault}") from None
        return built


@frozen
class Episode:
    """What was played: the header, the steps, and how it ended.

    Attributes:
        header: Model, parameters, seed, policies.
        steps: The decisions in the order in which they were handed out.
        result: Score, end, metrics; None for the record of a run that was killed.
        said: What policies put on record between decisions, in order.
    """

    header: Header
    steps: tuple[Step, ...]
    result: Result | None
    said: tuple[Said, ...] = ()

    @property
    def score(self) -> float:
        """The model's score; higher is better."""
        return self._ended().score

    @property
    def ended(self) -> str:
        """Why it ended."""
        return self._ended().ended

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Further figures by name."""
        return self._ended().metrics

    @property
    def ledger_digest(self) -> str | None:
        """SHA-256 over the ledgers."""
        return self._ended().ledger_digest

    def summary(self) -> dict[str, Any]:
        """Return what `--json` prints: one flat, plain object."""
        head, end = self.header, self._ended()
        return {
            "model": head.model,
            "preset": head.preset,
            "params": head.params,
            "seed": head.seed,
            "policies": head.policies,
            **_told(end),
            "version": head.version,
        }

    def write(self, path: str | Path) -> None:
        """Write the record to a new file, gzipped when the name ends in .gz.

        Raises:
            UsageError: The file exists or cannot be made.
        """
        end = self._ended()
        with Recorder(path) as recorder:
            recorder.head(self.header)
            for said in self.said:
                recorder.line(_encode(said))
            for s in self.steps:
                recorder.line(_line(s.t, s.role, s.observation, tagged(s.action), s.notes))
            recorder.result(end)

    @classmethod
    def read(cls, path: str | Path, *, whole: bool = True) -> "Episode":
        """Read a record.

        Args:
            path: The file.
            whole: Refuse a record without its last line. Otherwise a cut record is read up to the
                last whole line, and its `result` is None.

        Raises:
            BadRecord: It is empty, cut, altered, of another format, or no record at all.
        """
        lines = list(lines_of(Path(path)))
        try:
            return _parsed(lines, whole=whole)
        except BadRecord as fault:
            raise BadRecord(f"{path}: {fault}") from None

    def _ended(self) -> Result:
        if self.result is None:
            raise BadRecord("the record was cut before the episode ended, so it has no result")
        return self.result


class Recorder:
    """Writes a record line by line.

    Args:
        path: A file that does not exist yet.
        form: ".gz" to gzip it; by default where its name ends so.

    Raises:
        UsageError: The file exists or cannot be made.
    """

    def __init__(self, path: str | Path, form: str = "") -> None:
        self.path = Path(path)
        try:
            raw = self.path.open("xb", buffering=0)
        except FileExistsError:
            raise UsageError(
                f"{path} exists and is kept; choose another name or remove it"
            ) from None
        except OSError as fault:
            raise UsageError(f"cannot write {path}: {fault.strerror}") from None
        zipped = (form or self.path.suffix) == ".gz"
        self._file: Any = _zipped(raw) if zipped else raw
        self._raw, self._flush = raw, zipped
        self._hash = hashlib.sha256()
        self._unhashed: list[bytes] = []

    @classmethod
    def again(cls, path: str | Path, kept: Iterable[bytes] | None = None) -> Self:
        """Write on in a record behind the lines that are kept.

        The old file stays until a copy of these lines is on disk, which takes its place. A copy
        that a process left behind which was killed over it, `PATH.part`, makes way.

        Args:
            path: The record.
            kept: Lines without their ends; by default all that are whole.

        Raises:
            UsageError: The copy cannot be made.
        """
        path = Path(path)
        part = path.with_name(path.name + ".part")
        lines = _whole_lines(path) if kept is None else kept
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        recorder = cls(part, path.suffix)
        for line in lines:
            recorder.line(line)
        recorder.path.replace(path)
        recorder.path = path
        return recorder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._raw.close()

    def line(self, line: bytes) -> None:
        """Write one line and flush it."""
        line += b"\n"
        self._file.write(line)
        self._unhashed.append(line)
        if len(self._unhashed) >= _HASHED_AT_ONCE:
            self._digest()
        if self._flush:
            self._file.flush()

    def head(self, header: Header) -> None:
        """Write the first line."""
        self.line(_encode(header))

    def step(self, t: int, decision: Decision, notes: Mapping[str, Any] | None) -> None:
        """Write one decision."""
        self.line(_line(t, decision.role, decision.observation, decision.wire, notes))

    def said(self, said: Said) -> None:
        """Write down what a policy has heard."""
        self.line(_encode(said))

    def result(self, result: Result) -> None:
        """Write the last line."""
        self.line(_encode({**_told(result), "record_digest": self._digest()}))

    def _digest(self) -> str:
        """Return the digest of all lines so far; many lines at once cost little more than one."""
        self._hash.update(b"".join(self._unhashed))
        self._unhashed.clear()
        return self._hash.hexdigest()


def _told(result: Result) -> dict[str, Any]:
    """Return a result as plain values; sums of usage only where there are any."""
    told = asdict(result)
    if not told["usage"]:
        del told["usage"]
    return told


def _line(
    t: int, role: str, observation: Any, wire: bytes, notes: Mapping[str, Any] | None
) -> bytes:
    tail = b',"notes":' + _encode(notes) if notes else b""
    told = (t, _role(role), encode(observation), wire, tail)
    return b'{"t":%d,"role":%b,"observation":%b,"action":%b%b}' % told


@cache
def _role(role: str) -> bytes:
    return _encode(role)


def version() -> str:
    """Return the version of desim that runs here."""
    from desim import __version__

    return __version__


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines; the tail of a gzip that was cut is given up quietly, `_parsed` will tell."""
    try:
        raw = path.read_bytes()
    except OSError as fault:
        raise BadRecord(f"cannot read {path}: {fault.strerror}") from None
    yield from (_unzipped(raw) if raw[:2] == b"\x1f\x8b" else raw).splitlines(keepends=True)


def _whole_lines(path: Path) -> list[bytes]:
    return [line[:-1] for line in lines_of(path) if line.endswith(b"\n")]


def _zipped(raw: io.FileIO) -> Any:
    import gzip

    # Neither name nor time of day in the file: the same episode is the same bytes.
    return gzip.GzipFile("", "wb", fileobj=raw, mtime=0)


def _unzipped(raw: bytes) -> bytes:
    unzip = zlib.decompressobj(wbits=31)
    out = io.BytesIO()
    try:
        for start in range(0, len(raw), 1 << 16):
            out.write(unzip.decompress(raw[start : start + (1 << 16)]))
    except zlib.error:
        pass
    return out.getvalue()


def _parsed(lines: list[bytes], *, whole: bool) -> Episode:
    if not lines:
        raise BadRecord("the file is empty; a record starts with a header")
    header = _header(lines[0])
    # Other lines may speak of a digest too, but a result starts with its score.
    told = b'"record_digest"' in lines[-1] and not lines[-1].startswith((b'{"t":', b'{"said":'))
    complete = told and lines[-1].endswith(b"\n")
    if whole and not complete:
        decisions = sum(line.startswith(b'{"t":') for line in lines)
        raise BadRecord(f"the record was cut after {decisions} decisions: it has no result")
    body = lines[1:-1] if complete or not lines[-1].endswith(b"\n") else lines[1:]
    result = _result(lines) if complete else None
    steps: list[Step] = []
    said: list[Said] = []
    for number, line in enumerate(body, 2):
        if line.startswith(b'{"said":'):
            said.append(_parsed_line(line, Said, f"line {number}"))
        else:
            what = f"decision {len(steps) + 1} (line {number})"
            steps.append(_parsed_line(line, Step, what))
    return Episode(header, tuple(steps), result, tuple(said))


def _header(line: bytes) -> Header:
    try:
        told = msgspec.json.decode(line).get("format")
    except (msgspec.DecodeError, AttributeError, RecursionError):
        told = None
    if told is None:
        raise BadRecord("the file is no episode record: its first line is no header")
    if told != FORMAT:
        raise BadRecord(f"the record has format {told!r}; this desim {version()} reads {FORMAT!r}")
    try:
        return msgspec.json.decode(line, type=Header)
    except msgspec.ValidationError as fault:
        raise BadRecord(f"line 1: {fault}") from None


def _parsed_line(line: bytes, kind: type[T], what: str) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, RecursionError) as fault:
        raise BadRecord(f"{what} is not readable: {fault}") from None


def _result(lines: list[bytes]) -> Result:
    try:
        told = msgspec.json.decode(lines[-1], type=dict)
        digest = told.pop("record_digest")
        result: Result = from_plain(told, Result)
    except (msgspec.DecodeError, DesimError, KeyError, RecursionError) as fault:
        raise BadRecord(f"its last line is no result: {fault}") from None
    if digest != hashlib.sha256(b"".join(lines[:-1])).hexdigest():
        raise BadRecord("the record was altered: its lines do not have the digest of its last line")
    return result
