"""Plays jobs of a grid with an executor, in chunks, and keeps their rows in a store."""

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from attrs import frozen

from desim.errors import DesimError, UsageError
from desim.jobs.keep.opened_store import open_store
from desim.jobs.keep.store import Store
from desim.jobs.plan.grid import Grid
from desim.jobs.plan.job import Job, has_failed
from desim.jobs.plan.same_episodes import copies_of, copy_of
from desim.jobs.rows.rows import Rows
from desim.jobs.run.executors import (
    AT_ONCE,
    ChunkResult,
    Executor,
    LocalExecutor,
    SerialExecutor,
    WorkerDied,
    worker_count,
)
from desim.jobs.run.files_read import split
from desim.jobs.run.in_workers import check_jobs
from desim.jobs.run.play_job import play_chunk
from desim.jobs.run.pool_executor import EventLoopExecutor
from desim.jobs.run.process_executor import ProcessExecutor
from desim.jobs.run.signals import interrupts_deferred
from desim.short_repr import short_repr

#: Most jobs of one chunk.
_MAX_JOBS = 1_000


#: A chunk is the share of one worker in the jobs left, divided by this, so that all workers finish
#: at about the same time.
_CHUNKS_PER_WORKER = 2


class Chunks:
    """An iterator of chunks of unfinished jobs.

    A worker returns its chunk after a while, finished or not (`SECONDS_PER_CHUNK` in `worker`), so
    the size of a chunk does not depend on how long an episode takes. Jobs that come back unplayed
    are put into a later chunk: an exhausted iterator may yield again after `finish`.

    Args:
        plan: All jobs.
        left: Indices of the jobs to play, ascending.
        workers: How many chunks are played at once.

    Attributes:
        count: The number of chunks yielded so far.
    """

    def __init__(self, plan: Grid, left: Iterable[int], workers: int) -> None:
        self._plan = plan
        self._workers = workers
        self._left = deque(_spans(left))
        self._jobs_left = sum(map(len, self._left))
        self._out: dict[int, range] = {}
        self.count = 0

    def __bool__(self) -> bool:
        return bool(self._left)

    def __iter__(self) -> Iterator[Sequence[Job]]:
        return self

    def __next__(self) -> Sequence[Job]:
        if not self._left:
            raise StopIteration
        size = min(_MAX_JOBS, -(-self._jobs_left // (_CHUNKS_PER_WORKER * self._workers)))
        span = self._left.popleft()
        chunk = span[:size]
        self._put_back(span[size:])
        self._jobs_left -= len(chunk)
        self._out[self.count] = chunk
        self.count += 1
        return [self._plan.job(index) for index in chunk]

    def finish(self, chunk: int, rows: int) -> range:
        """Put the unplayed jobs of a chunk back and return the indices of those that were played.

        Args:
            chunk: The number of the chunk, counted from 0.
            rows: How many of its first jobs were played.
        """
        span = self._out.pop(chunk)
        self._put_back(span[rows:])
        self._jobs_left += len(span[rows:])
        return span[:rows]

    def _put_back(self, span: range) -> None:
        if span:
            self._left.appendleft(span)


def _spans(indices: Iterable[int]) -> Iterator[range]:
    """Yield ascending indices as ranges."""
    span = range(0)
    for index in indices:
        if not span or index != span.stop:
            if span:
                yield span
            span = range(index, index)
        span = range(span.start, index + 1)
    if span:
        yield span


#: Copies of a row that are stored in one step.
_COPIES_AT_ONCE = 100


#: Called with the number of finished episodes and of all episodes.
Progress = Callable[[int, int], object]


@frozen(eq=False)
class Playing:
    """A grid whose jobs are played in batches.

    Attributes:
        plan: All jobs that may be played.
        store: Keeps the rows of the played jobs.
        players: The executor.
        out: The folder of the results; None without one.
        progress: Called at the start of every batch and whenever a chunk is finished.
    """

    plan: Grid
    store: Store
    players: Executor
    out: str | Path | None
    progress: Progress

    def play(self, wanted: Iterable[int]) -> None:
        """Play the jobs with some indices, except those whose rows are kept already.

        Raises:
            WorkerDied, DesimError, KeyboardInterrupt: See `sweep`.
        """
        indices = sorted(set(wanted))
        kept = self.store.jobs()
        left = [index for index in indices if index not in kept]
        done, total = len(indices) - len(left), len(indices)
        try:
            self._play(left, done, total)
        except KeyboardInterrupt:
            if self.out is None:
                raise
            raise KeyboardInterrupt(stopped_text(len(self.store), total)) from None
        except WorkerDied as fault:
            text = "" if self.out is None else f"; {stopped_text(len(self.store), total)}"
            raise type(fault)(f"{fault}{text}") from None

    def rows(self) -> Rows:
        """Return the rows so far, in the order of their jobs."""
        return Rows.parsed(self.store.rows())

    def finish(self) -> Rows:
        """Return the rows, and write them if there is a folder."""
        rows = self.rows()
        if self.out is not None:
            rows.write(self.out)
        return rows

    def _play(self, left: list[int], done: int, total: int) -> None:
        """Play jobs; those whose episodes are known to be the same are played once and copied."""
        copies = copies_of(self.plan, left)
        later = {job for each in copies.values() for job in each}
        self.progress(done, total)
        for players, jobs in self._shared_out([job for job in left if job not in later]):
            done = self._play_each(players, jobs, copies, done, total)
        # A failure, such as a reached limit of time, does not imply that the other seeds fail.
        again = sorted(job for each in copies.values() for job in each)
        self._play_each(self.players, again, {}, done, total)

    def _shared_out(self, jobs: list[int]) -> Iterator[tuple[Executor, list[int]]]:
        """Yield executors with their jobs; a local one has an event loop for those that wait."""
        players = self.players
        if not isinstance(players, LocalExecutor):
            yield players, jobs
            return
        waiting = [job for job in jobs if self.plan.waits(job)]
        yield players, sorted({*jobs} - {*waiting})
        if waiting:
            yield players.waiting, waiting

    def _play_each(
        self,
        players: Executor,
        left: list[int],
        copies: dict[int, list[int]],
        done: int,
        total: int,
    ) -> int:
        """Play all of some jobs; return the number of rows kept afterwards.

        Args:
            players: The executor.
            left: The jobs.
            copies: By job, the jobs that get a copy of its row; removed here once they have it.
            done: The number of rows kept before.
            total: The number of rows in the end.
        """
        chunks = Chunks(self.plan, left, worker_count(players))
        played = 0
        while chunks:
            first, before = chunks.count, played
            with _closed_after(players.run(play_chunk, chunks)) as results:
                for index, played_rows in results:
                    rows, files = split(played_rows)
                    with interrupts_deferred():
                        self.store.note_files(files)
                        done += self._keep(chunks.finish(first + index, len(rows)), rows, copies)
                    played += len(rows)
                    self.progress(done, total)
            if played == before:
                break
        if lost := len(left) - played:
            name = type(players).__name__
            raise DesimError(f"the executor {name} lost {lost:,} of {total:,} episodes")
        return done

    def _keep(
        self, jobs: Sequence[int], rows: Sequence[bytes], copies: dict[int, list[int]]
    ) -> int:
        """Store rows, then their copies; return their number."""
        self.store.add(jobs, rows)
        count = len(rows)
        for job, row in zip(jobs, rows, strict=True):
            if job in copies and not has_failed(row):
                others = copies.pop(job)
                count += len(others)
                # In parts, so that a full disk loses only the last part.
                for start in range(0, len(others), _COPIES_AT_ONCE):
                    part = others[start : start + _COPIES_AT_ONCE]
                    self.store.add(part, [copy_of(row, self.plan.job(n).seed) for n in part])
        return count


@contextlib.contextmanager
def _closed_after(results: Iterator[ChunkResult]) -> Iterator[Iterator[ChunkResult]]:
    """Close the generator of an executor at once; an exception would keep it alive.

    The executor may be used again while the exception is still referenced.
    """
    try:
        yield results
    finally:
        if isinstance(results, Generator):
            results.close()


@contextlib.contextmanager
def playing(
    plan: Grid,
    jobs: int = 1,
    out: str | Path | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    *,
    restart: bool = False,
    retry_failed: bool = False,
) -> Iterator[Playing]:
    """Open the executor and the store of a grid; arguments and errors are those of `sweep`."""
    with (
        opened_executor(executor, jobs, len(plan)) as players,
        open_store(out, plan, restart=restart, retry_failed=retry_failed) as store,
    ):
        yield Playing(plan, store, players, out, progress or (lambda _done, _total: None))


def stopped_text(done: int, total: int) -> str:
    """Return the message of an interrupted sweep that has a checkpoint.

    >>> stopped_text(120, 500)
    'stopped after 120 of 500 episodes; the same command goes on from there'
    """
    return f"stopped after {done:,} of {total:,} episodes; the same command goes on from there"


@contextlib.contextmanager
def opened_executor(
    executor: Executor | str | None, jobs: int, episodes: int
) -> Iterator[Executor]:
    """Provide the executor of a number of episodes; one that is created here is closed here.

    Raises:
        UsageError: The executor or the number of jobs is wrong.
    """
    if executor is not None and not isinstance(executor, str):
        if not isinstance(executor, Executor):
            raise UsageError(
                f"{short_repr(executor)} is no executor: it needs the methods run and close"
            )
        yield executor
        return
    made = _local(jobs, episodes) if executor is None else _named(executor, jobs, episodes)
    with contextlib.closing(made):
        yield made


def _local(
    jobs: int, episodes: int, processes: int | None = None, at_once: int = AT_ONCE
) -> Executor:
    """Return the executor of this machine; with *processes* it has that many, even one."""
    if processes is None:
        check_jobs(jobs)
        processes = min(jobs, episodes) if min(jobs, episodes) > 1 else None
    computing = SerialExecutor() if processes is None else ProcessExecutor(processes)
    return LocalExecutor(computing, partial(EventLoopExecutor, at_once))


def _named(executor: str, jobs: int, episodes: int) -> Executor:
    kind, _, value = executor.partition("=")
    if kind == "dask" and value:
        from desim.jobs.run.dask_executor import DaskExecutor

        return DaskExecutor(value)
    numbers = dict(part.partition("=")[::2] for part in executor.split(","))
    if numbers.keys() <= {"processes", "concurrent"} and all(map(_is_count, numbers.values())):
        given = {name: int(number) for name, number in numbers.items()}
        at_once = given.get("concurrent", AT_ONCE)
        return _local(jobs, episodes, given.get("processes"), at_once)
    raise UsageError(
        f"executor {short_repr(executor)} was given; possible: processes=N, concurrent=N with N of "
        "at least 1, or both joined by a comma; dask=ADDRESS of a scheduler"
    )


def _is_count(text: str) -> bool:
    return text.isdecimal() and int(text) > 0
