"""`desim branch`: play another end of a recorded episode."""

import click

from desim.cli.options import (
    json_option,
    key_option,
    limit_options,
    policy_option,
    read_key_option,
    read_parameters,
    trust_options,
)
from desim.core.limits import Limits

__all__ = ["command"]


@click.command("branch")
@click.argument("file", type=click.Path())
@click.option(
    "--at",
    "decisions",
    type=click.IntRange(min=0),
    required=True,
    metavar="N",
    help="How many decisions are repeated.",
)
@policy_option
@click.option("--record", type=click.Path(dir_okay=False), help="Write the episode to a new file.")
@key_option
@limit_options
@trust_options
@json_option
def command(
    file: str,
    decisions: int,
    specs: tuple[str, ...],
    record: str | None,
    key_file: str | None,
    limits: Limits | None,
    model: str,
    sets: tuple[str, ...],
    trust: bool,  # noqa: FBT001 (click passes flags so)
    as_json: bool,  # noqa: FBT001 (as above)
) -> None:
    """Repeat the first N decisions of a record, then play on; FILE is not changed.

    A record that was altered is refused, also behind decision N. One that was cut has no digest:
    then the N decisions alone are checked, by repeating them.

    A policy that is given begins after them; the recorded ones decide again from the start. Also
    for the record of a run whose model failed: its error names an N before the failure.
    """
    from desim.cli.tables import print_episode
    from desim.episodes.play_branch import play_branch
    from desim.episodes.spec import read_policies

    episode = play_branch(
        file,
        decisions,
        read_policies(specs) if specs else None,
        record=record,
        trust=trust,
        model=model,
        params=read_parameters(sets),
        limits=limits,
        keep_steps=False,
        key=read_key_option(key_file),
    )
    print_episode(episode, as_json=as_json)
    if record and not as_json:
        click.echo(f"recorded in {record}", err=True)
