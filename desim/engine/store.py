"""The store of cells: results by cell and seed, in a folder or in memory, which any plan finds.

It is a SQLite file of plain tables with JSON, locked by one writer, refused when it is damaged. A
group is what it keeps of a cell: its data, the topics of the code and the files that determine its
results, and these by seed. What depends on the plan, such as presets, is added to rows when read.
"""

import contextlib
import itertools
import sqlite3
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from desim.engine.fingerprint import changed_topics, code_topics, file_topics, opened_topics
from desim.engine.plan import UNREADABLE, Cell, Grid, encode, has_failed, row_of
from desim.errors import BadRecord, UsageError

#: The file's name in a folder, and the files that a finished command writes beside it.
FILE_NAME = "sweep.sqlite"
RESULTS = ("rows.csv", "rows.jsonl")

#: The tables of the file, their version, and the mark of a file of ours ("desm" in ASCII). A seed
#: may be larger than SQLite's integers.
_FORM, _APPLICATION = 6, 0x6465736D
_TABLES = (
    "CREATE TABLE cells (id INTEGER PRIMARY KEY, plays BLOB UNIQUE, topics BLOB)",
    "CREATE TABLE results (cell INTEGER, seed TEXT, result BLOB, PRIMARY KEY (cell, seed))",
    "CREATE TABLE last (plan BLOB)",
)

#: Most cells and topics that a text names.
_MAX_NAMED = 3


class SweepWarning(UserWarning):
    """Rows of a store that were discarded, or that differ when they are played again."""


#: The plan of the last command with rows, by which these are read: the seeds, and of each cell its
#: group and its frame, whose values keep their digits.
_Raw = dict[str, msgspec.Raw]
_LastPlan = tuple[list[int], list[tuple[int, tuple[_Raw, _Raw]]]]

_last_plan = msgspec.json.Decoder(_LastPlan).decode
_topics = msgspec.json.Decoder(dict[str, str]).decode


