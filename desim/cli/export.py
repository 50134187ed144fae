"""`desim export`: the ledgers and statements of a recorded episode, as files."""

import click

__all__ = ["command"]


@click.command("export")
@click.argument("record", type=click.Path())
@click.option(
    "--format", "form", default="csv", show_default=True, help="csv, or beancount for books."
)
@click.option("--trust", is_flag=True, help="Import and open whatever the record names.")
@click.option("--out", type=click.Path(file_okay=False), help="A folder; default: beside RECORD.")
def command(
    record: str,
    form: str,
    trust: bool,  # noqa: FBT001 (click passes flags so)
    out: str | None,
) -> None:
    """Write journal, trial balance and statements of a recorded episode.

    A record that was cut is exported as of its last decision. Existing files are never overwritten.
    """
    from desim.episodes.episode import Episode
    from desim.episodes.export import export, export_folder

    episode = Episode.read(record, whole=False, keep_steps=False)
    for file in export(episode, form, out or export_folder(record), trust=trust):
        click.echo(file)
    if episode.result is None:
        click.echo(
            f"{record} was cut: the files hold the ledgers up to its last whole decision, "
            f"number {len(episode.steps)}",
            err=True,
        )
