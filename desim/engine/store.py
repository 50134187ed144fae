"""The store of cells: results by cell and seed, in a folder or in memory, which any plan finds.

A cell is a model with all its parameters, a line-up, and how both are played. A group is what the
store keeps of one: its data, the topics of the code and the files that determine its results, and
these by seed. What depends on the plan, such as names of presets, is added when rows are read.
"""

import contextlib
import itertools
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple, TypeVar

import msgspec

from desim.engine.fingerprint import (
    CodeTopics,
    difference,
    file_topics,
    opened_now,
    opened_topics,
)
from desim.engine.plan import Cell, Frame, Grid, has_failed, row_of, spans
from desim.engine.sqlite_file import SqliteFile
from desim.errors import BadRecord, UsageError

#: The file's name in a folder, and the files that a finished command writes beside it.
FILE_NAME = "sweep.sqlite"
RESULTS = ("rows.csv", "rows.jsonl")

#: Most cells that a text names.
_MAX_NAMED = 3

_Key = TypeVar("_Key", bound=Hashable)
_T = TypeVar("_T")
_Seed = Annotated[int, msgspec.Meta(ge=0)]

_encode = msgspec.json.encode
_topics = msgspec.json.Decoder(dict[str, str]).decode
_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

#: Exceptions that the decoding of a stranger's text raises.
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError)


class SweepWarning(UserWarning):
    """Rows of a store that were discarded, or that differ when they are played again."""


#: The plan of the last command, by which its rows are read: the seeds as ranges, each with its
#: first seed and the one after the last; and of each cell its group, and what its rows hold.
_LastPlan = tuple[list[tuple[_Seed, _Seed]], list[tuple[int, Frame]]]

_plan = msgspec.json.Decoder(_LastPlan).decode


class _Wanted(NamedTuple):
    """A group that a plan needs: the name of its cell, and the topics of its data and code."""

    name: str
    plays: dict[str, str]
    code: dict[str, str]
    files: dict[str, str]


class _Changed(NamedTuple):
    """A group whose code or files have changed: the topics of kept results, and present ones."""

    group: int
    name: str
    stored: Mapping[str, str]
    now: Mapping[str, str]


