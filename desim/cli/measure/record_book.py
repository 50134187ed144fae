"""`desim record-book`: the best known scores, and runs that beat them."""

import click
from attrs import field, frozen

from desim.cli.completion import complete_model
from desim.cli.options import PrintOptions
from desim.cli.options import command as command_of
from desim.episodes.episode_options import TrustOptions


@frozen(kw_only=True)
class NewRuns(TrustOptions):
    """The runs that are entered.

    Attributes:
        records: Whole records of episodes.
        file: The book; default: known_scores.json in the model's folder.
    """

    records: tuple[str, ...] = field(kw_only=False)
    file: str = ""


@frozen
class Listing:
    """The presets that are listed.

    Attributes:
        models: Names of models, with or without `/preset`; none for all.
        file: The book of their model; default: known_scores.json in each model's folder.
    """

    models: tuple[str, ...]
    file: str = field(default="", kw_only=True)


@click.group("record-book")
def command() -> None:
    """Print the best known scores, or enter runs that beat them."""


@command_of(
    "add", without=["params"], records={"nargs": -1, "required": True, "metavar": "RECORD..."}
)
def add(runs: NewRuns) -> None:
    """Enter the run of each RECORD that replays and beats the best known score of its seed.

    The book of a model is the file known_scores.json in its folder. A run of shipped policies is
    entered by their spec; of any other run a record without notes is kept beside the file. Nothing
    that a record names is imported or opened without --trust or --model.
    """
    from desim.errors import DesimError
    from desim.studies.boards.record_book import enter

    faults = []
    for record in runs.records:
        try:
            new = enter(record, runs.file, runs)
        except DesimError as refused:
            faults.append(refused)
            continue
        kept = f"; record {new.now.record}" if new.now.record else ""
        click.echo(
            f"{new.world}, seed {new.seed}: {new.now.best:,.10g} by {new.now.policy}, before "
            f"{new.before:,.10g}; entered in {new.file}{kept}"
        )
    for fault in faults[:-1]:
        click.echo(f"desim: {fault}", err=True)
    if faults:
        raise faults[-1]


@command_of(
    "list",
    models={"nargs": -1, "metavar": "[MODEL[/PRESET]]...", "shell_complete": complete_model},
)
def list_(listing: Listing, printed: PrintOptions) -> None:
    """Print the best known score and the bound of every preset, and the headroom between them."""
    import msgspec

    from desim.show.console import console
    from desim.studies.boards.leaderboard import everything
    from desim.studies.boards.record_book import headroom

    table = headroom(everything(listing.models), listing.file)
    if printed.as_json:
        click.echo(msgspec.json.encode(table.plain()))
    else:
        console().print(table)


command.add_command(add)
command.add_command(list_)
