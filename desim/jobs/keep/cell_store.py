"""The store of cells in a folder: results by cell and seed, which any plan finds again.

A cell is a model with all its parameters, a line-up, and how both are played. The file holds a
group for each: its data, the digests of the code and of the files that it reached, and by seed what
its episodes gave. What depends on the plan, such as names of presets, is added when rows are read.
"""

import contextlib
import sqlite3
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

import msgspec

from desim.errors import UsageError
from desim.jobs.keep import row_file
from desim.jobs.keep.cell_entries import CellCode, CellEntries, CellGroup, Entry, LastPlan
from desim.jobs.keep.fingerprint import (
    CodeTopics,
    difference,
    file_topics,
    opened_now,
    opened_topics,
)
from desim.jobs.keep.locked_file import WAYS, LockedFile
from desim.jobs.keep.store import SweepWarning
from desim.jobs.plan.job import Frame, JobPlan, has_failed, spans

#: The file's name in a folder.
FILE_NAME = "sweep.sqlite"

#: The number of a row is that of its group, and in these lower bits its seed. Seeds that need more
#: bits are numbered from `_LARGE` on, in the order in which they are played.
_BITS = 32
_LARGE = 1 << (_BITS - 1)

#: Most digits of a seed that a row as JSON can hold; a stranger's file may have more.
_MAX_DIGITS = 20

#: Most cells or episodes that a text names.
_MAX_NAMED = 3

#: The tables of the file as SQLite lists them: name and type.
_TABLES = [(b"identity", b"table"), (b"rows", b"table")]


_Key = TypeVar("_Key", bound=Hashable)


class _Wanted(NamedTuple):
    """A group that a plan needs, with the present topics.

    Attributes:
        name: The name of its cell.
        plays: The topics of its data.
        code: Those of its code.
        files: Those of the files that it names.
    """

    name: str
    plays: dict[str, str]
    code: dict[str, str]
    files: dict[str, str]


class _Changed(NamedTuple):
    """A group whose code or files have changed: the topics of kept results, and present ones."""

    number: int
    name: str
    stored: Mapping[str, str]
    now: Mapping[str, str]


