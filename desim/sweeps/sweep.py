"""Plays every model with every policy on every seed, and returns the rows."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from desim.core.limits import Limits
from desim.errors import DesimError, UsageError
from desim.short_repr import short_repr
from desim.sweeps.chunks import Chunks
from desim.sweeps.executors import Executor, SerialExecutor, WorkerDied, worker_count
from desim.sweeps.grid import Grid, grid
from desim.sweeps.interrupts import interrupts_deferred
from desim.sweeps.open_store import open_store
from desim.sweeps.process_executor import ProcessExecutor
from desim.sweeps.rows import Rows
from desim.sweeps.store import Store
from desim.sweeps.worker import play_chunk

__all__ = ["Progress", "stopped_text", "sweep"]

#: Called with the number of finished episodes and of all episodes.
Progress = Callable[[int, int], object]


def sweep(
    model: Any,
    policies: Any,
    seeds: Iterable[int],
    *,
    preset: str = "",
    set: Mapping[str, Any] | None = None,  # noqa: A002 (the word of the command line)
    jobs: int = 1,
    out: str | Path | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    restart: bool = False,
    retry_failed: bool = False,
    series: bool = False,
) -> Rows:
    """Play every model with every policy on every seed.

    An episode that fails becomes a row with its `error`, and the sweep continues. Rows are the
    same for any executor, and for a sweep that was interrupted and continued. With *jobs* above 1
    every worker imports the calling script, so the script must call this under
    `if __name__ == "__main__":`.

    Args:
        model: A name (perhaps with `/preset`), a model class, a model, or a list of these.
        policies: A spec, class, function, attrs instance, mapping of roles to these, or a list of
            these.
        seeds: Whole numbers of at least 0, all different; shared by all policies.
        preset: For models given by name or class; empty stands for the first.
        set: A value or a list of values by parameter; every combination is played. A key with the
            prefix `policy.` sets an argument of the policies that take it.
        jobs: Worker processes; 1 plays in this process, where a debugger works and nothing needs
            to be importable, but a policy that calls `os._exit` ends the sweep, and a limit of time
            does not stop one that catches every exception.
        out: A folder for the checkpoint of finished rows and, in the end, rows.csv and rows.jsonl.
            The same call continues an interrupted sweep; it does not repeat failed episodes. If
            code, a file or a version that the rows depend on has changed, it is refused.
        executor: `processes=N`, which also plays with one worker process, `dask=ADDRESS`, or an
            object with the methods of `Executor`; *jobs* is not used then.
        progress: Called at the start and whenever a chunk is finished.
        limits: Of each episode; one that reaches a limit fails.
        restart: Discard the rows in *out*, of this sweep or another.
        retry_failed: Play the failed episodes in *out* again.
        series: Whether rows, and rows.jsonl, hold what the models report period by period; see
            `Rows.series`.

    Returns:
        Rows in the order of model variants, then policies, then seeds.

    Raises:
        UsageError: A name does not exist, an argument is wrong, *out* holds something else, or a
            model reports no series and *series* are wanted.
        WorkerDied: Worker processes cannot start or keep dying, or a cluster was lost.
        DesimError: An executor failed otherwise, or lost episodes.
        KeyboardInterrupt: On Ctrl-C; with *out*, its text says how many episodes are finished.

    Warns:
        SweepWarning: Rows in *out* were damaged, and are played again, or were discarded.
    """
    plan = grid(model, policies, seeds, preset, set, limits, series=series)
    with (
        _opened(executor, jobs, len(plan)) as players,
        open_store(out, plan, restart=restart, retry_failed=retry_failed) as store,
    ):
        try:
            _play(plan, store, players, progress)
        except KeyboardInterrupt:
            if out is None:
                raise
            raise KeyboardInterrupt(stopped_text(len(store), len(plan))) from None
        except WorkerDied as fault:
            kept = "" if out is None else f"; {stopped_text(len(store), len(plan))}"
            raise type(fault)(f"{fault}{kept}") from None
        rows = Rows.parsed(store.rows())
        if out is not None:
            rows.write(out)
    return rows


def stopped_text(done: int, total: int) -> str:
    """Return the message of an interrupted sweep that has a checkpoint.

    >>> stopped_text(120, 500)
    'stopped after 120 of 500 episodes; the same command goes on from there'
    """
    return f"stopped after {done:,} of {total:,} episodes; the same command goes on from there"


def _play(plan: Grid, store: Store, players: Executor, progress: Progress | None) -> None:
    """Play the jobs that are not in the store."""
    report = progress or (lambda _done, _total: None)
    chunks = Chunks(plan, store.jobs(), worker_count(players))
    done = len(store)
    report(done, len(plan))
    while chunks:
        first = chunks.count
        before = done
        for index, rows in players.run(play_chunk, chunks):
            with interrupts_deferred():
                store.add(chunks.finish(first + index, len(rows)), rows)
            done += len(rows)
            report(done, len(plan))
        if done == before:
            break
    if lost := len(plan) - done:
        name = type(players).__name__
        raise DesimError(f"the executor {name} lost {lost:,} of {len(plan):,} episodes")


@contextlib.contextmanager
def _opened(executor: Executor | str | None, jobs: int, episodes: int) -> Iterator[Executor]:
    """Provide the executor; one that is created here is closed here."""
    if executor is not None and not isinstance(executor, str):
        if not isinstance(executor, Executor):
            raise UsageError(
                f"{short_repr(executor)} is no executor: it needs the methods run and close"
            )
        yield executor
        return
    made = _local(jobs, episodes) if executor is None else _named(executor)
    with contextlib.closing(made):
        yield made


def _local(jobs: int, episodes: int) -> Executor:
    if type(jobs) is not int or jobs < 1:
        raise UsageError(f"jobs={short_repr(jobs)} was given; it is a whole number of at least 1")
    workers = min(jobs, episodes)
    return SerialExecutor() if workers == 1 else ProcessExecutor(workers)


def _named(executor: str) -> Executor:
    kind, _, value = executor.partition("=")
    if kind == "processes" and value.isdecimal() and int(value):
        return ProcessExecutor(int(value))
    if kind == "dask" and value:
        from desim.sweeps.dask_executor import DaskExecutor

        return DaskExecutor(value)
    raise UsageError(
        f"executor {short_repr(executor)} was given; possible: processes=N with N of at least 1, "
        "dask=ADDRESS of a scheduler"
    )
