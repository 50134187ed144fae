"""`desim sweep`: many episodes, one row each."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import frozen

from desim.cli.completion import complete_model_or_file
from desim.cli.exit_codes import fail, warnings_as_sentences
from desim.cli.options import (
    jobs_option,
    limit_options,
    policy_option,
    preset_option,
    read_parameters,
    set_option,
    spending_options,
)
from desim.errors import UsageError

if TYPE_CHECKING:  # commands start fast
    from desim.core.limits import Limits
    from desim.jobs.rows.rows import Rows
    from desim.studies.designs import Analysis
    from desim.studies.select import Choice
    from desim.studies.sweep_file import SweepSpec
    from desim.studies.until import Comparison


@click.command("sweep")
@click.argument("model", metavar="MODEL|FILE.toml", shell_complete=complete_model_or_file)
@preset_option
@set_option
@policy_option
@click.option("--seeds", default="", help="A:B without B, or A,B,...; default 0:20.")
@click.option(
    "--design",
    default="",
    metavar="KIND[:SIZE][,KEY=VALUE]",
    help="Play points of the ranges in --set: lhs:64, sobol:64, factorial, sobol-indices:256, "
    "morris:20.",
)
@click.option("--out", type=click.Path(file_okay=False), help="A folder that keeps every row.")
@click.option("--restart", is_flag=True, help="Discard the rows in --out and start anew.")
@click.option("--retry-failed", is_flag=True, help="Play the failed episodes in --out again.")
@limit_options
@jobs_option
@click.option(
    "--concurrent",
    type=click.IntRange(min=1, max=1_000),
    help="Episodes of language models at once; default 8.",
)
@spending_options
@click.option("--executor", help="processes=N, or dask=ADDRESS of a scheduler.")
@click.option(
    "--records", is_flag=True, help="Record each episode in a file of its own in --out/records."
)
@click.option("--series", is_flag=True, help="Keep the model's series in the rows, if it has any.")
@click.option("--show", "figures", multiple=True, help="A figure of the table; default: score.")
@click.option("--against", help="The policy with which the others are compared.")
@click.option("--until", help="Play seeds until intervals are as narrow: 5% of the mean, or 2.5.")
@click.option(
    "--select",
    type=click.Choice(["best", "kn", "ocba"]),
    help="Play only what is needed to select the best; kn guarantees it, and needs --delta.",
)
@click.option("--delta", type=float, help="With --select: the smallest difference that matters.")
@click.option("--max-seeds", type=int, help="With --until and --select; default 2,000.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows, one line of JSON each.")
def command(
    *,
    model: str,
    preset: str,
    sets: tuple[str, ...],
    specs: tuple[str, ...],
    seeds: str,
    design: str,
    out: str | None,
    restart: bool,
    retry_failed: bool,
    limits: "Limits | None",
    jobs: int,
    concurrent: int | None,
    executor: str | None,
    records: bool,
    series: bool,
    figures: tuple[str, ...],
    against: str | None,
    until: str | None,
    select: str | None,
    delta: float | None,
    max_seeds: int | None,
    as_json: bool,
) -> None:
    """Play MODEL with every policy, parameter and seed.

    Each --policy is one way to play; several that name different roles are one way together. Roles
    of one way may also be joined with +, as in retailer=base_stock,target=24+factory=benchmark.
    `--set KEY=V1,V2` varies a parameter, `--set policy.KEY=V1,V2` an argument of the policies.
    With --out, the same command continues a sweep that was stopped; it is refused if code or files
    that the rows depend on have changed since. With --until or --select, --seeds names the first
    batch, and further seeds are played as needed. With --records each episode has a record there,
    which `desim replay`, `desim report` and `desim resume` take.
    Episodes of language models wait for their replies together, in one process; --max-calls and
    --max-cost hold for all of them, and episodes that they cut fail.
    With --design, `--set KEY=low:high` (or int:low:high, log:low:high, or V1,V2) names what varies,
    and effects or indices of the figures are printed, with --json one line of JSON each.
    """
    import msgspec

    from desim.cli.tables import print_rows, progress_bar
    from desim.jobs.keep.store import SweepWarning
    from desim.show.console import console
    from desim.studies.sweep_file import read_config

    spec = read_config(model, preset, read_parameters(sets), specs, seeds, design)
    if spec.analysed:
        refuse_options({"--against": against}, "sweeps whose table has policies, not effects")
    executor = _executor_text(executor, jobs, concurrent)
    how: dict[str, Any] = {"jobs": jobs, "out": out, "executor": executor}
    how |= {"limits": limits, "restart": restart}
    found: Comparison | Choice | None = None
    with progress_bar("sweep") as progress, warnings_as_sentences(SweepWarning):
        if until is None and select is None:
            refuse_options({"--delta": delta, "--max-seeds": max_seeds}, "--until or --select")
            how |= {"retry_failed": retry_failed, "series": series, "records": records}
            rows = spec.play(progress=progress, **how)
        else:
            plain = {"--retry-failed": retry_failed, "--series": series, "--records": records}
            refuse_options(plain, "plain sweeps")
            goal = _Goal(until, select, delta, max_seeds, figures, against)
            found = goal.play(spec, {**how, "progress": progress})
            rows = found.rows
    shown = figures or ("score",)
    analysis = _analysed(spec, rows, shown)
    if as_json:
        for row in analysis.plain() if analysis else rows:
            click.echo(msgspec.json.encode(row))
    elif found:
        console().print(found)
    elif analysis:
        console().print(analysis)
    else:
        print_rows(rows, shown, against)
    if out and not as_json:
        click.echo(f"rows are in {Path(out) / 'rows.csv'} and rows.jsonl", err=True)
    if rows.failed:
        fail(f"{len(rows.failed)} of {len(rows)} episodes failed: {rows.failed[0]['error']}")
    if found and not found.reached:
        fail(found.sentence)


def _executor_text(executor: str | None, jobs: int, concurrent: int | None) -> str:
    """Return the executor that options name.

    Raises:
        UsageError: Options say different things.
    """
    if executor is None:
        # A single job has a worker process, too: no policy can end or block the command itself.
        return f"processes={jobs}" + (f",concurrent={concurrent}" if concurrent else "")
    if concurrent is not None:
        raise UsageError(
            "--concurrent and --executor were given; write --executor processes=N,concurrent=N"
        )
    return executor


def _analysed(spec: "SweepSpec", rows: "Rows", shown: tuple[str, ...]) -> "Analysis | None":
    """Return the findings of a design's rows; None after failures without a worst score."""
    try:
        return spec.analyse(rows, shown)
    except UsageError:
        if rows.failed:
            return None
        raise


@frozen
class _Goal:
    """The options `--until` and `--select`, with the options that belong to them."""

    until: str | None
    select: str | None
    delta: float | None
    max_seeds: int | None
    figures: tuple[str, ...]
    against: str | None

    def play(self, spec: "SweepSpec", how: dict[str, Any]) -> "Comparison | Choice":
        """Play a sweep until the goal is reached or all seeds are played."""
        if len(self.figures) > 1:
            raise UsageError("--until and --select take one --show")
        how |= {"show": (self.figures or ("score",))[0]}
        if self.max_seeds is not None:
            how["max_seeds"] = self.max_seeds
        if self.until is None:
            refuse_options({"--against": self.against}, "--until")
            by = None if self.select == "best" else self.select
            return spec.select(by=by, delta=self.delta, **how)
        refuse_options({"--select": self.select, "--delta": self.delta}, "a sweep without --until")
        return spec.compare(until=self.until, against=self.against, **how)


def refuse_options(given: Mapping[str, object], belong_to: str) -> None:
    """Refuse options that would have no effect.

    Raises:
        UsageError: Such an option was given.
    """
    for name, value in given.items():
        if value:
            raise UsageError(f"{name} belongs to {belong_to}")