class CellStore(LockedFile):
    """Keeps results by cell and seed in a folder; a context manager that holds the file's lock.

    Args:
        folder: The folder of the file; both are created if needed.
        read: Open an existing file for reading only.
        restart: See `opened_store`.
        retry_failed: See `opened_store`.

    Raises:
        UsageError: The folder cannot be used, it holds a foreign file of our name or one of another
            format, its groups are damaged, or another process is writing the file.
    """

    file_name: ClassVar[str] = FILE_NAME
    form: ClassVar[int] = 3
    results: ClassVar[tuple[str, ...]] = ("rows.csv", "rows.jsonl")
    command: ClassVar[str] = "sweep"
    row_of: ClassVar[str] = "seed"

    def __init__(
        self,
        folder: str | Path,
        *,
        read: bool = False,
        restart: bool = False,
        retry_failed: bool = False,
    ) -> None:
        self._restart, self._retry_failed = restart, retry_failed
        self._topics_of = CodeTopics()
        self._cells = CellEntries({})
        super().__init__(folder, {}, read=read)

    def of(self, plan: JobPlan, frames: Sequence[Frame] = ()) -> "KeptCells":
        """Return what is kept of a plan; see `Store`.

        Raises:
            UsageError: Code or files of kept results have changed, or the file cannot be written.

        Warns:
            SweepWarning: Results were damaged or discarded.
        """
        with self._usage_errors():
            groups = self._matched(plan)
            kept = KeptCells(self, plan.seeds, groups, plan.fits)
            self._forget(plan, kept)
            if frames:
                self._show(plan, groups, frames, complete=len(kept) == len({*groups}) * kept.count)
        return kept

    def rows(self) -> Iterator[bytes]:
        """Yield the rows of the last command's plan, in the order of its jobs.

        Raises:
            UsageError: No command with rows was given here.
            BadRecord: A row is damaged.
        """
        if self._cells.last_plan is None:
            raise UsageError(f"{self.path} holds results, but no rows of a sweep")
        _, last = self._cells.last_plan
        seeds = last.seeds
        with self._usage_errors():
            kept = KeptCells(self, seeds, [group for group, _ in last.cells], bool)
            for _, seed in kept.lost.values():
                raise self._damaged_row(seed)
            for first, (_, frame) in zip(kept.firsts, last.cells, strict=True):
                jobs = kept.of_cell(first)
                for job, results in zip(jobs, kept.results(jobs), strict=True):
                    yield frame.row(seeds[job % len(seeds)], results)

    def __len__(self) -> int:
        return self._integer("SELECT count(*) FROM rows")

    # -- groups ------------------------------------------------------------------------------------

    def _matched(self, plan: JobPlan) -> list[int]:
        """Return the group of each cell of a plan; those of other code are refused or discarded."""
        every = [plan.plays(cell) for cell in range(len(plan) // len(plan.seeds))]
        keys = [msgspec.json.encode(plays) for plays in every]
        wanted = [self._wanted(plan, cell, every[cell]) for cell in _firsts(keys).values()]
        changed = [each for one in wanted if (each := self._changed(one))]
        with self._transaction():
            self._discard_changed([one for one in changed if self._count(one.number)])
            for one in wanted:
                number = self._cells.number(one.plays)
                if not number or number in {each.number for each in changed}:
                    self._put_group(number or self._next_number(), one)
        return [self._cells.number(plays) for plays in every]

    def _wanted(self, plan: JobPlan, cell: int, plays: dict[str, str]) -> _Wanted:
        parts = [*plan.parts(cell)]
        return _Wanted(plan.name(cell), plays, self._topics_of.of(parts), file_topics(parts))

    def _changed(self, one: _Wanted) -> _Changed | None:
        """Return the group of some data if its code or files have changed."""
        if not (number := self._cells.number(one.plays)):
            return None
        stored = self._cells.topics(number)
        now = {**one.code, **one.files, **opened_now(stored)}
        return None if stored == now else _Changed(number, one.name, stored, now)

    def _discard_changed(self, changed: Sequence[_Changed]) -> None:
        if changed and not self._restart:
            raise UsageError(self._refusal(changed))
        for one in changed:
            self.discarded += self._count(one.number)
            self._file.execute(
                "DELETE FROM rows WHERE job BETWEEN ? AND ?", row_numbers(one.number)
            )

    def _count(self, group: int) -> int:
        query = "SELECT count(*) FROM rows WHERE job BETWEEN ? AND ?"
        count: int = self._file.execute(query, row_numbers(group)).fetchone()[0]
        return count

    def _put_group(self, number: int, one: _Wanted) -> None:
        code = CellCode(one.code)
        if not (of_code := self._cells.number(code)):
            of_code = number + 1 if number > self._cells.largest else self._next_number()
            self._put(of_code, code)
        self._put(number, CellGroup(one.plays, of_code, one.files))

    def _put(self, number: int, entry: Entry) -> None:
        """Write an entry; the caller has begun a transaction."""
        self._entries[number] = self._cells.put(number, entry)
        row_file.write_entries(self._file, {number: self._entries[number]})

    def _next_number(self) -> int:
        # Rows without a group, whose entry was removed, must not become those of a new one.
        last = self._integer("SELECT coalesce(max(job), 0) FROM rows") >> _BITS
        return max(last, self._cells.largest) + 1

    def put(
        self,
        rows: Iterable[row_file.Numbered],
        opened: Iterable[tuple[int, Mapping[str, str]]],
    ) -> None:
        """Commit rows, and the files that were opened to play them, in one transaction.

        Args:
            rows: The rows by their numbers.
            opened: The digests of files by path, with the group that has opened them.

        Raises:
            UsageError: A file has changed since kept results were played, or the file cannot be
                written.
        """
        with self._usage_errors(), self._transaction():
            for group, files in opened:
                self._put_files(group, files)
            row_file.insert(self._file, rows)

    def stored(self, numbers: range) -> Iterator[bytes]:
        """Yield rows by their consecutive numbers.

        Raises:
            BadRecord: A row is damaged or missing.
        """
        query = "SELECT job, row, checksum FROM rows WHERE job BETWEEN ? AND ? ORDER BY job"
        with self._usage_errors():
            found = self._file.execute(query, (numbers.start, numbers.stop - 1))
            for number, each in zip_longest(numbers, found):
                if each is None or each[0] != number or not row_file.matches(*each):
                    raise self._damaged_row(number & (_LARGE - 1))
                yield each[1]

    def scanned(self, group: int) -> Iterator[tuple[int, int | None, bytes]]:
        """Yield the number, the seed and the results of each row of a group.

        The seed of a damaged row is None.
        """
        for number, row in row_file.scan(self._file, *row_numbers(group)):
            seed, _, results = (row or b"").partition(b" ")
            small = not number & _LARGE
            sound = seed.isdigit() and len(seed) <= _MAX_DIGITS
            sound = sound and (not small or int(seed) == number & (_LARGE - 1))
            yield number, int(seed) if sound else None, results

    def remove_numbers(self, numbers: Iterable[int]) -> None:
        """Remove rows by their numbers in one transaction."""
        with self._usage_errors(), self._transaction():
            self._file.executemany("DELETE FROM rows WHERE job = ?", ((one,) for one in numbers))

    def _put_files(self, number: int, files: Mapping[str, str]) -> None:
        group = self._cells.group(number)
        now = {**group.files, **opened_topics(files, group.files, self.path.parent)}
        if not group.files.items() <= now.items():
            name = group.plays.get("policies", "")
            raise UsageError(self._refusal([_Changed(number, name, group.files, now)]))
        if now != group.files:
            self._put(number, msgspec.structs.replace(group, files=now))

    def _refusal(self, changed: Sequence[_Changed]) -> str:
        """Return why results are refused: what has changed, and which are concerned."""
        stored = {topic: text for one in changed for topic, text in one.stored.items()}
        now = {topic: text for one in changed for topic, text in one.now.items()}
        count = sum(self._count(one.number) for one in changed)
        others = len(self) - count
        names = [*dict.fromkeys(one.name for one in changed)]
        more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
        rest = f"; the other {others:,} rows are not concerned" if others else ""
        return (
            f"{self.path} holds {difference('', stored, now)}: {count:,} of "
            f"{'; '.join(names[:_MAX_NAMED])}{more}{rest}; choose another folder (--out), or "
            f"discard the {count:,} rows (--restart)"
        )

    # -- the file ----------------------------------------------------------------------------------

    def _begin_reading(self) -> None:
        self._check_format()
        self._read_entries()

    def _begin_writing(self) -> None:
        try:
            self._check_format()
            self._read_entries()
        except (UsageError, sqlite3.DatabaseError):
            if not self._restart:
                raise
            self._discard()
        if not row_file.is_sound(self._file):
            self.damaged = True
            self._replace(row_file.sound_rows(self._file))

    def _check_format(self) -> None:
        super()._check_format()
        # An untrusted file may hold a view under the name, whose query need not end.
        found = self._file.execute("SELECT name, type FROM sqlite_master ORDER BY name").fetchall()
        if found != _TABLES:
            raise UsageError(
                f"{self.path} is no checkpoint of a sweep: it has other tables; {WAYS}"
            )

    def _read_entries(self) -> None:
        stored = row_file.read_entries(self._file) or {}
        with contextlib.suppress(ValueError, RecursionError):
            self._entries, self._cells = stored, CellEntries(stored)
            if stored or not len(self):
                return
        raise UsageError(f"{self.path} is damaged: its sweep cannot be read; {WAYS}")

    def _forget(self, plan: JobPlan, kept: "KeptCells") -> None:
        """Discard results where that is wanted, and warn of those and of damaged ones."""
        if self._restart and not self.discarded:
            self.discarded = kept.discard(lambda _: True)
        if self.discarded:
            _warn(f"{self.path}: {self.discarded:,} rows were discarded")
        if kept.lost or self.damaged:
            named = [f"{plan.name(cell)}, seed {seed}" for cell, seed in kept.lost.values()]
            _warn(f"{self.path} was damaged; {_damage(named)}")
            self.remove_numbers(kept.lost)
        if self._retry_failed:
            kept.discard(has_failed)
        self.discarded, self.damaged = 0, False

    def _show(
        self, plan: JobPlan, groups: Sequence[int], frames: Sequence[Frame], *, complete: bool
    ) -> None:
        """Note the plan whose rows are shown; files of results of another one are removed."""
        ranges = [(one.start, one.stop) for one in spans(plan.seeds)]
        now = LastPlan(ranges, [*zip(groups, frames, strict=True)])
        number, last = self._cells.last_plan or (0, None)
        if now != last or not complete:
            self.remove_results()
        if now != last:
            with self._transaction():
                self._put(number or self._next_number(), now)


class KeptCells:
    """The results of a plan's jobs in a store of cells; see `KeptResults`.

    Args:
        store: The store.
        seeds: The seeds of every cell.
        groups: The group of each cell.
        fits: Whether a text is the results of a job; others count as damaged.

    Attributes:
        firsts: For each cell the first one of the same group.
        count: The number of seeds.
        lost: By the number of a damaged row its cell and its seed.
    """

    def __init__(
        self,
        store: CellStore,
        seeds: Sequence[int],
        groups: Sequence[int],
        fits: Callable[[bytes], bool],
    ) -> None:
        first_of = _firsts(groups)
        self.firsts = [first_of[group] for group in groups]
        self.count = len(seeds)
        self.lost: dict[int, tuple[int, int]] = {}
        self._store, self._seeds, self._groups = store, seeds, groups
        self._kept: set[int] = set()
        #: The numbers of rows of large seeds by job, and the next one of each group.
        self._large: dict[int, int] = {}
        self._next: dict[int, int] = {}
        places = _places(seeds)
        for group, cell in first_of.items():
            self._find(group, cell, places, fits)

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, job: int) -> bool:
        return job in self._kept

    def __iter__(self) -> Iterator[int]:
        return iter(self._kept)

    def of_cell(self, cell: int) -> list[int]:
        """Return the kept jobs of a cell that is the first of its group."""
        return sorted(job for job in self._kept if job // self.count == cell)

    def add(
        self, jobs: Sequence[int], results: Sequence[bytes], files: Sequence[Mapping[str, str]]
    ) -> None:
        """Commit the results of some jobs in one transaction; see `KeptResults`."""
        rows = [
            (self._number(job), b"%d %b" % (self._seed(job), each))
            for job, each in zip(jobs, results, strict=True)
        ]
        opened = ((self._group(job), each) for job, each in zip(jobs, files, strict=True) if each)
        self._store.put(rows, opened)
        self._kept.update(jobs)

    def results(self, jobs: Iterable[int]) -> Iterator[bytes]:
        """Yield the results of some jobs, in their order.

        Raises:
            BadRecord: A row is damaged.
        """
        for numbers in spans(map(self._number, jobs)):
            for row in self._store.stored(numbers):
                yield row.partition(b" ")[2]

    def discard(self, where: Callable[[bytes], bool]) -> int:
        """Remove the results for which a function returns True; return their number."""
        jobs = sorted(self._kept)
        found = [job for job, row in zip(jobs, self.results(jobs), strict=True) if where(row)]
        self._store.remove_numbers(map(self._number, found))
        self._kept.difference_update(found)
        return len(found)

    def _find(
        self,
        group: int,
        cell: int,
        places: "_Range | dict[int, int]",
        fits: Callable[[bytes], bool],
    ) -> None:
        """Find the kept jobs of a group."""
        for number, seed, results in self._store.scanned(group):
            if number & _LARGE:
                self._next[group] = number + 1
            if seed is None or not fits(results):
                self.lost[number] = cell, number & (_LARGE - 1)
            elif (place := places.get(seed)) is not None:
                job = cell * self.count + place
                if number & _LARGE:
                    self._large[job] = number
                self._kept.add(job)

    def _group(self, job: int) -> int:
        return self._groups[job // self.count]

    def _seed(self, job: int) -> int:
        return self._seeds[job % self.count]

    def _number(self, job: int) -> int:
        """Return the number of the row of a job."""
        group, seed = self._group(job), self._seed(job)
        if seed < _LARGE:
            return (group << _BITS) + seed
        if job not in self._large:
            self._large[job] = self._next.get(group, (group << _BITS) + _LARGE)
            self._next[group] = self._large[job] + 1
        return self._large[job]


def row_numbers(group: int) -> tuple[int, int]:
    """Return the first and the last number that rows of a group may have."""
    return group << _BITS, ((group + 1) << _BITS) - 1


def _firsts(each: Sequence[_Key]) -> dict[_Key, int]:
    """Return the place of the first of equal ones, in their order."""
    found: dict[_Key, int] = {}
    for place, one in enumerate(each):
        found.setdefault(one, place)
    return found


class _Range:
    """The places of consecutive seeds; a mapping of these would take much memory."""

    def __init__(self, seeds: range) -> None:
        self._seeds = seeds

    def get(self, seed: int) -> int | None:
        """Return the place of a seed; None for another number."""
        return self._seeds.index(seed) if seed in self._seeds else None


def _places(seeds: Sequence[int]) -> "_Range | dict[int, int]":
    """Return the place of each seed."""
    found = [*spans(seeds)]
    return _Range(found[0]) if len(found) == 1 else {seed: n for n, seed in enumerate(seeds)}


def _damage(named: Sequence[str]) -> str:
    if not named:
        return "the rows that could be read are kept, the others are played again"
    more = f" and {len(named) - _MAX_NAMED:,} more" if len(named) > _MAX_NAMED else ""
    return f"played again: {'; '.join(named[:_MAX_NAMED])}{more}"


def _warn(text: str) -> None:
    warnings.warn(text, SweepWarning, stacklevel=5)
