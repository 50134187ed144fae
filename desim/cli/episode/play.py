"""`desim play`: a person plays, on a page in the browser or in the terminal."""

from typing import TYPE_CHECKING, Any

import click

from desim.cli.completion import complete_role
from desim.cli.options import (
    model_argument,
    policy_option,
    preset_option,
    read_parameters,
    seed_option,
    set_option,
)
from desim.errors import UsageError

if TYPE_CHECKING:  # commands start fast
    from desim.core.model_protocols import Model


@click.command("play")
@model_argument
@preset_option
@set_option
@click.option(
    "--seat",
    "seats",
    multiple=True,
    metavar="ROLE",
    help="A role that you play; default: the model's default roles.",
    shell_complete=complete_role,
)
@policy_option
@seed_option
@click.option(
    "--record",
    type=click.Path(dir_okay=False),
    help="The file of your game; continued if it exists.",
)
@click.option("--practice", is_flag=True, help="Allow decisions to be taken back.")
@click.option("--terminal", is_flag=True, help="Play here in plain text instead of on a page.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where the page listens.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
def command(
    model: str,
    preset: str,
    sets: tuple[str, ...],
    seats: tuple[str, ...],
    specs: tuple[str, ...],
    seed: int,
    record: str | None,
    practice: bool,  # noqa: FBT001 (click passes flags so)
    terminal: bool,  # noqa: FBT001 (click passes flags so)
    host: str,
    port: int,
    show: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Play MODEL yourself. The game is a page in the browser, or plain text with --terminal.

    Every answer is recorded at once. The same command continues the game where you stopped.
    """
    from desim import catalog
    from desim.ui.game import Game

    world = catalog.model(model, preset, read_parameters(sets))
    file = record or _record_name(model, preset, seed)
    others = _policies_of_others(world, specs, seats)
    try:
        with Game(world, seed, file, seats=seats, others=others, practice=practice) as game:
            if terminal:
                from desim.ui.terminal import play_in_terminal

                play_in_terminal(game)
            else:
                _page_server()(game, host, port, show=show)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; the same command continues {file}") from None


def _record_name(model: str, preset: str, seed: int) -> str:
    """Return the default name of a game's record."""
    name = "-".join(part for part in (model, preset, f"seed{seed}") if part)
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name) + ".play.jsonl"


def _policies_of_others(
    world: "Model[Any]", specs: tuple[str, ...], seats: tuple[str, ...]
) -> dict[str, Any]:
    """Read the policies of roles that the person does not play.

    Raises:
        UsageError: A spec names no role and the person has none, so both would take the same roles.
    """
    from desim.catalog.policy_spec import read_policies
    from desim.episodes.lineup import assign

    given = read_policies(specs)
    named = {"": given} if isinstance(given, str) else given
    if "" not in named:
        return named
    if not seats:
        raise UsageError(
            f"policy {named['']!r} names no role; write ROLE={named['']}, or name yours (--seat)"
        )
    explicit = assign(world, {name: one for name, one in named.items() if name})
    every = assign(world, named)
    return {role: one for role, one in every.items() if role in explicit or role not in seats}


def _page_server() -> Any:
    """Import the page, which needs an extra.

    Raises:
        UsageError: NiceGUI is not installed.
    """
    try:
        from desim.ui.browser.page_server import serve
    except ModuleNotFoundError as fault:
        if fault.name != "nicegui":
            raise
        raise UsageError(
            "the page needs NiceGUI: pip install 'desim[play]', or play with --terminal"
        ) from None
    return serve
