"""Plays jobs of a plan with an executor, in chunks, and keeps their results in a store."""

import contextlib
import warnings
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from attrs import field, frozen

from desim.engine.keep.budget import command_budget
from desim.engine.keep.store import Kept, Store, SweepWarning
from desim.engine.plan import RECORD, Frame, Grid, Row, has_failed, merged, row_of, spans, without
from desim.engine.run.executors import (
    AT_ONCE,
    ChunkResult,
    Executor,
    LocalExecutor,
    SerialExecutor,
    Work,
    WorkerDied,
    worker_count,
)
from desim.engine.run.files_read import split
from desim.engine.run.play_job import play_chunk, play_twice
from desim.engine.run.pool_executor import EventLoopExecutor
from desim.engine.run.process_executor import ProcessExecutor
from desim.engine.run.signals import interrupts_deferred
from desim.engine.run.warm_pool import kept_workers
from desim.errors import DesimError, UsageError
from desim.rows.failures import failure_text
from desim.rows.groups import cell_of
from desim.rows.rows import Rows
from desim.short_repr import short_repr
from desim.show.progress import Progress, ProgressOption, shown_progress

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
        left: Indices of the jobs to play, in this order.
        workers: How many chunks are played at once.

    Attributes:
        count: The number of chunks yielded so far.
    """

    def __init__(self, plan: Grid, left: Iterable[range], workers: int) -> None:
        self._plan = plan
        self._workers = workers
        self._left = deque(filter(None, left))
        self._jobs_left = sum(map(len, self._left))
        self._out: dict[int, range] = {}
        self.count = 0

    def __bool__(self) -> bool:
        return bool(self._left)

    def __iter__(self) -> Iterator[Sequence[Any]]:
        return self

    def __next__(self) -> Sequence[Any]:
        if not self._left:
            raise StopIteration
        span = self._left.popleft()
        size = min(_MAX_JOBS, -(-self._jobs_left // (_CHUNKS_PER_WORKER * self._workers)))
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


#: Text in the result of an episode that did not fail; results without it are decoded.
_NO_ERROR = b'"error":null'

#: Copies of a result that are stored in one step.
_COPIES_AT_ONCE = 100


@frozen(eq=False)
class Playing:
    """A plan whose jobs are played in batches.

    Attributes:
        plan: All jobs that may be played.
        kept: The results of the played jobs.
        players: The executor.
        progress: Receives counts at the start of every batch and whenever a chunk is finished, and
            the first failure of each cause.
        work: Plays the jobs of a chunk in a worker.
        out: The folder of the results; None without one.
        frames: For each cell what makes rows of its results.
    """

    plan: Grid
    kept: Kept
    players: Executor
    progress: Progress
    work: Work = play_chunk
    out: str | Path | None = None
    frames: Sequence[Frame] = ()
    _wanted: list[range] = field(factory=list, init=False)
    _cells: set[int] = field(factory=set, init=False)

    def play(self, wanted: Iterable[int]) -> None:
        """Play the jobs with some indices, except those whose results are kept already.

        Raises:
            WorkerDied, DesimError, KeyboardInterrupt: See `sweep`.
        """
        given = [*spans(wanted if isinstance(wanted, range) else sorted(set(wanted)))]
        self._wanted[:] = merged([*self._wanted, *given])
        # Jobs are ranges throughout, as there may be many of them; none crosses from cell to cell.
        jobs = self._firsts(given)
        left, total = self._left(jobs), _length(jobs)
        self._cells.update(one.start // len(self.plan.seeds) for one in left)
        try:
            self._play(left, total - _length(left), total)
        except KeyboardInterrupt:
            if self.out is None:
                raise
            raise KeyboardInterrupt(self._stopped_text(jobs)) from None
        except WorkerDied as fault:
            text = "" if self.out is None else f"; {self._stopped_text(jobs)}"
            raise type(fault)(f"{fault}{text}") from None

    def results(self) -> Mapping[int, bytes]:
        """Return the results so far by job."""
        wanted = chain.from_iterable(self._wanted)
        done = [index for index in wanted if self._first(index) in self.kept]
        results = self.kept.results(map(self._first, done))
        return dict(zip(done, results, strict=True))

    def rows(self) -> Rows:
        """Return the rows of the jobs played so far, in the order of the jobs."""
        seeds = self.plan.seeds
        results = self.kept.results(map(self._first, chain.from_iterable(self._wanted)))
        return Rows.parsed(
            row_of(self.frames[job // len(seeds)], seeds[job % len(seeds)], each)
            for job, each in zip(chain.from_iterable(self._wanted), results, strict=True)
        )

    def finish(self) -> Rows:
        """Return the rows, and write them if there is a folder.

        The first seed of every cell that was played now is played again, where other episodes have
        been played before it.

        Warns:
            SweepWarning: A row differs then; `Rows.differing` has its cell.
        """
        rows = self.rows()
        if self.out is not None:
            rows.write(self.out)
        if differing := {cell_of(row): row["policy"] for row in self._differing()}:
            rows.differing = frozenset(differing)
            warnings.warn(differing_text(differing.values()), SweepWarning, stacklevel=2)
        return rows

    def _differing(self) -> Iterator[Row]:
        """Play the first seed of each cell again, and yield those of their rows that differ."""
        plan, size, workers = self.plan, len(self.plan.seeds), worker_count(self.players)
        firsts = [cell * size for cell in sorted(self._cells) if plan.cells[cell].plays_again]
        again = plan.changed(out=None)
        played_once = (range(job, job + 1) for job in firsts if job in self.kept)
        chunks = Chunks(again, merged(played_once), workers)
        # One of several workers may not have played any episode of the cell.
        for number, played in self.players.run(play_twice if workers > 1 else play_chunk, chunks):
            jobs, results = chunks.finish(number, len(played)), split(played)[0]
            for job, *both in zip(jobs, self.kept.results(jobs), results, strict=True):
                frame, seed = self.frames[job // size], plan.seeds[job % size]
                row, now = (msgspec.json.decode(row_of(frame, seed, each)) for each in both)
                row.pop(RECORD, None)
                if row != now and not (row["error"] or now["error"]):
                    yield row

    def _first(self, index: int) -> int:
        """Return the first job with the same results: that of an equal cell with this seed."""
        cell, seed = divmod(index, len(self.plan.seeds))
        return self.kept.firsts[cell] * len(self.plan.seeds) + seed

    def _firsts(self, wanted: Iterable[range]) -> list[range]:
        """Return the first jobs with the results of some jobs, each once, in ranges of a cell."""
        size = len(self.plan.seeds)
        by_cell: dict[int, list[range]] = {}
        for one in wanted:
            for cell in range(one.start // size, -(-one.stop // size)):
                first, start = self.kept.firsts[cell] * size, cell * size
                part = range(size)[max(0, one.start - start) : one.stop - start]
                by_cell.setdefault(first, []).append(range(first + part.start, first + part.stop))
        return [one for _, each in sorted(by_cell.items()) for one in merged(each)]

    def _left(self, jobs: Iterable[range]) -> list[range]:
        """Return the jobs whose results are not kept."""
        return [*without(jobs, sorted(self.kept))]

    def _stopped_text(self, jobs: Sequence[range]) -> str:
        return stopped_text(_length(jobs) - _length(self._left(jobs)), _length(jobs))

    def _play(self, left: list[range], done: int, total: int) -> None:
        """Play jobs; those whose episodes are known to be the same are played once and copied."""
        copies = _copies_of(self.plan, left)
        self.progress(done, total)
        fixed = {first // len(self.plan.seeds) for first in copies}
        others = [one for one in left if one.start // len(self.plan.seeds) not in fixed]
        firsts = [range(first, first + 1) for first in copies]
        for players, jobs in self._shared_out([*others, *firsts]):
            done = self._play_each(players, jobs, copies, done, total)
        # A failure, such as a reached limit of time, does not imply that the other seeds fail.
        again = merged(one for each in copies.values() for one in each)
        self._play_each(self.players, again, {}, done, total)

    def _shared_out(self, jobs: list[range]) -> Iterator[tuple[Executor, list[range]]]:
        """Yield executors with their jobs; a local one has an event loop for those that wait."""
        players = self.players
        waiting = [one for one in jobs if self._waits(one)]
        if not isinstance(players, LocalExecutor):
            if waiting and command_budget().limited:
                raise UsageError(
                    "max_calls and max_cost of a command hold in one process; leave out the "
                    "executor, or give executor processes=N,concurrent=N"
                )
            yield players, merged(jobs)
            return
        yield players, merged(one for one in jobs if not self._waits(one))
        if waiting:
            yield players.waiting, self._by_seed(waiting)

    def _by_seed(self, jobs: list[range]) -> list[range]:
        """Return jobs one by one, all cells with the first seed and then with the next.

        A limit of money that stops a command thus stops all policies at about the same seed.
        """
        size = len(self.plan.seeds)
        each = sorted(chain.from_iterable(jobs), key=lambda job: (job % size, job // size))
        return [range(job, job + 1) for job in each]

    def _waits(self, jobs: range) -> bool:
        return self.plan.cells[jobs.start // len(self.plan.seeds)].waits

    def _play_each(
        self,
        players: Executor,
        left: Sequence[range],
        copies: dict[int, list[range]],
        done: int,
        total: int,
    ) -> int:
        """Play all of some jobs; return the number of results kept afterwards.

        Args:
            players: The executor.
            left: The jobs.
            copies: By job, the jobs that get a copy of its result; removed here once they have it.
            done: The number of results kept before.
            total: The number of results in the end.
        """
        chunks = Chunks(self.plan, left, worker_count(players))
        played = 0
        while chunks:
            first, before = chunks.count, played
            with _closed_after(players.run(self.work, chunks)) as finished:
                for index, returned in finished:
                    with interrupts_deferred():
                        jobs = chunks.finish(first + index, len(returned))
                        done += self._keep(jobs, returned, copies)
                    played += len(returned)
                    self.progress(done, total)
            if played == before:
                break
        if lost := _length(left) - played:
            name = type(players).__name__
            raise DesimError(f"the executor {name} lost {lost:,} of {total:,} episodes")
        return done

    def _keep(
        self, jobs: Sequence[int], returned: Sequence[bytes], copies: dict[int, list[range]]
    ) -> int:
        """Store results, then their copies; return their number."""
        results, files = split(returned)
        self.kept.add(jobs, results, files)
        if self.progress.is_heard and self.frames:
            self._say_failures(jobs, results)
        count = len(results)
        for job, result in zip(jobs, results, strict=True):
            if job in copies and not has_failed(result):
                others = copies.pop(job)
                count += _length(others)
                # In parts, so that a full disk loses only the last part.
                for one in others:
                    for start in range(0, len(one), _COPIES_AT_ONCE):
                        part = one[start : start + _COPIES_AT_ONCE]
                        self.kept.add(part, [result] * len(part), [{}] * len(part))
        return count

    def _say_failures(self, jobs: Iterable[int], results: Iterable[bytes]) -> None:
        for job, result in zip(jobs, results, strict=True):
            if _NO_ERROR not in result and has_failed(result):
                cell, seed = divmod(job, len(self.plan.seeds))
                row = msgspec.json.decode(row_of(self.frames[cell], self.plan.seeds[seed], result))
                self.progress.say(f"failed: {failure_text(row)}", row["error"])


def differing_text(policies: Iterable[str]) -> str:
    """Return the sentence on policies whose first seed has another row when it is played again.

    >>> differing_text(["mine:Rule"]).partition(",")[0]
    'mine:Rule: the first seed'
    """
    return (
        f"{', '.join(dict.fromkeys(policies))}: the first seed, played again after the others, has "
        "another row; let the policy draw from Seat.generator, and keep no state in its class"
    )


def _copies_of(plan: Grid, jobs: Iterable[range]) -> dict[int, list[range]]:
    """Return, by the first job of each fixed cell, the further jobs of that cell.

    Args:
        plan: All jobs.
        jobs: Those to play, in ranges of a cell each, ascending.
    """
    by_cell: dict[int, list[range]] = {}
    for one in jobs:
        by_cell.setdefault(one.start // len(plan.seeds), []).append(one)
    return {
        first.start: others
        for cell, (first, *rest) in by_cell.items()
        if (others := [*filter(None, [first[1:], *rest])]) and plan.cells[cell].is_fixed
    }


def _length(ranges: Iterable[range]) -> int:
    return sum(map(len, ranges))


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
    progress: ProgressOption = None,
    *,
    restart: bool = False,
    retry_failed: bool = False,
) -> Iterator[Playing]:
    """Open the executor and the store of a grid; arguments and errors are those of `sweep`."""
    with (
        opened_executor(executor, jobs, len(plan)) as players,
        opened_store(out, restart=restart, retry_failed=retry_failed) as store,
        shown_progress(progress) as shown,
    ):
        frames = [cell.frame() for cell in plan.cells]
        kept = store.of(plan, frames)
        yield Playing(plan, kept, players, shown, out=out, frames=frames)


def opened_store(
    out: str | Path | None, *, restart: bool = False, retry_failed: bool = False
) -> Store:
    """Open the store of a command.

    Args:
        out: The folder that keeps results; None keeps them in memory.
        restart: Discard kept results of the plan's cells whose code or files have changed; where
            none have, all of the plan's jobs.
        retry_failed: Discard those of failed episodes.

    Raises:
        UsageError: The folder cannot be used, or none is given to discard results of.
    """
    if out is None and (restart or retry_failed):
        word = "restart" if restart else "retry_failed"
        raise UsageError(f"{word} needs the folder of an earlier command; give out")
    return Store(out, restart=restart, retry_failed=retry_failed)


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
    return LocalExecutor(_computing(jobs, episodes, processes), partial(EventLoopExecutor, at_once))


def _computing(jobs: int, episodes: int, processes: int | None) -> Executor:
    if processes is not None:
        return ProcessExecutor(processes)
    check_jobs(jobs)
    if min(jobs, episodes) <= 1:
        return SerialExecutor()
    return kept_workers(jobs)


def check_jobs(jobs: object) -> None:
    """Check a number of worker processes.

    Raises:
        UsageError: The number is not a whole number of at least 1.
    """
    if type(jobs) is not int or jobs < 1:
        raise UsageError(f"jobs={short_repr(jobs)} was given; it is a whole number of at least 1")


def _named(executor: str, jobs: int, episodes: int) -> Executor:
    kind, _, value = executor.partition("=")
    if kind == "dask" and value:
        from desim.engine.run.dask_executor import DaskExecutor

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
