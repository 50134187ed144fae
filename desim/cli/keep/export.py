"""`desim export`: ledgers, statements, series, decisions or the trace of a recorded episode."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # `desim --help` imports no more than it prints
    from desim.episodes.export import Exported


@click.command("export")
@click.argument("record", type=click.Path())
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
    help="csv; for books also beancount, for series and decisions json or parquet; or trace.",
)
@click.option(
    "--advantages",
    "then",
    metavar="SPEC",
    help="With --what decisions: columns of the advantage of each decision over this policy.",
)
@click.option(
    "--futures",
    type=click.IntRange(min=2),
    default=30,
    show_default=True,
    help="Redrawn futures over which an advantage is estimated.",
)
@click.option("--trust", is_flag=True, help="Import and open whatever the record names.")
@click.option("--out", type=click.Path(file_okay=False), help="A folder; default: beside RECORD.")
def command(
    record: str,
    what: "Exported",
    form: str,
    then: str | None,
    futures: int,
    trust: bool,  # noqa: FBT001 (click passes flags so)
    out: str | None,
) -> None:
    """Write the ledgers and statements of a recorded episode, its series, or its decisions.

    The episode is played again for it, from the answers on record.

    --advantages adds how much higher the mean score is with each decision than with that of a
    policy, which plays on after both; with the interval.

    The format trace holds all events, decisions and ledger entries for https://ui.perfetto.dev. A
    record that was cut is exported as of its last decision. Existing files are never overwritten.
    """
    from desim.episodes.export import export, export_folder
    from desim.records.episode import Episode
    from desim.records.seat_file import seat_path

    folder = Path(out or export_folder(record))
    if form == "trace":
        click.echo(_trace(record, folder, what, trust=trust))
        return
    episode = Episode.read(record, whole=False, keep_steps=False)
    seat = seat_path(record)
    further: dict[str, list[float | None]] = {}
    if then is not None:
        if what != "decisions":
            raise click.UsageError("--advantages goes with --what decisions")
        further = _advantages(record, then, futures, len(episode.steps), trust=trust)
    for file in export(episode, form, folder, what=what, trust=trust, seat=seat, further=further):
        click.echo(file)
    if episode.result is None:
        click.echo(
            f"{record} was cut: the files hold the {what} up to its last whole decision, "
            f"number {len(episode.steps)}",
            err=True,
        )


def _advantages(
    record: str, then: str, futures: int, decisions: int, *, trust: bool
) -> dict[str, list[float | None]]:
    from desim.catalog.policy_spec import read_policies
    from desim.studies.decisions.advantages import advantages

    found = advantages(record, read_policies((then,)), futures=futures, trust=trust)
    return found.columns(decisions)


def _trace(record: str, folder: Path, what: str, *, trust: bool) -> Path:
    from desim.episodes.export import write_trace

    if what != "ledgers":
        raise click.UsageError(f"--what {what} has no trace; leave it out, or --format trace")
    return write_trace(record, folder / "trace.json.gz", trust=trust)
