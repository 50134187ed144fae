"""`desim play`: a person plays, on a page in the browser or in the terminal."""

from typing import Any

import click
from attrs import frozen

from desim.cli.options import SeatOptions, command
from desim.core.model import Model
from desim.episodes.lineup import assign
from desim.errors import UsageError
from desim.ui.game import Game
from desim.ui.terminal import play_in_terminal


@frozen(kw_only=True, slots=False)
class GameOptions(SeatOptions):
    """The game that a person plays, and where.

    Attributes:
        seed: A whole number of at least 0.
        record: The file of your game; continued if it exists.
        practice: Allow decisions to be taken back.
        hints: Show the options with their estimates from the start.
        terminal: Play here in plain text instead of on a page.
        host: Where the page listens.
        port: Default: a free one.
    """

    seed: int = 0
    record: str | None = None
    practice: bool = False
    hints: bool = False
    terminal: bool = False
    host: str = "127.0.0.1"
    port: int = 0


@command(
    "play",
    record={"type": click.Path(dir_okay=False)},
    port={"type": click.IntRange(0, 65535)},
)
def play_command(options: GameOptions) -> None:
    """Play MODEL yourself. The game is a page in the browser, or plain text with --terminal.

    Every answer is recorded at once. The same command continues the game where you stopped.
    """
    world, file = options.build(), options.record or _record_name(options)
    try:
        with Game(
            world,
            options.seed,
            file,
            seats=options.seats,
            others=_policies_of_others(world, options),
            practice=options.practice,
            hints=options.hints,
        ) as game:
            if options.terminal:
                play_in_terminal(game)
            else:
                from desim.ui.browser.page_server import serve

                serve(game, options.host, options.port)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; the same command continues {file}") from None


def _record_name(options: GameOptions) -> str:
    """Return the default name of a game's record."""
    parts = (options.model, options.preset, f"seed{options.seed}")
    name = "-".join(str(part) for part in parts if part)
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name) + ".play.jsonl"


def _policies_of_others(world: Model[Any], options: GameOptions) -> dict[str, Any]:
    """Return the policies of roles that the person does not play.

    Raises:
        UsageError: A spec names no role and the person has none, so both would take the same roles.
    """
    given, seats = options.policies, options.seats
    named = {"": given} if isinstance(given, str) else dict(given or {})
    if (rest := named.pop("", None)) is None:
        return named
    if not seats:
        raise UsageError(
            f"policy {rest!r} names no role; write ROLE={rest}, or name yours (--seat)"
        )
    others = {role: one for role, one in assign(world, rest).items() if role not in seats}
    return others | assign(world, named)
