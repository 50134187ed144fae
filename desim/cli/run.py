"""`desim run`: one episode."""

import click

from desim.cli.options import (
    json_option,
    key_option,
    limit_options,
    model_argument,
    policy_option,
    preset_option,
    read_key_option,
    read_parameters,
    seed_option,
    set_option,
)
from desim.cli.spending import spending_options
from desim.core.limits import Limits
from desim.errors import UsageError

__all__ = ["command"]


@click.command("run")
@model_argument
@preset_option
@set_option
@policy_option
@seed_option
@click.option("--record", type=click.Path(dir_okay=False), help="Write the episode to a new file.")
@spending_options
@key_option
@limit_options
@json_option
def command(
    model: str,
    preset: str,
    sets: tuple[str, ...],
    specs: tuple[str, ...],
    seed: int,
    record: str | None,
    key_file: str | None,
    limits: Limits | None,
    as_json: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Play one episode of MODEL. Without a policy, greedy plays its default roles."""
    from desim import catalog
    from desim.cli.tables import print_episode
    from desim.episodes.play import play
    from desim.episodes.spec import read_policies

    if key_file and not record:
        raise UsageError("--key signs a record; give --record FILE, too")
    key = read_key_option(key_file)
    world = catalog.model(model, preset, read_parameters(sets))
    policies = read_policies(specs or ("greedy",))
    try:
        episode = play(
            world, policies, seed, record=record, limits=limits, keep_steps=False, key=key
        )
    except KeyboardInterrupt:
        if record:
            raise KeyboardInterrupt(f"stopped; desim resume {record} goes on") from None
        raise
    print_episode(episode, as_json=as_json)
    if record and not as_json:
        click.echo(f"recorded in {record}", err=True)
