"""The lines of a record, and how they are read.

A record is JSON lines: a header (format, version, model, preset, parameters, seed, policies), one
line a decision (tick, role, observation, action, notes), one line a transcript entry, and a last
line with the result, or with the failure of the model. The key `line` of each object says which of
these it is. The last line ends with the SHA-256 of all bytes before that field, a checksum against
damage that does not prove who wrote the record. The tags of the lines of a record that was written
with a key do.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec

from desim import catalog
from desim.core.model_protocols import Model
from desim.core.result import Result
from desim.core.roles import Role
from desim.core.run import check_futures
from desim.episodes.line_tags import UNTAGGED, is_tagged, untagged
from desim.episodes.reach import model_reaches, refuse
from desim.episodes.seal import Seal
from desim.errors import BadRecord, SchemaError, UsageError, possible
from desim.schema import encode, encode_tagged, from_plain, has_tags, to_plain
from desim.short_repr import cut, shown
from desim.version import __version__

__all__ = [
    "FORMAT",
    "PERSON",
    "TAGGED",
    "FailureLine",
    "Header",
    "Lines",
    "ResultLine",
    "Step",
    "TaggedStep",
    "TranscriptEntry",
    "parse",
    "step_class",
    "steps_of",
]

#: The format of the lines, which the header names; it is counted up when their meaning changes.
FORMAT = "desim-episode/3"

#: The same with a tag at the end of each line. In memory a header has `FORMAT`: an episode is the
#: same whether it was recorded with a key or without.
TAGGED = f"{FORMAT}+tags"

#: What a header names as the policy of a role that a person plays.
PERSON = "person"


class Header(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="header", tag_field="line"
):
    """The first line of a record: what is needed to play the episode again, except the answers.

    Attributes:
        format: `FORMAT`.
        version: The version of desim.
        model: A name in the catalog, or `module:Class`.
        preset: The nearest preset of the model.
        params: All parameters as plain values.
        seed: The episode's seed.
        policies: The policies' labels by role.
        starts: Of a branch: how many decisions of the episode were repeated from another record
            before the policy of a role began; 0 for roles that are not named.
        futures: Of a branch: after how many decisions the future was redrawn, and with which seed.
    """

    format: str
    version: str
    model: str
    preset: str
    params: dict[str, Any]
    seed: int
    policies: dict[str, str]
    starts: dict[str, int] = {}
    futures: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls,
        model: Model[Any],
        seed: int,
        policies: Mapping[str, str],
        starts: Mapping[str, int] | None = None,
        futures: Iterable[tuple[int, int]] = (),
    ) -> "Header":
        """Return the header of an episode that starts now."""
        return cls(
            format=FORMAT,
            version=__version__,
            model=catalog.model_name(type(model)),
            preset=catalog.nearest_preset(model),
            params=to_plain(model),
            seed=seed,
            policies=dict(policies),
            starts=dict(starts or {}),
            futures=tuple(futures),
        )

    def futures_of_branch(self, decisions: int, future: int | None) -> tuple[tuple[int, int], ...]:
        """Return the futures of a branch of this episode.

        Args:
            decisions: After how many decisions it branches.
            future: The seed of its future, which replaces all later ones; None keeps those of the
                episode, so that equal answers give the same episode.
        """
        if future is None:
            return self.futures
        return (*(each for each in self.futures if each[0] <= decisions), (decisions, future))

    def build(self, *, trust: bool = False) -> Model[Any]:
        """Build the model.

        Args:
            trust: Whether a module may be imported and files may be opened that the header names.

        Raises:
            BadRecord: Its class does not exist here, or does not take these parameters.
            UsageError: It would import a module or open a file, and that is not allowed.
        """
        if not trust:
            refuse(model_reaches(self.model, self.params))
        try:
            if ":" not in self.model and not catalog.has_model(self.model):
                # Not left to the catalog, which imports a user's module for its hint.
                names = possible(self.model, catalog.model_names())
                raise UsageError(f"there is no model {shown(self.model)}; {names}")  # noqa: TRY301
            built: Model[Any] = from_plain(self.params, catalog.model_class(self.model), "params")
        except (SchemaError, UsageError) as fault:
            what = f"{cut(self.model)} of desim {cut(self.version)}"
            raise BadRecord(f"written for {what}: {fault}") from None
        return built


class Step(
    msgspec.Struct, frozen=True, omit_defaults=True, gc=False, tag="decision", tag_field="line"
):
    """One decision.

    Attributes:
        t: The tick.
        role: The role that decided.
        observation: What it observed; plain JSON values when read from a file.
        action: What it answered; a tagged object when read from a file.
        notes: What the policy noted (tokens, cost), if anything.
    """

    t: int
    role: str
    observation: Any
    action: Any
    notes: dict[str, Any] | None = None

    @staticmethod
    def encoded(observation: Any) -> bytes:
        """Return an observation as JSON, as a record holds it."""
        return encode(observation)

    @property
    def observed(self) -> bytes:
        """The observation as JSON."""
        return self.encoded(self.observation)


class TaggedStep(Step, frozen=True, omit_defaults=True, gc=False):
    """A decision just made of a role that observes several classes.

    Read from a file it is a `Step`, whose observation has its tag already.
    """

    @staticmethod
    def encoded(observation: Any) -> bytes:
        """Return an observation as JSON with its tag, as a record holds it."""
        return encode_tagged(observation)


def step_class(role: Role) -> type[Step]:
    """Return the class of a role's decisions."""
    return TaggedStep if has_tags(role.observation) else Step


