"""`desim export`: tables, trace and trajectory of a recorded episode; a suite for others."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from desim.cli.exit_codes import warnings_as_sentences
from desim.errors import possible

if TYPE_CHECKING:  # `desim --help` imports no more than it prints
    from collections.abc import Iterable

    from desim.episodes.export import Exported

#: Formats of the whole folder of a suite.
_SUITE_FORMS = ("inspect", "every-eval-ever")

#: Formats that have no choice of tables.
_WHOLE_FORMS = ("trace", "atif", *_SUITE_FORMS)


@click.command("export")
@click.argument("record", metavar="RECORD|DIR", type=click.Path())
@click.option(
    "--what",
    type=click.Choice(["ledgers", "series", "decisions"]),
    default="ledgers",
    show_default=True,
    help="The ledgers with the statements, or one table.",
)
@click.option(
    "--format",
    "form",
    default="csv",
    show_default=True,
    help="csv; for books also beancount, for series and decisions json or parquet; trace or atif "
    "of the whole episode; inspect or every-eval-ever of a suite.",
)
@click.option(
    "--developer",
    metavar="NAME",
    help="With every-eval-ever: who made the models whose names are not DEVELOPER/MODEL.",
)
@click.option("--trust", is_flag=True, help="Import and open whatever the record names.")
@click.option("--out", type=click.Path(file_okay=False), help="A folder; default: beside RECORD.")
def command(
    record: str,
    what: "Exported",
    form: str,
    developer: str | None,
    trust: bool,  # noqa: FBT001 (click passes flags so)
    out: str | None,
) -> None:
    """Write the ledgers and statements of a recorded episode, its series, or its decisions.

    The episode is played again for it, from the answers on record.

    The format trace holds all events, decisions and ledger entries for https://ui.perfetto.dev, and
    atif is Harbor's trajectory of all messages, tool calls and decisions, which `desim import`
    makes a record again. DIR is the folder of a suite: inspect writes a log of Inspect AI for every
    world and entry, and every-eval-ever the results with intervals.

    A record that was cut is exported as of its last decision. Existing files are never overwritten.
    """
    from desim.episodes.export import export, export_folder
    from desim.jobs.keep.store import SweepWarning
    from desim.records.episode import Episode

    folder = Path(out or export_folder(record))
    if developer is not None and form != "every-eval-ever":
        raise click.UsageError("--developer goes with --format every-eval-ever")
    if form in _WHOLE_FORMS:
        if what != "ledgers":
            raise click.UsageError(f"--what {what} has no {form}; leave it out, or --format {form}")
        with warnings_as_sentences(SweepWarning):
            for file in _whole(Path(record), form, folder, developer or "", trust=trust):
                click.echo(file)
        return
    if Path(record).is_dir():
        raise click.UsageError(f"{record} is a folder; {possible(form, _SUITE_FORMS)}")
    episode = Episode.read(record, whole=False, keep_steps=False)
    for file in export(episode, form, folder, what=what, trust=trust):
        click.echo(file)
    if episode.result is None:
        click.echo(
            f"{record} was cut: the files hold the {what} up to its last whole decision, "
            f"number {len(episode.steps)}",
            err=True,
        )


def _whole(
    source: Path, form: str, folder: Path, developer: str, *, trust: bool
) -> "Iterable[Path]":
    """Write a whole record or suite, and return the files."""
    if source.is_dir() != (form in _SUITE_FORMS):
        needed = "the folder of a suite" if form in _SUITE_FORMS else "a record"
        raise click.UsageError(f"--format {form} is of {needed}, which {source} is not")
    if form == "trace":
        from desim.episodes.export import write_trace

        return [write_trace(source, folder / "trace.json.gz", trust=trust)]
    if form == "atif":
        from desim.exports.atif import write_trajectory

        return [write_trajectory(source, folder)]
    if form == "inspect":
        from desim.exports.inspect_log import write_logs

        return write_logs(source, folder)
    from desim.exports.every_eval_ever import write_results

    return write_results(source, folder, developer)
