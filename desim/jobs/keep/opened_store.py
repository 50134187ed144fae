"""Opens the store of a sweep, and decides which of the rows in a checkpoint are kept."""

import warnings
from collections.abc import Sequence
from pathlib import Path

from desim.errors import UsageError
from desim.jobs.keep.store import MemoryStore, Store, SweepWarning
from desim.jobs.plan.grid import Grid
from desim.jobs.plan.job import has_failed

#: Most episodes that a warning names.
_MAX_NAMED = 3


def open_store(
    out: str | Path | None, plan: Grid, *, restart: bool = False, retry_failed: bool = False
) -> Store:
    """Open the store of a sweep.

    Args:
        out: The folder of the checkpoint; None keeps the rows in memory.
        plan: All jobs.
        restart: Discard the rows of an existing checkpoint.
        retry_failed: Discard the rows of failed episodes.

    Warns:
        SweepWarning: Rows were damaged or discarded.

    Raises:
        UsageError: The folder cannot be used, or holds another sweep.
    """
    if out is None:
        if restart or retry_failed:
            word = "restart" if restart else "retry_failed"
            raise UsageError(f"{word} needs the folder of an earlier sweep; give out")
        return MemoryStore()
    from desim.jobs.keep.checkpoint import Checkpoint
    from desim.jobs.keep.fingerprint import fingerprint

    store = Checkpoint(out, fingerprint(plan), plan.owns, restart=restart)
    try:
        if store.discarded:
            _warn(f"{store.path}: {store.discarded:,} rows were discarded")
        if store.damaged:
            _warn(f"{store.path} was damaged; {_damage(store.lost, plan)}")
        if retry_failed:
            store.remove(_failed(store))
        if len(store) < len(plan):
            store.remove_results()
    except BaseException:
        store.close()
        raise
    return store


def _failed(store: Store) -> list[int]:
    """Return the jobs whose episodes failed."""
    jobs = sorted(store.jobs())
    rows = zip(jobs, store.rows(), strict=True)
    return [job for job, row in rows if has_failed(row)]


def _damage(lost: Sequence[int], plan: Grid) -> str:
    known = [job for job in lost if isinstance(job, int) and 0 <= job < len(plan)]
    if not known:
        return "the rows that could be read are kept, the others are played again"
    named = "; ".join(_name(plan, job) for job in known[:_MAX_NAMED])
    more = f" and {len(known) - _MAX_NAMED:,} more" if len(known) > _MAX_NAMED else ""
    return f"played again: {named}{more}"


def _name(plan: Grid, index: int) -> str:
    job = plan.job(index)
    return f"{job.variant.name}/{job.variant.preset}, {job.entry.label}, seed {job.seed}"


def _warn(text: str) -> None:
    warnings.warn(text, SweepWarning, stacklevel=4)