class Store(AbstractContextManager["Store"]):
    """Keeps results by cell and seed; a context manager that holds the file's lock.

    Args:
        folder: Created with the file if needed. None keeps results in memory, whatever their code.
        read: Open an existing file for reading only.
        restart: Discard kept results of the plan's cells whose code or files have changed; where
            none have, all of the plan's jobs.
        retry_failed: Discard the plan's failed episodes.

    A `UsageError` says why a folder or a file cannot be used.
    """

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
        self._in_memory = folder is None
        self.path = Path(folder or "") / FILE_NAME
        if folder is not None and not read and not self.path.exists():
            for rows in map(self.path.with_name, RESULTS):
                if rows.exists():
                    raise UsageError(
                        f"{rows} is there without its {FILE_NAME}; choose another folder, or "
                        f"remove {rows.name} to start anew"
                    )
        self._known: dict[tuple[int, ...], tuple[list[Any], dict[str, str]]] = {}
        with _sentences(self.path):
            path = None if folder is None else self.path
            self.file = _opened(path, read=read)

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __len__(self) -> int:
        return int(self._one("SELECT count(*) FROM results")[0])

    def of(self, plan: Grid, *, shown: bool = False) -> "Kept":
        """Return what is kept of a plan, whose rows `rows` reads from now on if it is *shown*.

        Refuses results of other code or files; a `SweepWarning` says that some were discarded.
        """
        with _sentences(self.path):
            groups, discarded = self._groups(plan)
            kept = Kept(self, plan.seeds, groups)
            if self._restart and not discarded:
                discarded = kept.discard(lambda _: True)
            if discarded:
                text = f"{self.path}: {discarded:,} rows were discarded"
                warnings.warn(text, SweepWarning, stacklevel=4)
            if self._retry_failed:
                kept.discard(has_failed)
            if shown and not self._in_memory:
                for file in map(self.path.with_name, RESULTS):
                    file.unlink(missing_ok=True)  # perhaps of another plan; written anew at the end
                last = encode([[*plan.seeds], [*zip(groups, plan.frames, strict=True)]])
                with _transaction(self.file):
                    self.file.execute("DELETE FROM last")
                    self.file.execute("INSERT INTO last VALUES (?)", (last,))
        return kept

    def rows(self) -> Iterator[bytes]:
        """Yield the rows of the last command's plan as JSON, in the order of its jobs."""
        with _sentences(self.path):
            if (last := self._last()) is None:
                raise UsageError(f"{self.path} holds results, but no rows of a sweep")
            seeds, cells = last
            for group, frame in cells:
                kept = self.seeds(group)
                for seed in (one for one in seeds if str(one) in kept):
                    yield row_of(frame, seed, self.result(group, str(seed)))

    def _last(self) -> _LastPlan | None:
        found = self._one("SELECT plan FROM last")
        return _last_plan(found[0]) if found else None

    def shown_topics(self) -> dict[str, str]:
        """Return the topics of the last command's rows, with policies' names where these differ."""
        with _sentences(self.path):
            if (last := self._last()) is None:
                return {}
            found: dict[str, str] = {}
            for group in dict.fromkeys(group for group, _ in last[1]):
                texts = self._one("SELECT plays, topics FROM cells WHERE id = ?", group)
                plays, topics = map(_topics, texts or (b"", b""))
                for topic, text in {"limits": plays.get("limits", ""), **topics}.items():
                    same = found.setdefault(topic, text) == text
                    found[topic if same else f"{topic} of {plays.get('policies', group)}"] = text
            return found

    def seeds(self, group: int) -> set[str]:
        """Return the seeds of the kept results of a group, as texts."""
        found = self.file.execute("SELECT seed FROM results WHERE cell = ?", (group,))
        return {seed for (seed,) in found}

    def result(self, group: int, seed: str) -> bytes:
        """Return the result of a seed, which is kept."""
        query = "SELECT result FROM results WHERE cell = ? AND seed = ?"
        result: bytes = self._one(query, group, seed)[0]
        return result

    def _groups(self, plan: Grid) -> tuple[list[int], int]:
        """Return the group of each cell of a plan, and how many results of other code were kept."""
        keys = [encode(cell.plays()) for cell in plan.cells]
        groups: dict[bytes, int] = {}
        changed: dict[int, tuple[str, list[str]]] = {}
        with _transaction(self.file):
            for key, cell in zip(keys, plan.cells, strict=True):
                if key in groups:
                    continue
                now = self._topics(cell)
                query = "SELECT id, topics FROM cells WHERE plays = ?"
                found: Any = self._one(query, key) or (None, None)
                group, stored = found
                if stored and (topics := changed_topics(_topics(stored), now)):
                    changed[group] = str(cell), topics
                if group is None or group in changed:
                    query = "INSERT OR REPLACE INTO cells VALUES (?, ?, ?)"
                    group = self.file.execute(query, (group, key, encode(now))).lastrowid
                groups[key] = group
            count = sum(len(self.seeds(group)) for group in changed)
            if count and not self._restart:
                raise UsageError(self._refusal(count, changed.values()))
            for group in changed:
                self.file.execute("DELETE FROM results WHERE cell = ?", (group,))
        return [groups[key] for key in keys], count

    def _topics(self, cell: Cell) -> dict[str, str]:
        """Return the topics of a cell; those of its code once for each set of classes."""
        if self._in_memory:
            return {}
        parts = cell.parts
        made = {id(one): one for one in parts if not isinstance(one, str | bytes)}
        if (key := tuple(made)) not in self._known:
            roots = [*made.values()]  # kept, so that no id is used twice
            self._known[key] = roots, code_topics(roots)
        return {**self._known[key][1], **file_topics(parts)}

    def note_files(self, group: int, files: Mapping[str, str]) -> None:
        """Note the digests of files that were opened to play a group; refuse changed ones."""
        found = self._one("SELECT plays, topics FROM cells WHERE id = ?", group)
        if found is None or self._in_memory:
            return
        plays, stored = map(_topics, found)
        now = opened_topics(files, stored, self.path.parent)
        if changed := [topic for topic, text in now.items() if stored.get(topic, text) != text]:
            named = [(plays.get("policies", ""), changed)]
            raise UsageError(self._refusal(len(self.seeds(group)), named))
        query = "UPDATE cells SET topics = ? WHERE id = ?"
        self.file.execute(query, (encode({**stored, **now}), group))

    def _refusal(self, count: int, changed: Iterable[tuple[str, list[str]]]) -> str:
        """Return why results are refused: what has changed, and which are concerned."""
        names, topics = zip(*changed, strict=True)
        return (
            f"{self.path} holds rows of other code or data (changed: "
            f"{_some(itertools.chain(*topics))}): {count:,} of {_some(names)}; choose another "
            f"folder (--out), or discard the {count:,} rows (--restart)"
        )

    def _one(self, query: str, *values: object) -> Any:
        return self.file.execute(query, values).fetchone()


