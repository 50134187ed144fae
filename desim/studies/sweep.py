"""Plays every model with every policy on every seed, and returns the rows."""

from desim.jobs.plan.grid import grid
from desim.jobs.rows.rows import Rows
from desim.schema.signatures import takes
from desim.studies.study_options import SweepOptions


@takes(SweepOptions)
def sweep(options: SweepOptions) -> Rows:
    """Play every model with every policy on every seed.

    An episode that fails becomes a row with its `error`, and the sweep continues. Rows are the
    same for any executor, and for a sweep that was interrupted and continued. Classes and functions
    of a script or a notebook, and those made inside functions, are sent to the workers with the
    globals that they use.

    Where a model does not depend on the seed and no policy draws, one seed is played, and the other
    rows are copies of its row (see `same_episodes.is_fixed`).

    Returns:
        Rows in the order of model variants, then points, then policies, then seeds.

    Raises:
        UsageError: A name does not exist, an argument is wrong, *out* holds something else, or a
            model reports no series and *series* are wanted.
        WorkerDied: Worker processes cannot start or keep dying, or a cluster was lost.
        DesimError: An executor failed otherwise, or lost episodes.
        KeyboardInterrupt: On Ctrl-C; with *out*, its text says how many episodes are finished.

    Warns:
        SweepWarning: Rows in *out* were damaged, and are played again, or were discarded.
    """
    points, changes = None, options.set
    if options.design is not None:
        from desim.studies.designs.kinds import planned

        points, changes = planned(options.design, options.set or {})
    plan = grid(
        options.model,
        options.policies,
        options.seeds,
        options.preset,
        changes,
        options.limits,
        points,
        series=options.series,
    )
    with options.playing(plan, retry_failed=options.retry_failed) as started:
        started.play(range(len(plan)))
        return started.finish()
