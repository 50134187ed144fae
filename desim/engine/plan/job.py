"""A job: one episode to play, as plain data that can be sent to another process; and its row."""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import msgspec
from attrs import frozen

from desim.core.limits import Limits
from desim.core.model import Model, revision_of
from desim.engine.plan.lineups import PolicyEntry
from desim.engine.plan.players import inside, is_fixed, players
from desim.engine.plan.record_job import safe_name
from desim.schema import to_plain
from desim.schema.convert import plain_scalar

#: The result of one job: plain JSON values, the same keys in the same order in all rows of a sweep
#: (see `Rows`).
Row = dict[str, Any]


#: Most seeds of a range, far below what Python's `len` can count.
MAX_RANGE = 10**15

#: Keys of rows of a design: the index of the point, and the policy without its arguments.
POINT, GIVEN = "point", "given"


#: The key of rows whose episodes are recorded: the file of the record, in the folder of the sweep.
RECORD = "record"

#: The folder of the records in that of the sweep, and most characters of a part of a record's name.
RECORDS, _LONGEST = "records", 40


#: The key of rows with series, and the one that holds unit, label, role and period of each.
SERIES, SERIES_COLUMNS = "series", "series_columns"


#: The key of rows that holds the worst score, if the model declares one.
WORST_SCORE = "worst_score"


#: The keys of rows that hold the cluster of the seed, if the model groups its seeds; and by item
#: its part of the score and whether it was answered right, if the model declares items.
CLUSTER, ITEMS = "cluster", "items"

#: The key of rows that holds the revision of the world; see `revision_of`.
REVISION = "revision"

#: The key of rows whose episode is known to be the same on every seed.
FIXED = "deterministic"

#: The key of rows that holds the share of decisions that were default actions, if policies count
#: these; language models do.
DEFAULTS = "defaults"

_encode = msgspec.json.Encoder(enc_hook=plain_scalar).encode

#: Values stay as they are written, so that they keep their digits.
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


@frozen
class Variant:
    """A model, and its name in rows.

    Attributes:
        name: Its name in the catalog.
        preset: The preset it was made from, or the nearest one.
        params: The parameters that were set, vary in the sweep, or differ from the preset.
        model: The model with all its parameters.
    """

    name: str
    preset: str
    params: dict[str, Any]
    model: Model[Any]


@frozen
class Cell:
    """A model and policies, which play every seed of a sweep.

    Attributes:
        variant: The model.
        entry: The policies.
        point: The index of the point of a design; None in a sweep without one.
        given: The label of the policies without the arguments of the point; empty without one.
    """

    variant: Variant
    entry: PolicyEntry
    point: int | None = None
    given: str = ""

    def parts(self) -> Iterator[Any]:
        """Yield the classes, functions and texts of the model and the policies."""
        yield from inside(self.variant.model)
        yield from players(self.variant.model, self.entry.policies)


class Frame(msgspec.Struct, frozen=True):
    """The part of a row that depends on the plan, and not on the episode.

    Attributes:
        before: Keys before the seed and the results.
        after: Keys after the results, before series.
    """

    before: dict[str, msgspec.Raw]
    after: dict[str, msgspec.Raw]

    @classmethod
    def of(cls, cell: Cell) -> Self:
        """Return the frame of the rows of a cell."""
        variant, entry, model = cell.variant, cell.entry, cell.variant.model
        before = {
            "model": variant.name,
            "preset": variant.preset,
            "params": variant.params,
            "policy": entry.label,
            "arguments": entry.arguments,
        }
        after: dict[str, Any] = {REVISION: revision_of(model)}
        if (worst := model.figures.worst_score) is not None:
            after[WORST_SCORE] = float(worst)
        if is_fixed(model, entry.policies):
            after[FIXED] = True
        if cell.point is not None:
            after |= {POINT: cell.point, GIVEN: cell.given}
        return cls(_written(before), _written(after))

    def row(self, seed: int, results: bytes) -> bytes:
        """Return the row of an episode as JSON, from its results as JSON."""
        own = _decode(results)
        series = {name: own.pop(name) for name in (SERIES, SERIES_COLUMNS) if name in own}
        return _encode({**self.before, "seed": seed, **own, **self.after, **series})


def _written(values: dict[str, Any]) -> dict[str, msgspec.Raw]:
    return {name: msgspec.Raw(_encode(value)) for name, value in values.items()}


