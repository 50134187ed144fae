"""Models x parameters x policies x seeds, played wherever there are processors, to rows."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from desim.errors import DesimError, UsageError
from desim.sweeps.chunks import Chunks
from desim.sweeps.executors import Executor, Here, WorkerDied, processes
from desim.sweeps.grid import Grid, grid
from desim.sweeps.jobs import play_some
from desim.sweeps.rows import Rows
from desim.sweeps.store import Memory, Store

__all__ = ["stopped", "sweep"]

#: Called with the number of finished episodes and of all.
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
) -> Rows:
    """Play every model with every policy on every seed.

    An episode that fails becomes a row with its `error`, and the rest goes on. Rows are the same
    whatever plays them, and after a sweep that was cut short. With `jobs` above 1 the script that
    calls this is imported by every worker, so what it does stands under
    `if __name__ == "__main__":`.

    Args:
        model: A name (perhaps with `/preset`), a model class, a model, or a list of such.
        policies: A spec, class, attrs instance, mapping of roles to such, or a list of these.
        seeds: Whole numbers of at least 0, none twice; shared by all policies.
        preset: For models given by name or class; empty stands for the first.
        set: A value or a list of values by parameter; every combination is played. A key that
            begins with `policy.` sets an argument of the policies that take it.
        jobs: Worker processes; 1 plays in this one.
        out: A folder that keeps every finished chunk, and in the end rows.csv and rows.jsonl. The
            same command goes on from there; it does not repeat episodes that failed.
        executor: `dask=ADDRESS`, or an object with the methods of `Executor`; `jobs` has no meaning
            then.
        progress: Called with the number of finished episodes and of all, at first and as they come.

    Returns:
        Rows in the order of model variants, then policies, then seeds.

    Raises:
        UsageError: Something named does not exist, or `out` holds something else.
        WorkerDied: A worker process ended in mid-sweep.
        DesimError: An executor failed otherwise, or lost episodes.
        KeyboardInterrupt: Ctrl-C; where `out` is given, its text says how far it came.
    """
    plan = grid(model, policies, seeds, preset, set)
    with _players(executor, jobs, len(plan)) as players, _store(out, plan) as store:
        try:
            _play(plan, store, players, progress)
        except KeyboardInterrupt:
            if out is None:
                raise
            raise KeyboardInterrupt(stopped(len(store), len(plan))) from None
        except WorkerDied as fault:
            kept = "" if out is None else f"; {stopped(len(store), len(plan))}"
            raise WorkerDied(f"{fault}{kept}") from None
        rows = Rows.parsed(store.rows())
        if out is not None:
            rows.write(out)
    return rows


def stopped(done: int, total: int) -> str:
    """Say how far a sweep came that keeps its rows.

    >>> stopped(120, 500)
    'stopped after 120 of 500 episodes; the same command goes on from there'
    """
    return f"stopped after {done:,} of {total:,} episodes; the same command goes on from there"


def _play(plan: Grid, store: Store, players: Executor, progress: Progress | None) -> None:
    """Play what is not in the store yet."""
    tell = progress or (lambda _done, _total: None)
    chunks = Chunks(plan, store.jobs(), getattr(players, "workers", 1))
    done = len(store)
    tell(done, len(plan))
    while chunks:
        first = chunks.dealt
        before = done
        for index, rows in players.run(play_some, chunks):
            with _interrupts_later():
                store.add(chunks.finish(first + index, len(rows)), rows)
            done += len(rows)
            tell(done, len(plan))
        if done == before:
            break
    if lost := len(plan) - done:
        who = type(players).__name__
        raise DesimError(f"the executor {who} lost {lost:,} of {len(plan):,} episodes")


@contextlib.contextmanager
def _players(executor: Executor | str | None, jobs: int, episodes: int) -> Iterator[Executor]:
    """Provide an executor; one that is made here is closed here."""
    if executor is not None and not isinstance(executor, str):
        if not isinstance(executor, Executor):
            raise UsageError(f"{executor!r} is no executor: it needs the methods run and close")
        yield executor
        return
    with contextlib.closing(_local(jobs, episodes) if executor is None else _far(executor)) as made:
        yield made


def _local(jobs: int, episodes: int) -> Executor:
    if type(jobs) is not int or jobs < 1:
        raise UsageError(f"jobs={jobs!r} was given; it is a whole number of at least 1")
    workers = min(jobs, episodes)
    return Here() if workers == 1 else processes(workers)


def _far(executor: str) -> Executor:
    kind, _, address = executor.partition("=")
    if kind != "dask" or not address:
        raise UsageError(f"executor {executor!r} was given; possible: dask=ADDRESS of a scheduler")
    from desim.sweeps.cluster import cluster

    return cluster(address)


def _store(out: str | Path | None, plan: Grid) -> Store:
    if out is None:
        return Memory()
    from desim.sweeps.journal import Journal

    return Journal(out, plan.identity())


@contextlib.contextmanager
def _interrupts_later() -> Iterator[None]:
    """Hold Ctrl-C back until the block is done; only the main thread ever hears it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *told: heard.append(told))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard and callable(before):
        before(*heard[0])
