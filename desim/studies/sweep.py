"""Plays every model with every policy on every seed, and returns the rows."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from desim.engine.grid import grid
from desim.engine.plan import RECORD, RECORDS, Grid
from desim.engine.run.playing import Playing
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.rows.rows import Rows
from desim.schema.signatures import takes
from desim.studies.options import SweepOptions, refuse_score

_PUT_BACK = "put the record back, or play the sweep anew (--restart)"


@takes(SweepOptions)
def sweep(options: SweepOptions) -> Rows:
    """Play every model with every policy on every seed.

    An episode that fails becomes a row with its `error`, and the sweep continues. Rows are the
    same for any executor, and for a sweep that was interrupted and continued. Classes and functions
    of a script or a notebook, and those made inside functions, are sent to the workers with the
    globals that they use.

    Where a model does not depend on the seed and no policy draws, one seed is played, and the other
    rows are copies of its row (see `policies.is_fixed`), unless each has a record.

    Episodes whose policies wait for a host, as language models do, are played in one event loop of
    this process, 8 at once, unless they keep what they learn in a file; a policy class declares
    that it waits by `base_url` in its `reaches`.

    Returns:
        Rows in the order of model variants, then points, then policies, then seeds.

    Raises:
        UsageError: A name does not exist, an argument is wrong, *out* holds something else,
            *records* are wanted without *out*, or *series* of a model that reports none, or there
            are more than 10 million episodes.
        WorkerDied: Worker processes cannot start or keep dying, or a cluster was lost.
        BadRecord: The record of a row in *out* is missing, altered or another one.
        DesimError: An executor failed otherwise, or lost episodes.
        KeyboardInterrupt: On Ctrl-C; with *out*, its text says how many episodes are finished.

    Warns:
        SweepWarning: Rows in *out* were damaged, and are played again, or were discarded.
    """
    refuse_score(options.minimise)
    points, changes = [], options.set
    if options.design is not None:
        from desim.studies.designs import planned

        design, changes = planned(options.design, options.set or {})
        points = [design.at(place) for place in range(len(design))]
    if options.records and options.out is None:
        raise UsageError("records need the folder of the sweep; give out")
    folder = Path(options.out).absolute() if options.records and options.out is not None else None
    plan = grid(
        options.model,
        options.policies,
        options.seeds,
        options.preset,
        changes,
        options.limits,
        points,
    )
    for model in plan.models if options.series else ():
        if model.series is None:
            name = type(model).__name__
            raise UsageError(f"{name} reports no series: it has no method series(state)")
    plan = plan.changed(series=options.series, out=folder)
    with options.playing(plan, retry_failed=options.retry_failed) as started:
        if folder is not None:
            _prepare_records(started, folder / RECORDS, restart=options.restart)
            _check_records(started)
        started.play(range(len(plan)))
        return started.finish().directed(_directions(plan, options.minimise))


def _directions(plan: Grid, minimise: str) -> Mapping[str, str]:
    """Return which values of metrics are better, where the models of a sweep agree."""
    declared = [model.figures for model in plan.models]
    names = dict.fromkeys(name for figures in declared for name in figures.columns)
    found = {name: {figures.better(name) for figures in declared} for name in names}
    return {name: of.pop() for name, of in found.items() if len(of) == 1} | (
        {minimise: "lower"} if minimise else {}
    )


def _prepare_records(started: Playing, folder: Path, *, restart: bool) -> None:
    """Make the folder of the records; on a restart, remove those whose rows were discarded.

    Raises:
        UsageError: The folder cannot be written.
    """
    plan = started.plan
    try:
        folder.mkdir(exist_ok=True)
        if restart:
            records = {
                plan.job(number).record: number in started.kept for number in range(len(plan))
            }
            for record in (one for one, is_kept in records.items() if one and not is_kept):
                record.unlink(missing_ok=True)
    except OSError as fault:
        raise UsageError(f"cannot write {folder}: {fault.strerror}") from None


def _check_records(started: Playing) -> None:
    """Check that the records of kept rows are those of their episodes.

    Raises:
        BadRecord: One is missing, altered, or another episode's.
    """
    jobs = sorted(started.kept)
    for number, results in zip(jobs, started.kept.results(jobs), strict=True):
        job, row = started.plan.job(number), msgspec.json.decode(results)
        if row[RECORD] is None:  # it failed before its first line
            continue
        failed = row["error"] is not None
        try:
            past = Episode.read(str(job.record), whole=not failed, keep_steps=False)
        except BadRecord as fault:
            raise BadRecord(f"{fault}; {_PUT_BACK}") from None
        digest = None if failed or past.result is None else past.result.ledger_digest
        if (past.header.seed, digest) != (job.seed, row["ledger_digest"]):
            raise BadRecord(f"{job.record} is the record of another episode; {_PUT_BACK}")