class Kept:
    """The results of a plan's jobs in a store; jobs are given by their indices.

    Equal cells share their results: those of the first one.
    """

    def __init__(self, store: Store, seeds: Sequence[int], groups: Sequence[int]) -> None:
        self._store, self._seeds, self._groups = store, seeds, groups
        self._firsts = {group: cell for cell, group in reversed([*enumerate(groups)])}
        self._kept: set[int] = set()
        for group, cell in self._firsts.items():
            if known := store.seeds(group):
                places = (place for place, seed in enumerate(seeds) if str(seed) in known)
                self._kept.update(cell * len(seeds) + place for place in places)

    def first(self, job: int) -> int:
        """Return the first job with the same results: that of an equal cell with this seed."""
        cell, place = divmod(job, len(self._seeds))
        return self._firsts[self._groups[cell]] * len(self._seeds) + place

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, job: int) -> bool:
        return self.first(job) in self._kept

    def __iter__(self) -> Iterator[int]:
        return iter(self._kept)

    def add(
        self, jobs: Sequence[int], results: Sequence[bytes], files: Sequence[Mapping[str, str]]
    ) -> None:
        """Commit the results of some jobs, with the files that were opened to play each."""
        groups = [self._groups[job // len(self._seeds)] for job in jobs]
        with _sentences(self._store.path), _transaction(self._store.file):
            for (group, noted), _ in itertools.groupby(zip(groups, files, strict=True)):
                if noted:
                    self._store.note_files(group, noted)
            rows = ((*self._key(job), each) for job, each in zip(jobs, results, strict=True))
            self._store.file.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)
        self._kept.update(jobs)

    def results(self, jobs: Iterable[int]) -> Iterator[bytes]:
        """Yield the results of some jobs, in their order."""
        with _sentences(self._store.path):
            for job in jobs:
                yield self._store.result(*self._key(job))

    def discard(self, where: Callable[[bytes], bool]) -> int:
        """Remove the results for which a function returns True; return their number."""
        jobs = sorted(self._kept)
        found = [job for job, row in zip(jobs, self.results(jobs), strict=True) if where(row)]
        query = "DELETE FROM results WHERE cell = ? AND seed = ?"
        with _sentences(self._store.path), _transaction(self._store.file):
            self._store.file.executemany(query, map(self._key, found))
        self._kept.difference_update(found)
        return len(found)

    def _key(self, job: int) -> tuple[int, str]:
        cell, place = divmod(job, len(self._seeds))
        return self._groups[cell], str(self._seeds[place])


def _some(texts: Iterable[str]) -> str:
    """Return the first of some texts, and how many more there are."""
    every = [*dict.fromkeys(texts)]
    more = f" and {len(every) - _MAX_NAMED:,} more" if len(every) > _MAX_NAMED else ""
    return ", ".join(every[:_MAX_NAMED]) + more


# -- the file --------------------------------------------------------------------------------------


def _opened(path: Path | None, *, read: bool) -> sqlite3.Connection:
    """Open a file, or tables in memory; a writer makes the file, and locks it until it is closed.

    It refuses a foreign file, a damaged one and one of another version.
    """
    if path is not None and not read:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()  # SQLite takes an empty file for a new one
    # For writing, even to read: SQLite may have to roll back a cut commit.
    uri = "file::memory:" if path is None else f"{path.resolve().as_uri()}?mode=rw"
    file = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
    try:
        if read:
            file.execute("BEGIN")
        else:
            file.execute("PRAGMA locking_mode = EXCLUSIVE")
            with _transaction(file):  # takes the lock, which is then kept
                if not file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    marks = f"application_id = {_APPLICATION}", f"user_version = {_FORM:d}"
                    for statement in (*_TABLES, *(f"PRAGMA {mark}" for mark in marks)):
                        file.execute(statement)
        fault = _fault(file)
    except BaseException:
        file.close()
        raise
    if fault:
        file.close()
        raise UsageError(f"{path} {fault}; remove it to start anew, or choose another folder")
    return file


def _fault(file: sqlite3.Connection) -> str:
    """Return why a file cannot be used; empty if it can."""
    if _pragma(file, "application_id") != _APPLICATION:
        return "is no checkpoint of a sweep"
    if (version := _pragma(file, "user_version")) != _FORM:
        return f"has format {version} and this desim writes format {_FORM}"
    try:
        # An untrusted file may hold a view under the name, whose query need not end.
        found = file.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        if {sql for (sql,) in found} != {*_TABLES}:
            return "is no checkpoint of a sweep: it has other tables"
        return "" if _pragma(file, "quick_check(1)") == "ok" else "is damaged"
    except sqlite3.DatabaseError:
        return "is damaged"


def _pragma(file: sqlite3.Connection, name: str) -> object:
    return file.execute(f"PRAGMA {name}").fetchone()[0]


@contextlib.contextmanager
def _transaction(file: sqlite3.Connection) -> Iterator[None]:
    """Commit what is written in the block, all of it or nothing."""
    file.execute("BEGIN EXCLUSIVE")
    try:
        yield
        file.execute("COMMIT")
    except BaseException:
        # On a full disk SQLite has rolled back itself, and a second time is an error.
        if file.in_transaction:
            file.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into a `UsageError`, of JSON in `BadRecord`."""
    try:
        yield
    except UNREADABLE as fault:
        raise BadRecord(f"{path} is not as a sweep wrote it: {fault}") from None
    except OSError as fault:
        text = f"{path} cannot be made: {fault.strerror}"
        raise UsageError(f"{text}; choose another folder") from None
    except sqlite3.Error as fault:
        code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            text = f"{path} is being written by another process; wait, or choose another folder"
        elif code == sqlite3.SQLITE_FULL:
            text = (
                f"the disk of {path.parent} is full; the rows before are kept, and the same "
                "command goes on from there once there is room"
            )
        else:
            text = f"{path} cannot be used: {fault}; choose another folder"
        raise UsageError(text) from None
