"""`desim report`: one HTML file about a sweep, a suite, or recorded episodes."""

import click

__all__ = ["command"]


@click.command("report")
@click.argument("paths", metavar="DIR|RECORD...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--out",
    type=click.Path(),
    help="The file; default: report.html in DIR, or NAME.html beside the first RECORD.",
)
@click.option(
    "--against",
    default="",
    help="Of a sweep: the policy with which the others are compared; default: the best one.",
)
@click.option("--force", is_flag=True, help="Replace the file even if it is no report.")
def command(
    paths: tuple[str, ...],
    out: str | None,
    against: str,
    force: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Write one HTML file that opens offline: tables with intervals, and a figure with each.

    DIR is what `desim sweep --out` or `desim bench --out` wrote; a sweep may be unfinished. Several
    records are shown side by side. Records are read as text: nothing that they name is imported,
    opened or played.
    """
    from desim.reports.report import write_report

    click.echo(write_report(paths, out, against=against, force=force))
