"""Plays every model with every policy on every seed, and returns the rows."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desim.core.limits import Limits
from desim.jobs.plan.grid import grid
from desim.jobs.rows.rows import Rows
from desim.jobs.run.executors import Executor
from desim.jobs.run.playing import Progress, playing

if TYPE_CHECKING:  # `import desim` must not load numpy
    from desim.studies.designs import Design, DesignSpec


def sweep(
    model: Any,
    policies: Any,
    seeds: Iterable[int],
    *,
    preset: str = "",
    set: Mapping[str, Any] | None = None,  # noqa: A002 (the word of the command line)
    design: "Design | DesignSpec | str | None" = None,
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
    `if __name__ == "__main__":`. Classes and functions of a script or a notebook, and those made
    inside functions, are sent to the workers with the globals that they use.

    Where a model does not depend on the seed and no policy draws, one seed is played, and the other
    rows are copies of its row (see `players.is_fixed`).

    Args:
        model: A name (perhaps with `/preset`), a model class, a model, or a list of these.
        policies: A spec, class, function, attrs instance, mapping of roles to these, or a list of
            these.
        seeds: Whole numbers of at least 0, all different; shared by all policies.
        preset: For models given by name or class; empty means the first.
        set: A value or a list of values by parameter; every combination is played. A key with the
            prefix `policy.` sets an argument of the policies that take it.
        design: Points to play instead of all combinations: a `Design` over parameters that *set*
            does not name, or a text such as "lhs:64" over the ranges and lists of values in *set*.
            Rows have the index of their point, and in `given` the policy without its arguments.
        jobs: Worker processes; 1 plays in this process, where a debugger works and nothing needs
            to be importable, but a policy that calls `os._exit` ends the sweep, and a limit of time
            does not stop one that catches every exception.
        out: A folder for the checkpoint of finished rows and, in the end, rows.csv and rows.jsonl.
            The same call continues an interrupted sweep; it does not repeat failed episodes. If
            code, a file or a version that the rows depend on has changed, it is refused.
        executor: `processes=N`, which also plays with one worker process, `dask=ADDRESS`, workers
            that stay for further sweeps (`with desim.workers(N) as pool`), or any object with the
            methods of `Executor`; *jobs* is not used then.
        progress: Called at the start and whenever a chunk is finished.
        limits: The limits of each episode; one that reaches a limit fails.
        restart: Discard the rows in *out*, of this sweep or another.
        retry_failed: Play the failed episodes in *out* again.
        series: Whether rows, and rows.jsonl, hold what the models report period by period; see
            `Rows.series`.

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
    points = None
    if design is not None:
        from desim.studies.designs.kinds import planned

        points, set = planned(design, set or {})  # noqa: A001 (the word of the command line)
    plan = grid(model, policies, seeds, preset, set, limits, points, series=series)
    with playing(
        plan, jobs, out, executor, progress, restart=restart, retry_failed=retry_failed
    ) as started:
        started.play(range(len(plan)))
        return started.finish()
