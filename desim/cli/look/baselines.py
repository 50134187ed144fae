"""`desim baselines`: every baseline on every world, ranked."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click
from attrs import field, frozen

from desim.cli.completion import complete_model
from desim.cli.exit_codes import fail
from desim.cli.options import command as command_of
from desim.core.limits import Limits
from desim.errors import UsageError

if TYPE_CHECKING:  # commands start fast
    from collections.abc import Iterator

    from desim.jobs.run.playing import Progress
    from desim.studies.boards.leaderboard import Board


@frozen
class Boards:
    """The models and seeds of the boards.

    Attributes:
        models: Names of models, with or without `/preset`; none for all.
        seeds: A:B without B, or A,B,...; default 0:20.
        normalised: Print all worlds in one table: 0 is a floor, 1 a bound or the best known score.
        different_seeds: Let each policy play seeds of its own, for worlds where shared ones widen
            differences.
        jobs: Worker processes; default: one a core.
        limits: The limits of each episode.
        as_json: Print one line of JSON for each preset.
    """

    models: tuple[str, ...]
    seeds: Sequence[int] = field(default=range(20), kw_only=True)
    normalised: bool = field(default=False, kw_only=True)
    different_seeds: bool = field(default=False, kw_only=True)
    jobs: int = field(default=1, kw_only=True)
    limits: Limits | None = field(default=None, kw_only=True)
    as_json: bool = field(default=False, kw_only=True)


@command_of(
    "baselines",
    models={"nargs": -1, "metavar": "[MODEL[/PRESET]]...", "shell_complete": complete_model},
)
def command(options: Boards) -> None:
    """Play and rank every baseline of every preset. With MODEL, only those of that model.

    A policy plays once where all seeds have the same episode. Policies with the same results on
    every seed share a line, as in a = b. Policies are ranked with those that know as much:
    observations, constants of the world, hidden state, or the future.
    """
    from desim.studies.boards.leaderboard import everything

    if options.normalised and options.different_seeds:
        raise UsageError("--different-seeds belongs to boards without --normalised")
    play = _print_normalised if options.normalised else _print_boards
    failed = play(everything(options.models), options)
    if failed:
        fail(f"{failed} episodes failed; `desim run` shows why")


def _print_boards(names: list[str], options: Boards) -> int:
    """Print a board for each preset, and return how many episodes failed."""
    import msgspec

    from desim.cli.tables import progress_bar
    from desim.show.console import console
    from desim.show.table import print_tables
    from desim.studies.boards.leaderboard import boards

    failed = 0

    def played(progress: "Progress") -> "Iterator[Board]":
        nonlocal failed
        seeds = list(options.seeds)
        shared = not options.different_seeds
        play = partial(boards, names, seeds, options.jobs, progress, options.limits)
        for board in play(shared_seeds=shared):
            failed += len(board.rows.failed)
            yield board

    with progress_bar("baselines") as progress:
        if options.as_json:
            for board in played(progress):
                click.echo(msgspec.json.encode(board.summary()))
        else:
            print_tables(console(), played(progress))
    return failed


def _print_normalised(names: list[str], options: Boards) -> int:
    """Print one table of all presets, and return how many episodes failed."""
    import msgspec

    from desim.cli.tables import progress_bar
    from desim.show.console import console
    from desim.studies.boards.all_worlds import normalised_boards

    with progress_bar("baselines") as progress:
        found = normalised_boards(
            names, list(options.seeds), options.jobs, progress, options.limits
        )
    if options.as_json:
        for line in found.lines():
            click.echo(msgspec.json.encode(line))
    else:
        console().print(found)
    if found.faults:
        fail(f"{', '.join(found.faults)}: scores more than a bound that no policy can exceed")
    return found.failed
