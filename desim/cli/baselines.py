"""`desim baselines`: a line for each world, or ranked baselines of the presets of worlds."""

from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, field, frozen

from desim.catalog.model_finder import everything
from desim.cli.exit_codes import fail
from desim.cli.options import command
from desim.cli.tables import print_json
from desim.core.limits import Limits
from desim.engine.plan import Row
from desim.errors import UsageError
from desim.rows.notes import failures_text
from desim.show.console import console
from desim.show.table import print_tables
from desim.studies.boards.baselines import (
    OVERVIEW_SEEDS,
    Board,
    Overview,
    boards,
    overview,
)

#: The seeds of boards.
_SEEDS = range(20)


@frozen
class Boards:
    """The models and seeds of the boards.

    Attributes:
        models: Names of models, with or without `/preset`; none for an overview of all worlds.
        seeds: A:B without B, or A,B,...; default 0:20, and 0:5 for the overview.
        every: Print the boards of all presets of all worlds.
        jobs: Worker processes; default: one a core.
        limits: The limits of each episode.
        as_json: Print one line of JSON for each preset; in an overview, for each world.
    """

    models: tuple[str, ...]
    seeds: Sequence[int] | None = field(default=None, kw_only=True)
    every: bool = field(default=False, kw_only=True)
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

    A board ranks every baseline. Policies with the same results on every seed share a line, as in
    a = b. Policies are ranked with those that know as much: observations, constants of the world,
    hidden state, or the future. Where the world's scores are known, `share` is 0 for its floor and
    1 for its bound, or for the best known score.
    """
    if options.every and options.models:
        raise UsageError(f"--all was given with {options.models[0]}; it prints all worlds")
    # All boards take long: lines are printed also where standard error is no terminal.
    how = (options.jobs, True if options.every else None, options.limits)
    rows, faults = list[Row](), list[str]()

    def noted(found: Iterable[Board]) -> Iterator[Board]:
        for board in found:
            rows.extend(board.rows)
            faults.extend(f"{one} in {board.name}" for one in board.faults)
            yield board

    worlds = None
    if options.models or options.every:
        found = boards(everything(options.models), options.seeds or _SEEDS, *how)
    else:
        worlds = overview(options.seeds or OVERVIEW_SEEDS, *how)
        found = iter(worlds.boards)
    _print(noted(found), worlds, as_json=options.as_json)
    if faults:
        fail(f"{', '.join(faults)}: scores more than a bound that no policy can exceed")
    if failed := [row for row in rows if row["error"]]:
        fail(failures_text(failed, len(rows)))


def _print(found: Iterator[Board], worlds: Overview | None, *, as_json: bool) -> None:
    """Print boards as they come, or the overview of all."""
    if as_json:
        for board in found:
            print_json(board.summary())
    elif worlds:
        console().print(evolve(worlds, boards=tuple(found)))
    else:
        print_tables(console(), found)