class TranscriptEntry(msgspec.Struct, frozen=True, gc=False, tag="transcript", tag_field="line"):
    """What a policy received and wrote to the record before it decided.

    Attributes:
        entry: A plain JSON value of the policy's own.
        role: The role that the policy plays.
    """

    entry: Any
    role: str


class ResultLine(msgspec.Struct, frozen=True, kw_only=True, tag="result", tag_field="line"):
    """The last line of a record: `desim.Result`; a digest of the record follows its fields."""

    score: float
    ended: str
    metrics: dict[str, Any]
    decisions: int
    ledger_digest: str | None
    usage: dict[str, dict[str, float]] | msgspec.UnsetType = msgspec.UNSET
    waiting: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    @classmethod
    def of(cls, result: Result) -> "ResultLine":
        """Return the last line for a result."""
        optional = {"usage": result.usage, "waiting": result.waiting}
        return cls(
            score=result.score,
            ended=result.ended,
            metrics=dict(result.metrics),
            decisions=result.decisions,
            ledger_digest=result.ledger_digest,
            **{name: value for name, value in optional.items() if value},  # type: ignore[arg-type]
        )

    def result(self) -> Result:
        """Return the result."""
        return Result(
            self.score,
            self.ended,
            self.metrics,
            self.decisions,
            self.ledger_digest,
            self.usage or {},
            self.waiting or (),
        )


class FailureLine(msgspec.Struct, frozen=True, kw_only=True, tag="failure", tag_field="line"):
    """The last line of a record whose model failed.

    Attributes:
        t: The tick.
        error: What was raised, and where.
        decisions: How many decisions were answered; the last of them preceded the failure.
        before: How many were answered before the tick of the last one, for `desim branch --at`.
    """

    t: int
    error: str
    decisions: int
    before: int


Line = Header | Step | TranscriptEntry | ResultLine | FailureLine

_decode, _decode_lines = (
    msgspec.json.Decoder(Line).decode,
    msgspec.json.Decoder(Line).decode_lines,
)
_encode, _encode_lines = msgspec.json.Encoder().encode, msgspec.json.Encoder().encode_lines

#: Bytes of lines that are decoded together.
_BLOCK_BYTES = 1 << 16

#: What decoding a line raises: no JSON, another type, invalid UTF-8, too deep, too large a number.
_FAULTS = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)


class Lines(msgspec.Struct):
    """A record that was read.

    Attributes:
        header: The first line.
        steps: The decisions in the order in which they were handed out, where they are kept.
        transcript: The transcript entries in their order.
        decisions: How many decisions there are.
        result: The result; None for a record that was cut, or whose model failed.
        failure: Where the model failed; None if it did not.
    """

    header: Header
    steps: list[Step]
    transcript: list[TranscriptEntry]
    decisions: int = 0
    result: Result | None = None
    failure: FailureLine | None = None


def parse(
    lines: Iterable[bytes],
    *,
    whole: bool,
    key: bytes | None = None,
    kept: int | None = None,
    decisions: int | None = None,
) -> Lines:
    """Read the lines of a record.

    Args:
        lines: With their ends.
        whole: Refuse a record without a result. Otherwise a cut record is read up to the last
            whole line, and its result is None.
        key: The key with which it was written, which also proves a cut record that has tags; None
            checks the digest alone.
        kept: How many of the decisions are kept; None keeps all.
        decisions: Return the record as if it had been cut after this many decisions. The lines
            behind them are checked as the others are, and not kept.

    Raises:
        BadRecord: It is empty, cut, altered, of another format, or no record at all; or a key was
            given, and the record was not written with it.
    """
    whole_lines = iter(lines)
    first = next(whole_lines, None)
    if first is None:
        raise BadRecord("the file is empty; a record starts with a header")
    tagged = is_tagged(first)
    # Without tags only the HMAC of a whole record of an older desim proves the key.
    seal = Seal(None if tagged else key)
    record = Lines(_header(first, TAGGED if tagged else FORMAT), [], [])
    found = 0
    reading = untagged(chain([first], whole_lines), key)
    seal.add(next(reading))
    decoded = _decoded(reading)
    for number, (raw, known) in enumerate(decoded, 2):
        if not raw.endswith(b"\n"):
            break  # the process was killed while it wrote
        line = known or _line(raw, f"decision {found + 1} (line {number})")
        if not isinstance(line, Step | TranscriptEntry):
            _end(record, line, number, decoded)
            seal.check(raw)
            break
        seal.add(raw)
        # What is behind the last decision of interest is read for the digest alone.
        if decisions is None or found < decisions:
            _take(record, line, kept)
        found += isinstance(line, Step)
    if whole and record.result is None:
        raise BadRecord(_no_result(record))
    if key is not None and not tagged and record.result is None and record.failure is None:
        raise BadRecord(UNTAGGED)
    if decisions is not None and found >= decisions:
        record.result = record.failure = None
    return record