class Store(SqliteFile):
    """Keeps results by cell and seed; a context manager that holds the file's lock.

    Args:
        folder: The folder of the file; None keeps results in memory, whatever their code.
        read: Open an existing file for reading only.
        restart: Discard kept results of the plan's cells whose code or files have changed; where
            none have, all of the plan's jobs. Discard a damaged file.
        retry_failed: Discard the plan's failed episodes.

    Raises:
        UsageError: See `SqliteFile`, rows are in the folder without this file, or no folder is
            given to discard results of.
    """

    file_name: ClassVar[str] = FILE_NAME
    form: ClassVar[int] = 5
    command: ClassVar[str] = "sweep"
    # A seed may be larger than SQLite's integers, so it is a text of 20 digits.
    tables: ClassVar[str] = """
CREATE TABLE code (id INTEGER PRIMARY KEY, topics BLOB NOT NULL UNIQUE);
CREATE TABLE cells (id INTEGER PRIMARY KEY, plays BLOB NOT NULL UNIQUE, code INTEGER NOT NULL,
  files BLOB NOT NULL);
CREATE TABLE results (cell INTEGER NOT NULL, seed TEXT NOT NULL, result BLOB NOT NULL,
  PRIMARY KEY (cell, seed)) WITHOUT ROWID;
CREATE TABLE last (plan BLOB NOT NULL)"""

    def __init__(
        self,
        folder: str | Path | None,
        *,
        read: bool = False,
        restart: bool = False,
        retry_failed: bool = False,
    ) -> None:
        if folder is None and (restart or retry_failed):
            word = "restart" if restart else "retry_failed"
            raise UsageError(f"{word} needs the folder of an earlier command; give out")
        self._restart, self._retry_failed = restart, retry_failed
        self._topics_of = None if folder is None else CodeTopics()
        if folder is not None and not read and not (Path(folder) / FILE_NAME).exists():
            for rows in (Path(folder) / name for name in RESULTS):
                if rows.exists():
                    raise UsageError(
                        f"{rows} is there without its {FILE_NAME}; choose another folder, or "
                        f"remove {rows.name} to start anew"
                    )
        super().__init__(folder, read=read, restart=restart)
        if folder is not None and not read:
            for partial in (p for name in RESULTS for p in self.path.parent.glob(f".{name}.*")):
                with contextlib.suppress(OSError):  # a read-only disk
                    partial.unlink()  # of a killed process, as the lock excludes living ones

    def of(self, plan: Grid, frames: Sequence[Frame] = ()) -> "Kept":
        """Return what is kept of a plan.

        Args:
            plan: The jobs.
            frames: The frame of each cell, with which `rows` reads the rows of an unfinished
                command; empty for a command without rows.

        Raises:
            UsageError: Code or files of kept results have changed, or the file cannot be written.

        Warns:
            SweepWarning: Results were discarded.
        """
        with self._usage_errors():
            groups, discarded = self._matched(plan)
            kept = Kept(self, plan.seeds, groups)
            if self._restart and not discarded:
                discarded = kept.discard(lambda _: True)
            if discarded:
                text = f"{self.path}: {discarded:,} rows were discarded"
                warnings.warn(text, SweepWarning, stacklevel=4)
            if self._retry_failed:
                kept.discard(has_failed)
            if frames and self._topics_of:
                self._show(plan, groups, frames, complete=len(kept) == len({*groups}) * kept.count)
        return kept

    def rows(self) -> Iterator[bytes]:
        """Yield the rows of the last command's plan as JSON, in the order of its jobs.

        Raises:
            UsageError: No command with rows was given here.
            BadRecord: A row is damaged.
        """
        last = self._last_plan()
        if last is None:
            raise UsageError(f"{self.path} holds results, but no rows of a sweep")
        ranges, cells = last
        for group, frame in cells:
            for start, stop in ranges:
                for seed, result in self._results(group, start, stop - 1):
                    yield row_of(frame, seed, result)

    def _last_plan(self) -> _LastPlan | None:
        with self._usage_errors():
            found = self._file.execute("SELECT plan FROM last").fetchone()
        return self._decoded(_plan, found[0]) if found else None

    def shown_topics(self) -> dict[str, str]:
        """Return the topics of the last command's rows: its seeds, limits, code and files.

        Topics in which cells differ have the names of their policies.
        """
        if (last := self._last_plan()) is None:
            return {}
        ranges, cells = last
        found = {"seeds": ",".join(itertools.starmap(_range_text, ranges))}
        for group in dict.fromkeys(group for group, _ in cells):
            plays, topics = self._group(group)
            limits = {"limits": plays["limits"]} if "limits" in plays else {}
            for topic, text in {**limits, **topics}.items():
                same = found.setdefault(topic, text) == text
                found[topic if same else f"{topic} of {plays.get('policies', group)}"] = text
        return found

    def __len__(self) -> int:
        return self._integer("SELECT count(*) FROM results")

    # -- results -----------------------------------------------------------------------------------

    def seeds(self, group: int) -> Iterator[int]:
        """Yield the seeds of the kept results of a group, in ascending order."""
        query = "SELECT seed FROM results WHERE cell = ? ORDER BY seed"
        return (int(seed) for (seed,) in self._file.execute(query, (group,)))

    def result_of(self, group: int, seeds: range) -> Iterator[bytes]:
        """Yield the results of consecutive seeds of a group, all of which are kept.

        Raises:
            BadRecord: One is damaged or missing.
        """
        found = self._results(group, seeds.start, seeds.stop - 1)
        for seed in seeds:
            at, result = next(found, (None, b""))
            if at != seed:
                raise BadRecord(f"{self.path} has lost the result of seed {seed}")
            yield result

    def _results(self, group: int, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        query = "SELECT seed, result FROM results WHERE cell = ? AND seed BETWEEN ? AND ?"
        with self._usage_errors():
            found = self._file.execute(f"{query} ORDER BY seed", (group, _key(first), _key(last)))
            for seed, result in found:
                self._decoded(_object, result)
                yield int(seed), result

    def put(
        self,
        results: Iterable[tuple[int, int, bytes]],
        opened: Iterable[tuple[int, Mapping[str, str]]],
    ) -> None:
        """Commit results, and the files that were opened to play them, in one transaction.

        Args:
            results: Group, seed and result of each.
            opened: The digests of files by path, with the group that has opened them.

        Raises:
            UsageError: A file has changed since kept results were played, or the file cannot be
                written.
        """
        rows = ((group, _key(seed), result) for group, seed, result in results)
        with self._usage_errors(), self._transaction():
            for group, files in opened:
                self._put_files(group, files)
            self._file.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)

    def remove(self, results: Iterable[tuple[int, int]]) -> None:
        """Remove results by group and seed in one transaction."""
        keys = ((group, _key(seed)) for group, seed in results)
        with self._usage_errors(), self._transaction():
            self._file.executemany("DELETE FROM results WHERE cell = ? AND seed = ?", keys)

    # -- groups ------------------------------------------------------------------------------------

    def _matched(self, plan: Grid) -> tuple[list[int], int]:
        """Return the group of each cell of a plan, and the number of discarded results.

        Groups of other code are refused or discarded.
        """
        every = [cell.plays() for cell in plan.cells]
        keys = [_encode(plays) for plays in every]
        wanted = {
            key: self._wanted(plan.cells[place], every[place])
            for key, place in _firsts(keys).items()
        }
        groups = {key: self._find("cells", "plays", key) for key in wanted}
        changed = [one for key in wanted if (one := self._changed(groups[key], wanted[key]))]
        with self._transaction():
            discarded = self._discard([one for one in changed if self._count(one.group)])
            anew = {one.group for one in changed}
            for key, group in groups.items():
                if group is None or group in anew:
                    groups[key] = self._put_group(group, wanted[key])
        return [group for key in keys if (group := groups[key]) is not None], discarded

    def _wanted(self, cell: Cell, plays: dict[str, str]) -> _Wanted:
        if self._topics_of is None:
            return _Wanted(str(cell), plays, {}, {})
        parts = [*cell.parts()]
        return _Wanted(str(cell), plays, self._topics_of.of(parts), file_topics(parts))

    def _changed(self, group: int | None, one: _Wanted) -> _Changed | None:
        """Return a group whose code or files have changed."""
        if group is None or self._topics_of is None:
            return None
        _, stored = self._group(group)
        now = {**one.code, **one.files, **opened_now(stored)}
        return None if stored == now else _Changed(group, one.name, stored, now)

    def _discard(self, changed: Sequence[_Changed]) -> int:
        if changed and not self._restart:
            raise UsageError(self._refusal(changed))
        count = sum(self._count(one.group) for one in changed)
        for one in changed:
            self._file.execute("DELETE FROM results WHERE cell = ?", (one.group,))
        return count

    def _count(self, group: int) -> int:
        query = "SELECT count(*) FROM results WHERE cell = ?"
        count: int = self._file.execute(query, (group,)).fetchone()[0]
        return count

    def _find(self, table: str, column: str, text: bytes) -> int | None:
        query = f"SELECT id FROM {table} WHERE {column} = ?"  # noqa: S608 (our names)
        found = self._file.execute(query, (text,)).fetchone()
        return found[0] if found else None

    def _put_group(self, group: int | None, one: _Wanted) -> int:
        topics = _encode(one.code)
        if (code := self._find("code", "topics", topics)) is None:
            code = self._insert("INSERT INTO code (topics) VALUES (?)", topics)
        query = "INSERT OR REPLACE INTO cells (id, plays, code, files) VALUES (?, ?, ?, ?)"
        return self._insert(query, group, _encode(one.plays), code, _encode(one.files))

    def _insert(self, query: str, *values: object) -> int:
        number = self._file.execute(query, values).lastrowid
        assert number is not None
        return number

    def _group(self, group: int) -> tuple[dict[str, str], dict[str, str]]:
        """Return the topics of the data of a group, and those of its code and files."""
        query = "SELECT plays, topics, files FROM cells JOIN code ON cells.code = code.id"
        found = self._file.execute(f"{query} WHERE cells.id = ?", (group,)).fetchone()
        if found is None:
            raise UsageError(f"{self.path} is damaged: its sweep cannot be read")
        plays, code, files = (self._decoded(_topics, text) for text in found)
        return plays, {**code, **files}

    def _put_files(self, group: int, files: Mapping[str, str]) -> None:
        if self._topics_of is None:
            return
        query = "SELECT plays, files FROM cells WHERE id = ?"
        plays, before = map(_topics, self._file.execute(query, (group,)).fetchone())
        now = {**before, **opened_topics(files, before, self.path.parent)}
        if not before.items() <= now.items():
            changed = _Changed(group, plays.get("policies", ""), before, now)
            raise UsageError(self._refusal([changed]))
        if now != before:
            self._file.execute("UPDATE cells SET files = ? WHERE id = ?", (_encode(now), group))

    def _refusal(self, changed: Sequence[_Changed]) -> str:
        """Return why results are refused: what has changed, and which are concerned."""
        stored = {topic: text for one in changed for topic, text in one.stored.items()}
        now = {topic: text for one in changed for topic, text in one.now.items()}
        count = sum(self._count(one.group) for one in changed)
        others = len(self) - count
        names = [*dict.fromkeys(one.name for one in changed)]
        more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
        rest = f"; the other {others:,} rows are not concerned" if others else ""
        return (
            f"{self.path} holds rows of other code or data ({difference(stored, now)}): "
            f"{count:,} of {'; '.join(names[:_MAX_NAMED])}{more}{rest}; "
            f"choose another folder (--out), or discard the {count:,} rows (--restart)"
        )

    def _show(
        self, plan: Grid, groups: Sequence[int], frames: Sequence[Frame], *, complete: bool
    ) -> None:
        """Note the plan whose rows are shown; files of results of another one are removed."""
        ranges = [(one.start, one.stop) for one in spans(plan.seeds)]
        now = _encode((ranges, [*zip(groups, frames, strict=True)]))
        last = self._file.execute("SELECT plan FROM last").fetchone()
        is_new = not last or last[0] != now
        if is_new or not complete:
            self._remove_results()
        if is_new:
            with self._transaction():
                self._file.execute("DELETE FROM last")
                self._file.execute("INSERT INTO last VALUES (?)", (now,))

    def _remove_results(self) -> None:
        for file in map(self.path.with_name, RESULTS):
            try:
                if file.exists():  # on a read-only disk not even a missing file can be removed
                    file.unlink()
            except OSError as fault:
                raise UsageError(f"{file} cannot be removed: {fault.strerror}") from None

    def _decoded(self, decode: Callable[[bytes], _T], text: bytes) -> _T:
        try:
            return decode(text)
        except _UNREADABLE as fault:
            raise BadRecord(f"{self.path} is not as a sweep wrote it: {fault}") from None