@frozen
class Job:
    """One episode to play.

    Attributes:
        cell: The model and the policies.
        seed: A whole number of at least 0.
        limits: The limits of wall time, events and decisions; an episode that reaches one fails.
        series: Whether its row holds the model's series.
        out: The folder of the sweep, which receives the record of the episode; None records
            nothing.
    """

    cell: Cell
    seed: int
    limits: Limits | None = None
    series: bool = False
    out: Path | None = None

    @property
    def variant(self) -> Variant:
        """The model, and its name in rows."""
        return self.cell.variant

    @property
    def entry(self) -> PolicyEntry:
        """The policies, and their label."""
        return self.cell.entry

    @property
    def record_name(self) -> str:
        """The name of its record in the folder of the sweep.

        The same for equal parameters, policies and seeds, in whatever sweep they are played.
        """
        variant = self.variant
        named = [self.entry.named] if self.entry.named else []
        plain = msgspec.json.encode([variant.name, to_plain(variant.model), *named], order="sorted")
        model = "-".join(filter(None, [variant.name, variant.preset]))
        names = (safe_name(name, _LONGEST) for name in (model, self.entry.label))
        parts = [*names, hashlib.sha256(plain).hexdigest()[:8], f"seed{self.seed}"]
        return f"{RECORDS}/{'__'.join(parts)}.jsonl"

    @property
    def record(self) -> Path | None:
        """The file of its record; None if it is not recorded."""
        return self.out / self.record_name if self.out is not None else None


class JobPlan(Protocol):
    """Jobs, each a cell with a seed: those of the first cell with all seeds, then of the next.

    A cell is whatever plays a job when it has a seed, such as a model with policies.
    """

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds of every cell; whole numbers of at least 0, all different."""
        ...

    def __len__(self) -> int: ...

    def job(self, index: int) -> Any:
        """Return the job with an index from 0 to `len(self) - 1`."""
        ...

    def plays(self, cell: int) -> dict[str, str]:
        """Return the data that determine the results of a cell, by topic."""
        ...

    def parts(self, cell: int) -> Iterator[Any]:
        """Yield the classes, functions and texts of a cell; see `code_topics`."""
        ...

    def name(self, cell: int) -> str:
        """Return the name of a cell in error texts."""
        ...

    def waits(self, index: int) -> bool:
        """Return whether a policy of the job with an index waits for a host."""
        ...

    def is_fixed(self, cell: int) -> bool:
        """Return whether the results of a cell are known to be the same for all seeds."""
        ...


class _Results(msgspec.Struct):
    """The results of every episode."""

    score: float | None
    ended: str | None
    decisions: int | None
    metrics: dict[str, Any]
    ledger_digest: str | None
    error: str | None


_decode_results = msgspec.json.Decoder(_Results).decode


def has_failed(results: bytes) -> bool:
    """Return whether an episode failed, by its results as JSON."""
    return _decode_results(results).error is not None


def spans(numbers: Iterable[int]) -> Iterator[range]:
    """Yield ascending consecutive numbers as ranges."""
    if isinstance(numbers, range) and numbers.step == 1:
        yield from [numbers] if numbers else []
        return
    span = range(0)
    for number in numbers:
        if not span or number != span.stop:
            if span:
                yield span
            span = range(number, number)
        span = range(span.start, number + 1)
    if span:
        yield span


def merged(ranges: Iterable[range]) -> list[range]:
    """Return ascending ranges that hold the numbers of the given ones, each number once.

    >>> merged([range(5, 9), range(2), range(2, 6)])
    [range(0, 9)]
    """
    found: list[range] = []
    for one in sorted(filter(None, ranges), key=lambda one: one.start):
        if found and one.start <= found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, one.stop))
        else:
            found.append(one)
    return found


def without(ranges: Iterable[range], numbers: Sequence[int]) -> Iterator[range]:
    """Yield the parts of ranges between ascending numbers.

    >>> [*without([range(9)], [0, 4])]
    [range(1, 4), range(5, 9)]
    """
    for one in ranges:
        start = one.start
        for number in numbers[bisect_left(numbers, start) : bisect_left(numbers, one.stop)]:
            if start < number:
                yield range(start, number)
            start = number + 1
        if start < one.stop:
            yield range(start, one.stop)