def steps_of(lines: Iterable[bytes]) -> Iterator[Step]:
    """Yield the decisions of a record that was read before.

    Raises:
        BadRecord: A line is not readable any more.
    """
    for number, (raw, known) in enumerate(_decoded(untagged(lines)), 1):
        if raw.endswith(b"\n"):
            line = known or _line(raw, f"line {number}")
            if isinstance(line, Step):
                yield line


def _take(record: Lines, line: Step | TranscriptEntry, kept: int | None) -> None:
    if isinstance(line, TranscriptEntry):
        record.transcript.append(line)
        return
    record.decisions += 1
    if kept is None or record.decisions <= kept:
        record.steps.append(line)


def _end(record: Lines, line: Line, number: int, following: Iterator[object]) -> None:
    """Take a last line.

    Raises:
        BadRecord: It is none, or the file has further lines.
    """
    if isinstance(line, Header):
        raise BadRecord(f"line {number} is a second header")
    if next(following, None) is not None:
        raise BadRecord(f"line {number} is a result, but the file has further lines")
    if isinstance(line, FailureLine):
        record.failure = line
    elif isinstance(line, ResultLine):
        record.result = line.result()


def _no_result(record: Lines) -> str:
    failure = record.failure
    if failure is None:
        return f"the record was cut after {record.decisions} decisions: it has no result"
    return (
        f"the run failed at t={failure.t} after decision {failure.decisions}: {failure.error}; "
        f"desim branch FILE --at {failure.before} plays on from before it"
    )


def _header(line: bytes, wanted: str) -> Header:
    try:
        form = msgspec.json.decode(line).get("format")
    except (*_FAULTS, AttributeError):
        form = None
    if form is None:
        raise BadRecord("the file is no episode record: its first line is no header")
    if form not in (FORMAT, TAGGED):
        reads = f"this desim {__version__} reads {FORMAT!r}"
        raise BadRecord(f"the record has format {shown(form)}; {reads}")
    if form != wanted:
        raise BadRecord(f"the record has format {form!r}, but its header line is of {wanted!r}")
    header = _line(line, "line 1")
    if not isinstance(header, Header):
        raise BadRecord("the file is no episode record: its first line is no header")
    try:
        check_futures(header.futures)
    except UsageError as fault:
        raise BadRecord(f"line 1 is not readable: {fault}") from None
    return header if wanted == FORMAT else msgspec.structs.replace(header, format=FORMAT)


def _decoded(lines: Iterable[bytes]) -> Iterator[tuple[bytes, Line | None]]:
    """Yield each line with what it holds, decoded together with its neighbours, which is faster.

    None stands for a line that must be decoded alone, because it or a neighbour is not as desim
    writes it: cut, altered, or with an end that no type of a line has.
    """
    block: list[bytes] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size > _BLOCK_BYTES:
            yield from _decoded_block(block)
            block, size = [], 0
    yield from _decoded_block(block)


def _decoded_block(block: list[bytes]) -> Iterable[tuple[bytes, Line | None]]:
    whole = b"".join(block)
    try:
        found: list[Line] = _decode_lines(whole)
        # As in `_line`: no key is repeated in what is the same when it is written again.
        if len(found) == len(block) and _encode_lines(found) == whole:
            return zip(block, found, strict=True)
    except _FAULTS:
        pass
    return ((line, None) for line in block)


def _line(line: bytes, what: str) -> Line:
    try:
        decoded: Line = _decode(line)
        # A line that desim wrote is the same when it is written again, which is faster to find out
        # than whether a key is repeated.
        if _encode(decoded) != line[:-1]:
            _check_keys(line)
    except _FAULTS as fault:
        raise BadRecord(f"{what} is not readable: {cut(str(fault))}") from None
    return decoded


def _check_keys(line: bytes) -> None:
    """Check that no object of a line has a key twice.

    Raises:
        ValueError: One has, or the line is not readable.
    """
    import json

    json.loads(line, object_pairs_hook=_without_repeated_keys)


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {shown(twice)} comes twice in one object")
    return found
