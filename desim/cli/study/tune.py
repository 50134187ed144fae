"""`desim tune`: the best parameters of a policy, reported on seeds that the search has not used."""

from typing import TYPE_CHECKING

import click

from desim.cli.options import (
    jobs_option,
    json_option,
    limit_options,
    model_argument,
    policy_option,
    preset_option,
    read_parameters,
)

if TYPE_CHECKING:  # commands start fast
    from desim.core.limits import Limits


@click.command("tune")
@model_argument
@preset_option
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=RANGE|VALUE",
    help="int:LOW:HIGH, float:LOW:HIGH, log:LOW:HIGH or choice:A|B; any other value is fixed.",
)
@policy_option
@click.option("--budget", type=int, required=True, metavar="N", help="Episodes of the search.")
@click.option("--seeds", default="", help="Of the search: A:B without B, or A,B,...; default 0:20.")
@click.option("--held-out", default="", help="Of the report; default: as many behind the others.")
@click.option("--sampler-seed", type=int, default=0, show_default=True, help="Of the search.")
@click.option("--out", type=click.Path(file_okay=False), help="A folder that keeps every trial.")
@limit_options
@jobs_option
@json_option
def command(
    *,
    model: str,
    preset: str,
    sets: tuple[str, ...],
    specs: tuple[str, ...],
    budget: int,
    seeds: str,
    held_out: str,
    sampler_seed: int,
    out: str | None,
    limits: "Limits | None",
    jobs: int,
    as_json: bool,
) -> None:
    """Search the parameters of a policy, or of MODEL, with the highest mean score.

    A key is a parameter of the model or, as `policy.KEY` and `policy.ROLE.KEY`, an argument of the
    policies. All points play the same seeds; those that are clearly worse than the best one are
    stopped early. The result is played on held-out seeds, as are the default parameters. It
    depends on --sampler-seed, and not on --jobs. With --out, the same command continues a search
    that was stopped, or that has a larger --budget now. Needs the extra `tune`.
    """
    import msgspec

    from desim.catalog.policy_spec import read_policies
    from desim.cli.tables import progress_bar
    from desim.errors import UsageError
    from desim.show.console import console
    from desim.studies.sweep_file import read_seeds
    from desim.studies.tuning.tune import tune

    if not specs:
        raise UsageError("no policy was given; say which one to tune, as in --policy order_up_to")
    with progress_bar("tune") as progress:
        found = tune(
            model,
            read_policies(specs),
            read_parameters(sets),
            budget=budget,
            seeds=read_seeds(seeds),
            held_out=read_seeds(held_out) if held_out else None,
            preset=preset,
            sampler_seed=sampler_seed,
            # A single job has a worker process, too: no policy can end or block the command itself.
            executor=f"processes={jobs}",
            out=out,
            limits=limits,
            progress=progress,
        )
    if as_json:
        click.echo(msgspec.json.encode(found.plain()))
    else:
        console().print(found)
