"""Plays jobs of a plan with an executor, in chunks, and keeps their results in a store."""

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from attrs import field, frozen

from desim.engine.budget import command_budget
from desim.engine.opened_files import split
from desim.engine.plan import RECORD, Grid, Row, has_failed
from desim.engine.run.executors import Executor, WaitingExecutor, opened_executor
from desim.engine.run.play_job import play_chunk, play_twice
from desim.engine.run.signals import interrupts_deferred
from desim.engine.run.workers import Work, WorkerDied
from desim.engine.store import Kept, Store, SweepWarning
from desim.errors import UsageError
from desim.rows.notes import failure_text
from desim.rows.rows import Rows
from desim.show.progress import Progress, ProgressOption, shown_progress


@frozen(eq=False)
class Playing:
    """A plan whose jobs are played in batches, with results in a folder *out* if one is given.

    *progress* receives counts at the start of every batch and whenever a chunk is finished, and the
    first failure of each cause.
    """

    plan: Grid
    kept: Kept
    players: Executor
    progress: Progress
    work: Work = play_chunk
    out: str | Path | None = None
    _wanted: set[int] = field(factory=set, init=False)
    _cells: set[int] = field(factory=set, init=False)

    def play(self, wanted: Iterable[int]) -> None:
        """Play the jobs with some indices, except those whose results are kept already."""
        given = set(wanted)
        self._wanted.update(given)
        jobs = sorted(set(map(self.kept.first, given)))
        left = [job for job in jobs if job not in self.kept]
        others = len(self.kept) + len(left) - len(jobs)
        try:
            self._play(left, lambda: self.progress(len(self.kept) - others, len(jobs)))
        except (KeyboardInterrupt, WorkerDied) as fault:
            if self.out is None:
                raise
            text = stopped_text(len(self.kept) - others, len(jobs))
            raise type(fault)("; ".join(filter(None, [str(fault), text]))) from None

    def rows(self) -> Rows:
        """Return the rows of the jobs played so far, in the order of the jobs."""
        jobs = sorted(self._wanted)
        return Rows.parsed(map(self.plan.row, jobs, self.kept.results(jobs)))

    def finish(self) -> Rows:
        """Return the rows, and write them if there is a folder.

        The first seed of every cell that was played now is played again; a `SweepWarning` names the
        policies whose row differs then.
        """
        rows = self.rows()
        if self.out is not None:
            rows.write(self.out)
        if differing := dict.fromkeys(row["policy"] for row in self._differing()):
            text = (
                "the first seed, played again after the others, has another row; let the policy "
                "draw from Seat.generator, and keep no state in its class"
            )
            warnings.warn(f"{', '.join(differing)}: {text}", SweepWarning, stacklevel=2)
        return rows

    def _differing(self) -> Iterator[Row]:
        """Play the first seed of each cell again, and yield those of their rows that differ."""
        plan, size, workers = self.plan, len(self.plan.seeds), self.players.workers
        firsts = [cell * size for cell in sorted(self._cells) if plan.cells[cell].plays_again]
        played_once = [job for job in firsts if job in self.kept]
        # One of several workers may not have played any episode of the cell.
        work = play_twice if workers > 1 else play_chunk
        for jobs, played in self.players.run(work, plan.changed(out=None), played_once):
            for job, *both in zip(jobs, self.kept.results(jobs), split(played)[0], strict=True):
                row, now = (self._plain_row(job, each) for each in both)
                row.pop(RECORD, None)
                if row != now and not (row["error"] or now["error"]):
                    yield row

    def _plain_row(self, job: int, result: bytes) -> Row:
        row: Row = msgspec.json.decode(self.plan.row(job, result))
        return row

    def _play(self, left: Sequence[int], report: Callable[[], None]) -> None:
        """Play jobs; those whose episodes are known to be the same are played once and copied."""
        report()
        by_cell: dict[int, list[int]] = {}
        for job in left:
            by_cell.setdefault(job // len(self.plan.seeds), []).append(job)
        self._cells.update(by_cell)
        copies: dict[int, list[int]] = {}
        for cell, jobs in by_cell.items():
            if self.plan.cells[cell].is_fixed:
                copies[jobs[0]] = jobs[1:]
                by_cell[cell] = jobs[:1]
        waiting = {place for place in by_cell if self.plan.cells[place].waits}
        if waiting and not self.players.at_once and command_budget().limited:
            raise UsageError(
                "max_calls and max_cost of a command hold in one process; leave out the "
                "executor, or give executor processes=N,concurrent=N"
            )
        apart = waiting if self.players.at_once else set[int]()
        here = [job for place, each in by_cell.items() if place not in apart for job in each]
        self._play_each(self.players, here, copies, report)
        if apart:
            with contextlib.closing(WaitingExecutor(self.players.at_once)) as host:
                jobs = [job for place in apart for job in by_cell[place]]
                # By seed, so that a limit of money stops all policies at about the same seed.
                jobs.sort(key=lambda job: (job % len(self.plan.seeds), job))
                self._play_each(host, jobs, copies, report)
        # A failure, such as a reached limit of time, does not imply that the other seeds fail.
        again = [job for jobs in copies.values() for job in jobs]
        self._play_each(self.players, again, {}, report)

    def _play_each(
        self,
        players: Executor,
        left: Sequence[int],
        copies: dict[int, list[int]],
        report: Callable[[], None],
    ) -> None:
        """Play some jobs; by *copies* others get their results, which are then forgotten there."""
        # Closed at once, as an exception would keep the generator of an executor alive.
        with contextlib.closing(players.run(self.work, self.plan, left)) as played:
            for jobs, returned in played:
                with interrupts_deferred():
                    self._keep(jobs, returned, copies)
                report()

    def _keep(
        self, jobs: Sequence[int], returned: Sequence[bytes], copies: dict[int, list[int]]
    ) -> None:
        """Store results, then their copies."""
        results, files = split(returned)
        self.kept.add(jobs, results, files)
        for job, result in zip(jobs, results, strict=True):
            if has_failed(result):
                row = self._plain_row(job, result)
                self.progress.say(f"failed: {failure_text(row)}", row["error"])
            elif others := copies.pop(job, None):
                self.kept.add(others, [result] * len(others), [{}] * len(others))


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
        Store(out, restart=restart, retry_failed=retry_failed) as store,
        shown_progress(progress) as shown,
    ):
        yield Playing(plan, store.of(plan, shown=True), players, shown, out=out)


def stopped_text(done: int, total: int) -> str:
    """Return the message of an interrupted sweep that has a checkpoint."""
    return f"stopped after {done:,} of {total:,}; the same command goes on from there"
