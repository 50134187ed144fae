"""`desim sweep`: many episodes, one row each."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from desim.cli.completion import complete_model_or_file
from desim.cli.errors import fail, warnings_as_sentences
from desim.cli.options import (
    jobs_option,
    limit_options,
    policy_option,
    preset_option,
    read_parameters,
    set_option,
)

if TYPE_CHECKING:  # commands start fast
    from desim.core.limits import Limits

__all__ = ["command"]


@click.command("sweep")
@click.argument("model", metavar="MODEL|FILE.toml", shell_complete=complete_model_or_file)
@preset_option
@set_option
@policy_option
@click.option("--seeds", default="", help="A:B without B, or A,B,...; default 0:20.")
@click.option("--out", type=click.Path(file_okay=False), help="A folder that keeps every row.")
@click.option("--restart", is_flag=True, help="Discard the rows in --out and start anew.")
@click.option("--retry-failed", is_flag=True, help="Play the failed episodes in --out again.")
@limit_options
@jobs_option
@click.option("--executor", help="processes=N, or dask=ADDRESS of a scheduler.")
@click.option("--series", is_flag=True, help="Keep the model's series in the rows, if it has any.")
@click.option("--show", "figures", multiple=True, help="A figure of the table; default: score.")
@click.option("--against", help="The policy with which the others are compared.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows, one line of JSON each.")
def command(
    *,
    model: str,
    preset: str,
    sets: tuple[str, ...],
    specs: tuple[str, ...],
    seeds: str,
    out: str | None,
    restart: bool,
    retry_failed: bool,
    limits: "Limits | None",
    jobs: int,
    executor: str | None,
    series: bool,
    figures: tuple[str, ...],
    against: str | None,
    as_json: bool,
) -> None:
    """Play MODEL with every policy, parameter and seed.

    Each --policy is one way to play; several that name different roles are one way together. Roles
    of one way may also be joined with +, as in retailer=base_stock,target=24+factory=benchmark.
    `--set KEY=V1,V2` varies a parameter, `--set policy.KEY=V1,V2` an argument of the policies.
    With --out, the same command continues a sweep that was stopped; it is refused if code or files
    that the rows depend on have changed since.
    """
    import msgspec

    from desim.cli.tables import print_rows, progress_bar
    from desim.sweeps.config import read_config
    from desim.sweeps.store import SweepWarning

    spec = read_config(model, preset, read_parameters(sets), specs, seeds)
    with progress_bar("sweep") as progress, warnings_as_sentences(SweepWarning):
        rows = spec.play(
            jobs=jobs,
            out=out,
            # Also one job has a worker process: no policy can end or hold up the command itself.
            executor=executor or f"processes={jobs}",
            progress=progress,
            limits=limits,
            restart=restart,
            retry_failed=retry_failed,
            series=series,
        )
    if as_json:
        for row in rows:
            click.echo(msgspec.json.encode(row))
    else:
        print_rows(rows, figures or ("score",), against)
        if out:
            click.echo(f"rows are in {Path(out) / 'rows.csv'} and rows.jsonl", err=True)
    if rows.failed:
        fail(f"{len(rows.failed)} of {len(rows)} episodes failed: {rows.failed[0]['error']}")
