"""`desim debrief`: two printed pages about the games of one or several teams."""

import click


@click.command("debrief")
@click.argument("paths", metavar="RECORD...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--out", type=click.Path(), help="The file; default: NAME-debrief.html beside the first RECORD."
)
@click.option("--full", is_flag=True, help="Add the sections of desim report after the two pages.")
@click.option("--force", is_flag=True, help="Replace the file even if it is no report.")
@click.option("--trust", is_flag=True, help="Import and open whatever a record names.")
def command(
    paths: tuple[str, ...],
    out: str | None,
    full: bool,  # noqa: FBT001 (click passes flags so)
    force: bool,  # noqa: FBT001 (click passes flags so)
    trust: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Write one HTML file about the games of several teams, which prints on two A4 pages.

    Each RECORD is the game of one team; all are of one world, and the first one is shown in detail:
    its series on one scale, the amplification of a supply chain's orders, and costs by seat and
    cause. The second page ranks the teams by score, if they had the same preset, seed and seats,
    and states what no seat could know, such as the demand.

    The answers on record are played again for it, without any policy. Nothing that a record names
    is imported or opened without --trust.
    """
    from desim.reports.debrief.debrief_page import write_debrief

    click.echo(write_debrief(paths, out, full=full, force=force, trust=trust))
