"""`desim export`: ledgers, tables, messages and trace of a recorded episode."""

from pathlib import Path
from typing import Any

import click

from desim.cli.arguments import CheckedCommand


@click.command("export", cls=CheckedCommand)
@click.argument("record", metavar="RECORD", type=click.Path(dir_okay=False))
@click.option(
    "--what",
    type=click.Choice(["ledgers", "series", "decisions", "messages"]),
    default="ledgers",
    show_default=True,
    help="The ledgers with the statements, one table, or what a model received and wrote.",
)
@click.option(
    "--format",
    "form",
    default="csv",
    show_default=True,
    help="csv; for books also beancount, for series and decisions json or parquet; trace of the "
    "whole episode.",
)
@click.option("--trust", is_flag=True, help="Import and open whatever the record names.")
@click.option("--out", type=click.Path(file_okay=False), help="A folder; default: beside RECORD.")
def command(
    record: str,
    what: Any,
    form: str,
    trust: bool,  # noqa: FBT001 (click passes flags so)
    out: str | None,
) -> None:
    """Write the ledgers of a recorded episode, its series, decisions or messages.

    The episode is played again for it, from the answers on record.

    The format trace holds all events, decisions and ledger entries for https://ui.perfetto.dev.
    --what messages writes one JSON line a chat message, with role, content and tool calls, for
    those who train a model; a rule's observations and actions have the same form.

    A record that was cut is exported as of its last decision. Existing files are never overwritten.
    """
    from desim.episodes.export import export, export_folder, export_messages, write_trace
    from desim.records.episode import Episode

    folder = Path(out or export_folder(record))
    if form == "trace" and what != "ledgers":
        raise click.UsageError(f"--what {what} has no trace; leave it out, or --format trace")
    if what == "messages" and form not in ("csv", "json"):
        raise click.UsageError(f"--what messages writes JSON lines; --format {form} was given")
    if form == "trace":
        click.echo(write_trace(Path(record), folder / "trace.json.gz", trust=trust))
        return
    episode = Episode.read(record, whole=False, keep_steps=False)
    if what == "messages":
        click.echo(export_messages(record, episode, folder))
    else:
        for file in export(episode, form, folder, what=what, trust=trust):
            click.echo(file)
    if episode.result is None:
        click.echo(
            f"{record} was cut: the files hold the {what} up to its last whole decision, "
            f"number {len(episode.steps)}",
            err=True,
        )
