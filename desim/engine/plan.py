"""A plan: cells x seeds = jobs, each one episode to play; and how its results become a row.

A job is plain data that can be sent to another process.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
import msgspec
from attrs import evolve, field, frozen

from desim.core.limits import Limits
from desim.core.model import Model, revision_of
from desim.core.policy import Policy
from desim.engine.policies import PolicyEntry, inside, is_fixed, players, waits
from desim.errors import BadRecord
from desim.schema import to_plain
from desim.schema.convert import plain_scalar

#: Exceptions that the decoding of a stranger's JSON raises.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError)

#: The result of one job: plain JSON values, the same keys in all rows of a sweep (see `Rows`).
Row = dict[str, Any]

#: Keys of rows: of a design the index of the point, and the policy without its arguments; the file
#: of the record in the folder of the sweep; series, with unit, label, role and period of each; the
#: worst score and the cluster of the seed, if the model declares them; by item its part of the
#: score and whether it was answered right; the revision of the world; whether the episode is known
#: to be the same on every seed; the share of default actions in the decisions, if policies count
#: these; and, if asked for, what was used, and the results of episodes in a row.
POINT, GIVEN, RECORD = "point", "given", "record"
SERIES, SERIES_COLUMNS = "series", "series_columns"
WORST_SCORE, CLUSTER, ITEMS, REVISION = "worst_score", "cluster", "items", "revision"
FIXED, DEFAULTS, USAGE, EPISODES = "deterministic", "defaults", "usage", "episodes"

#: The folder of the records in that of the sweep.
RECORDS = "records"

#: The columns of a row before the seed and the results, and after them.
Frame = tuple[dict[str, Any], dict[str, Any]]

#: Values of results stay as they are written, so that they keep their digits.
encode = msgspec.json.Encoder(enc_hook=plain_scalar).encode
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


@frozen
class Cell:
    """A model and policies, and how their episodes are played.

    Attributes:
        name: The model's name in the catalog.
        preset: The preset it was made from, or the nearest one.
        params: The parameters that were set, vary in the sweep, or differ from the preset.
        point: The index of the point of a design; None in a sweep without one.
        given: The label of the policies without the arguments of the point; empty without one.
        limits: The limits of wall time, events and decisions; an episode that reaches one fails.
        series: Whether rows hold the model's series.
        out: The folder that receives the records of its episodes; None records nothing.
        episodes: Episodes of a job in a row with the same policies, which may learn in between; the
            first has the seed of the job, each further one the next seed.
        usage: Whether results hold what episodes used: calls, tokens, money, seconds.
        purse: The name of the limits of money that its policies share; see `command_budget`.
        rehearsed: Whether language models take all their replies from records that were set aside.
        known: Transcript entries by seed that policies get first; see `OutsidePolicy.reuse`.
    """

    model: Model[Any]
    entry: PolicyEntry
    name: str = ""
    preset: str = ""
    params: Mapping[str, Any] = field(factory=dict)
    point: int | None = None
    given: str = ""
    limits: Limits | None = None
    series: bool = False
    out: Path | None = None
    episodes: int = 1
    usage: bool = False
    purse: str = ""
    rehearsed: bool = False
    known: Mapping[int, Sequence[Mapping[str, Any]]] = field(factory=dict, repr=False)

    def __str__(self) -> str:
        return f"{self.name}/{self.preset}, {self.entry.label}"

    def plays(self) -> dict[str, str]:
        """Return the data that determine the episodes, by topic; see `code_topics`."""
        entry = self.entry
        topics = {
            "model": msgspec.json.encode([self.name, to_plain(self.model)]).decode(),
            "policies": f"{entry.label} = {entry.named}" if entry.named else entry.label,
            "limits": limits_text(self.limits),
            "series": "in rows" if self.series else "",
            "records": "of all episodes" if self.out else "",
            "episodes in a row": str(self.episodes) if self.episodes > 1 else "",
            "usage": "in results" if self.usage else "",
        }
        return {topic: text for topic, text in topics.items() if text}

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        """The classes, functions and texts of the model and the policies."""
        return *inside(self.model), *players(self.model, self.entry.policies)

    def job(self, seed: int) -> Any:
        """Return the job of a seed."""
        return Job(self, seed)

    @property
    def is_fixed(self) -> bool:
        """Whether one episode serves all seeds; recorded ones are all played."""
        return self.out is None and is_fixed(self.model, self.entry.policies)

    @cached_property
    def waits(self) -> bool:
        """Whether its episodes wait in an event loop of another thread."""
        return waits(self.model, self.entry.policies)

    @property
    def plays_again(self) -> bool:
        """Whether an episode is played again to compare it: no policy waits or learns."""
        if self.is_fixed or self.waits:
            return False
        parts = players(self.model, self.entry.policies)
        kinds = (part for part in parts if isinstance(part, type) and issubclass(part, Policy))
        return not any(kind.reaches or kind.after is not Policy.after for kind in kinds)

    def record_name(self, seed: int) -> str:
        """Return the name of the record of a seed: the same in whatever sweep it is played."""
        named = [self.entry.named] if self.entry.named else []
        plain = msgspec.json.encode([self.name, to_plain(self.model), *named], order="sorted")
        model = "-".join(filter(None, [self.name, self.preset]))
        names = (safe_name(name, 40) for name in (model, self.entry.label))
        parts = [*names, hashlib.sha256(plain).hexdigest()[:8], f"seed{seed}"]
        return f"{RECORDS}/{'__'.join(parts)}.jsonl"

    def frame(self) -> Frame:
        """Return what its rows hold before seeds and results, and after them."""
        before = {
            "model": self.name,
            "preset": self.preset,
            "params": self.params,
            "policy": self.entry.label,
            "arguments": self.entry.arguments,
        }
        after: dict[str, Any] = {REVISION: revision_of(self.model)}
        if (worst := self.model.figures.worst_score) is not None:
            after[WORST_SCORE] = float(worst)
        if is_fixed(self.model, self.entry.policies):
            after[FIXED] = True
        if self.point is not None:
            after |= {POINT: self.point, GIVEN: self.given}
        return before, after


def row_of(frame: Frame, seed: int, results: bytes) -> bytes:
    """Return the row of an episode as JSON, from its results as JSON."""
    before, after = frame
    try:
        own = _decode(results)
    except UNREADABLE as fault:
        raise BadRecord(f"a result is not as a sweep wrote it: {fault}") from None
    series = {name: own.pop(name) for name in (SERIES, SERIES_COLUMNS) if name in own}
    return encode({**before, "seed": seed, **own, **after, **series})


def limits_text(limits: Limits | None) -> str:
    """Return the limits of an episode as a text."""
    given = attrs.asdict(limits) if limits else {}
    return ", ".join(f"{v:g} {k}" for k, v in given.items() if v is not None) or "none"


@frozen
class Job:
    """One episode to play, or several in a row."""

    cell: Cell
    seed: int

    @property
    def record(self) -> Path | None:
        """The file of its record, of episodes in a row a folder; None if it is not recorded."""
        out = self.cell.out
        return None if out is None else out / self.cell.record_name(self.seed)

    @property
    def has_record(self) -> bool:
        """Whether it has a record, whole or not."""
        return self.record is not None and self.record.exists()


def safe_name(name: str, longest: int = 60) -> str:
    """Return a name as a part of a file's name, with a digest where characters are replaced.

    >>> safe_name("GPT-5.4"), safe_name("a/b")
    ('GPT-5.4', 'a_b-c14cddc0')
    """
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:longest].lstrip(".")
    if safe == name and "__" not in name:
        return name
    return f"{safe.replace('__', '_')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


@frozen
class Grid:
    """The jobs of some cells: those of the first cell with all seeds, then of the next.

    Seeds are whole numbers of at least 0, all different; all cells have the same ones, so that
    comparisons are paired.
    """

    cells: tuple[Cell, ...]
    seeds: Sequence[int]

    def __len__(self) -> int:
        return len(self.cells) * len(self.seeds)

    def job(self, index: int) -> Any:
        """Return the job with an index from 0 to `len(self) - 1`."""
        cell, seed = divmod(index, len(self.seeds))
        return self.cells[cell].job(self.seeds[seed])

    def row(self, index: int, results: bytes) -> bytes:
        """Return the row of a job as JSON; see `row_of`."""
        cell, seed = divmod(index, len(self.seeds))
        return row_of(self.frames[cell], self.seeds[seed], results)

    @cached_property
    def frames(self) -> list[Frame]:
        """The columns of each cell's rows beside seeds and results."""
        return [cell.frame() for cell in self.cells]

    def changed(self, **how: Any) -> "Grid":
        """Return the plan with other values of some fields of its cells."""
        return Grid(tuple(evolve(cell, **how) for cell in self.cells), self.seeds)

    @property
    def models(self) -> list[Model[Any]]:
        """The models, each once."""
        return [*{id(cell.model): cell.model for cell in self.cells}.values()]

    @property
    def entries(self) -> list[PolicyEntry]:
        """The policies, each once."""
        return [*{id(cell.entry): cell.entry for cell in self.cells}.values()]


def has_failed(results: bytes) -> bool:
    """Return whether an episode failed, by its results as JSON."""
    return bytes(_decode(results).get("error", b"null")) != b"null"
