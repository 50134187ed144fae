"""`desim replay`: check that a record replays."""

import click

from desim.cli.options import key_option, read_key_option, read_parameters, trust_options


@click.command("replay")
@click.argument("file", type=click.Path())
@key_option
@trust_options
def command(
    file: str,
    key_file: str | None,
    model: str,
    sets: tuple[str, ...],
    trust: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Play the answers of a record again and compare every step.

    Whatever would import a module or open a file is refused, unless it is given again or trusted.
    The digest of a record is a checksum; --key proves that it was written with that key.
    """
    from desim.episodes.replay import replay

    key, params = read_key_option(key_file), read_parameters(sets)
    episode = replay(file, trust=trust, key=key, model=model, params=params)
    proved = "; written with this key" if key else ""
    click.echo(
        f"{file}: {len(episode.steps)} decisions replayed, all the same; "
        f"score {episode.score:,.10g}, ended {episode.ended}{proved}"
    )
