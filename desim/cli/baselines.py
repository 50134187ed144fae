"""`desim baselines`: a line for each world, or ranked baselines of the presets of worlds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from desim.cli.exit_codes import fail
from desim.cli.options import command
from desim.cli.tables import print_json
from desim.core.limits import Limits
from desim.errors import UsageError
from desim.show.console import console
from desim.show.table import print_tables

if TYPE_CHECKING:  # commands start fast
    from collections.abc import Iterable, Iterator

    from desim.engine.plan import Row
    from desim.studies.boards.baselines import Board
    from desim.studies.boards.overview import NormalisedBoards, Overview


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


@command(
    "baselines",
    every={"option": "--all"},
    models={"nargs": -1, "metavar": "[MODEL[/PRESET]]..."},
)
def baselines_command(options: Boards) -> None:
    """Print every world in a line, or the boards of MODEL.

    A board ranks every baseline. A policy plays once where all seeds have the same episode.
    Policies with the same results on every seed share a line, as in a = b. Policies are ranked with
    those that know as much: observations, constants of the world, hidden state, or the future.
    """
    from desim.rows.failures import failures_text
    from desim.studies.boards.baselines import boards, everything
    from desim.studies.boards.overview import OVERVIEW_SEEDS, normalised_boards, overview

    if options.every and options.models:
        raise UsageError(f"--all was given with {options.models[0]}; it prints all worlds")
    # All boards take long: lines are printed also where standard error is no terminal.
    how = (options.jobs, True if options.every else None, options.limits)
    seeds, as_json, rows = options.seeds or _SEEDS, options.as_json, list[Any]()
    if options.normalised:
        scaled = normalised_boards(everything(options.models), seeds, *how)
        rows += _print_worlds(scaled, as_json=as_json)
        if scaled.faults:
            names = ", ".join(scaled.faults)
            fail(f"{names}: scores more than a bound that no policy can exceed")
    elif options.models or options.every:
        _print_boards(boards(everything(options.models), seeds, *how), rows, as_json=as_json)
    else:
        rows += _print_worlds(overview(options.seeds or OVERVIEW_SEEDS, *how), as_json=as_json)
    if failed := [row for row in rows if row["error"]]:
        fail(failures_text(failed, len(rows)))


def _print_boards(found: "Iterable[Board]", rows: "list[Row]", *, as_json: bool) -> None:
    """Print the board of each preset as it comes, and collect the rows of the episodes."""

    def played() -> "Iterator[Board]":
        for board in found:
            rows.extend(board.rows)
            yield board

    if as_json:
        for board in played():
            print_json(board.summary())
    else:
        print_tables(console(), played())


def _print_worlds(found: "NormalisedBoards | Overview", *, as_json: bool) -> "Sequence[Row]":
    """Print one table of all worlds or presets; return the rows of the episodes."""
    if as_json:
        for line in found.lines():
            print_json(line)
    else:
        console().print(found)
    return found.rows
