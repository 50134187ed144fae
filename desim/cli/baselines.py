"""`desim baselines`: a line for each world, or ranked baselines of the presets of worlds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from attrs import field, frozen

from desim.cli.completion import complete_model
from desim.cli.exit_codes import fail
from desim.cli.options import command
from desim.core.limits import Limits
from desim.errors import UsageError

if TYPE_CHECKING:  # commands start fast
    from collections.abc import Iterator

    from desim.engine.plan import Row
    from desim.studies.boards.baselines import Board


#: The seeds of boards.
_SEEDS = range(20)


@frozen
class Boards:
    """The models and seeds of the boards.

    Attributes:
        models: Names of models, with or without `/preset`; none for an overview of all worlds.
        seeds: A:B without B, or A,B,...; default 0:20, and 0:5 for the overview.
        every: Print the boards of all presets of all worlds.
        normalised: Print all worlds in one table: 0 is a floor, 1 a bound or the best known score.
        jobs: Worker processes; default: one a core.
        limits: The limits of each episode.
        as_json: Print one line of JSON for each preset; in an overview, for each world.
    """

    models: tuple[str, ...]
    seeds: Sequence[int] | None = field(default=None, kw_only=True)
    every: bool = field(default=False, kw_only=True)
    normalised: bool = field(default=False, kw_only=True)
    jobs: int = field(default=1, kw_only=True)
    limits: Limits | None = field(default=None, kw_only=True)
    as_json: bool = field(default=False, kw_only=True)

    @property
    def progress(self) -> bool | None:
        """Whether lines are printed where standard error is no terminal: all boards take long."""
        return True if self.every else None


@command(
    "baselines",
    every={"option": "--all"},
    models={"nargs": -1, "metavar": "[MODEL[/PRESET]]...", "shell_complete": complete_model},
)
def baselines_command(options: Boards) -> None:
    """Print every world in a line, or with MODEL the boards of its presets.

    A board ranks every baseline. A policy plays once where all seeds have the same episode.
    Policies with the same results on every seed share a line, as in a = b. Policies are ranked with
    those that know as much: observations, constants of the world, hidden state, or the future.
    """
    from desim.rows.failures import failures_text

    if options.every and options.models:
        raise UsageError(f"--all was given with {options.models[0]}; it prints all worlds")
    boards = not options.normalised and (options.models or options.every)
    rows = _print_boards(options) if boards else _print_worlds(options)
    if failed := [row for row in rows if row["error"]]:
        fail(failures_text(failed, len(rows)))


def _print_boards(options: Boards) -> "Sequence[Row]":
    """Print a board for each preset; return the rows of the episodes."""
    import msgspec

    from desim.show.console import console
    from desim.show.table import print_tables
    from desim.studies.boards.baselines import boards, everything

    rows: list[Row] = []

    def played() -> "Iterator[Board]":
        names, seeds = everything(options.models), options.seeds or _SEEDS
        for board in boards(names, seeds, options.jobs, options.progress, options.limits):
            rows.extend(board.rows)
            yield board

    # All boards take minutes, and are printed as they come.
    if options.as_json:
        for board in played():
            click.echo(msgspec.json.encode(board.summary()))
    else:
        print_tables(console(), played())
    return rows


def _print_worlds(options: Boards) -> "Sequence[Row]":
    """Print one table of all worlds or presets; return the rows of the episodes."""
    import msgspec

    from desim.show.console import console
    from desim.studies.boards.baselines import everything
    from desim.studies.boards.overview import OVERVIEW_SEEDS, normalised_boards, overview

    found: Any
    if options.normalised:
        names, seeds = everything(options.models), options.seeds or _SEEDS
        found = normalised_boards(names, seeds, options.jobs, options.progress, options.limits)
    else:
        found = overview(options.seeds or OVERVIEW_SEEDS, options.jobs, limits=options.limits)
    if options.as_json:
        for line in found.lines():
            click.echo(msgspec.json.encode(line))
    else:
        console().print(found)
    if options.normalised and found.faults:
        fail(f"{', '.join(found.faults)}: scores more than a bound that no policy can exceed")
    rows: Sequence[Row] = found.rows
    return rows