class Kept:
    """The results of a plan's jobs in a store; jobs are given by their indices.

    Attributes:
        firsts: For each cell the first one of the same group; all kept jobs are of these.
        count: The number of seeds.
    """

    def __init__(self, store: Store, seeds: Sequence[int], groups: Sequence[int]) -> None:
        first_of = _firsts(groups)
        self.firsts = [first_of[group] for group in groups]
        self.count = len(seeds)
        self._store, self._seeds, self._groups = store, seeds, groups
        places = _places(seeds)
        self._kept = {
            cell * self.count + place
            for group, cell in first_of.items()
            for seed in store.seeds(group)
            if (place := places(seed)) is not None
        }

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, job: int) -> bool:
        return job in self._kept

    def __iter__(self) -> Iterator[int]:
        return iter(self._kept)

    def add(
        self, jobs: Sequence[int], results: Sequence[bytes], files: Sequence[Mapping[str, str]]
    ) -> None:
        """Commit the results of some jobs, all of them or none.

        Args:
            jobs: Jobs without results so far.
            results: The result of each.
            files: For each the digests of the files that were opened to play it, by path.

        Raises:
            UsageError: A file has changed since kept results were played, or the store cannot be
                written.
        """
        rows = ((*self._place(job), each) for job, each in zip(jobs, results, strict=True))
        opened = zip(jobs, files, strict=True)
        self._store.put(rows, ((self._place(job)[0], each) for job, each in opened if each))
        self._kept.update(jobs)

    def results(self, jobs: Iterable[int]) -> Iterator[bytes]:
        """Yield the results of some jobs, in their order.

        Raises:
            BadRecord: One is damaged.
        """
        for group, each in itertools.groupby(map(self._place, jobs), lambda place: place[0]):
            for seeds in spans(seed for _, seed in each):
                yield from self._store.result_of(group, seeds)

    def discard(self, where: Callable[[bytes], bool]) -> int:
        """Remove the results for which a function returns True; return their number."""
        jobs = sorted(self._kept)
        found = [job for job, row in zip(jobs, self.results(jobs), strict=True) if where(row)]
        self._store.remove(map(self._place, found))
        self._kept.difference_update(found)
        return len(found)

    def _place(self, job: int) -> tuple[int, int]:
        """Return the group and the seed of a job."""
        cell, place = divmod(job, self.count)
        return self._groups[cell], self._seeds[place]


def _key(seed: int) -> str:
    return f"{seed:020}"


def _firsts(each: Sequence[_Key]) -> dict[_Key, int]:
    """Return the place of the first of equal ones, in their order."""
    found: dict[_Key, int] = {}
    for place, one in enumerate(each):
        found.setdefault(one, place)
    return found


def _places(seeds: Sequence[int]) -> Callable[[int], int | None]:
    """Return a function that returns the place of a seed; None for another number."""
    found = [*spans(seeds)]
    if len(found) == 1:  # a mapping of consecutive seeds would take much memory
        return lambda seed: found[0].index(seed) if seed in found[0] else None
    return {seed: place for place, seed in enumerate(seeds)}.get


def _range_text(start: int, stop: int) -> str:
    return str(start) if stop - start == 1 else f"{start}:{stop}"
