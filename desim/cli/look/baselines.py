"""`desim baselines`: every baseline on every world, ranked."""

from typing import TYPE_CHECKING

import click

from desim.cli.completion import complete_model
from desim.cli.exit_codes import fail
from desim.cli.options import jobs_option, limit_options

if TYPE_CHECKING:  # commands start fast
    from collections.abc import Iterator

    from desim.core.limits import Limits
    from desim.jobs.run.playing import Progress
    from desim.studies.boards.leaderboard import Board


@click.command("baselines")
@click.argument("models", nargs=-1, metavar="[MODEL[/PRESET]]...", shell_complete=complete_model)
@click.option("--seeds", default="0:20", show_default=True, help="A:B without B, or A,B,...")
@click.option(
    "--normalised",
    is_flag=True,
    help="Print all worlds in one table: 0 is a floor, 1 a bound or the best known score.",
)
@jobs_option
@limit_options
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each preset.")
def command(
    *,
    models: tuple[str, ...],
    seeds: str,
    normalised: bool,
    jobs: int,
    limits: "Limits | None",
    as_json: bool,
) -> None:
    """Play and rank every baseline of every preset. With MODEL, only those of that model.

    A policy plays once where all seeds have the same episode. Policies with the same results on
    every seed share a line, as in a = b. Informed policies, which use facts that their role cannot
    observe, are listed apart.
    """
    from desim.studies.boards.leaderboard import everything
    from desim.studies.sweep_file import read_seeds

    play = _print_normalised if normalised else _print_boards
    failed = play(everything(models), list(read_seeds(seeds)), jobs, limits, as_json=as_json)
    if failed:
        fail(f"{failed} episodes failed; `desim run` shows why")


def _print_boards(
    names: list[str], seeds: list[int], jobs: int, limits: "Limits | None", *, as_json: bool
) -> int:
    """Print a board for each preset, and return how many episodes failed."""
    import msgspec

    from desim.cli.tables import progress_bar
    from desim.show.console import console
    from desim.show.table import print_tables
    from desim.studies.boards.leaderboard import boards

    failed = 0

    def played(progress: "Progress") -> "Iterator[Board]":
        nonlocal failed
        for board in boards(names, seeds, jobs, progress, limits):
            failed += len(board.rows.failed)
            yield board

    with progress_bar("baselines") as progress:
        if as_json:
            for board in played(progress):
                click.echo(msgspec.json.encode(board.summary()))
        else:
            print_tables(console(), played(progress))
    return failed


def _print_normalised(
    names: list[str], seeds: list[int], jobs: int, limits: "Limits | None", *, as_json: bool
) -> int:
    """Print one table of all presets, and return how many episodes failed."""
    import msgspec

    from desim.cli.tables import progress_bar
    from desim.show.console import console
    from desim.studies.boards.all_worlds import normalised_boards

    with progress_bar("baselines") as progress:
        found = normalised_boards(names, seeds, jobs, progress, limits)
    if as_json:
        for line in found.lines():
            click.echo(msgspec.json.encode(line))
    else:
        console().print(found)
    if found.faults:
        fail(f"{', '.join(found.faults)}: scores more than a bound that no policy can exceed")
    return found.failed
