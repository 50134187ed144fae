"""`desim report`: one HTML file about a sweep, a suite, or recorded episodes."""

from typing import Any

import click

from desim.cli.arguments import CheckedCommand


@click.command("report", cls=CheckedCommand)
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
@click.option(
    "--minimise",
    default="",
    metavar="NAME",
    help="Of a sweep: report on this figure, lower is better; default: the score.",
)
@click.option("--force", is_flag=True, help="Replace the file even if it is no report.")
@click.option("--trust", is_flag=True, help="Import and open whatever a record names.")
@click.option("--whole", is_flag=True, help="Show every call and text of a conversation.")
def command(
    paths: tuple[str, ...],
    out: str | None,
    against: str,
    minimise: str,
    force: bool,  # noqa: FBT001 (click passes flags so)
    trust: bool,  # noqa: FBT001 (click passes flags so)
    whole: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Write one HTML file that opens offline: tables with intervals, and a figure with each.

    DIR is what `desim sweep --out` or `desim bench --out` wrote; a sweep may be unfinished.

    Of records, which may be cut, the page has the series over time with the decisions marked,
    statements, and each decision. Those of one world and seed are compared: a line each in every
    plot, the differences of their metrics, the first decision that differs. Others have sections of
    their own.

    The calls of language models are shown by decision, each text once, with reasoning, tokens and
    cost. Long texts are cut, and of many calls the first and the last are
    shown; --whole shows all.

    The answers on record are played again for it, without any policy. Nothing that a record names
    is imported or opened without --trust; of one that names something the page has what is on
    record.
    """
    from desim.reports.report import write_report

    how: dict[str, Any] = {"against": against, "minimise": minimise, "force": force}
    click.echo(write_report(paths, out, trust=trust, whole=whole, **how))
