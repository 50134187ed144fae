"""`desim baselines`: every baseline on every world, ranked."""

from typing import TYPE_CHECKING

import click

from desim.cli.completion import complete_model
from desim.cli.errors import fail
from desim.cli.options import jobs_option, limit_options

if TYPE_CHECKING:  # commands start fast
    from desim.core.limits import Limits

__all__ = ["command"]


@click.command("baselines")
@click.argument("models", nargs=-1, metavar="[MODEL[/PRESET]]...", shell_complete=complete_model)
@click.option("--seeds", default="0:20", show_default=True, help="A:B without B, or A,B,...")
@jobs_option
@limit_options
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each preset.")
def command(
    models: tuple[str, ...],
    seeds: str,
    jobs: int,
    limits: "Limits | None",
    as_json: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Play and rank every baseline of every preset. With MODEL, only those of that model.

    A policy plays once where all seeds have the same episode. Policies with the same results on
    every seed share a line, as in a = b. Informed policies, which use facts that their role cannot
    observe, are listed apart.
    """
    import msgspec

    from desim.cli.tables import progress_bar
    from desim.sweeps.config import read_seeds
    from desim.sweeps.leaderboard import boards, everything
    from desim.ui.console import console

    names, out = everything(models), console()
    failed = 0
    with progress_bar("baselines") as progress:
        for board in boards(names, read_seeds(seeds), jobs, progress, limits):
            if as_json:
                click.echo(msgspec.json.encode(board.summary()))
            else:
                out.print(board)
                out.print()
            failed += len(board.rows.failed)
    if failed:
        fail(f"{failed} episodes failed; `desim run` shows why")
