"""The server of a game's page, at an address with a random token."""

import asyncio
import secrets
import socket

from nicegui import app, background_tasks, ui

from desim.errors import UsageError
from desim.ui.comparison import BaselineComparison
from desim.ui.game import Game
from desim.ui.page import Tab, game_name

__all__ = ["serve"]

#: Seconds between attempts to reach the starting server.
_RETRY_SECONDS = 0.02


def serve(game: Game, host: str, port: int, *, show: bool = False) -> None:
    """Serve the page of a game until the process is stopped.

    The address is printed once the page can be opened. Its random token keeps others out.

    Args:
        game: The game.
        host: The host to listen on.
        port: The port to listen on; 0 takes a free one.
        show: Whether to open a browser.

    Raises:
        UsageError: The port cannot be listened on.
    """
    token, port = secrets.token_urlsafe(24), _checked_port(host, port)
    comparison = BaselineComparison(game.model, game.seed, game.seats, game.others)

    @ui.page(f"/{token}", title=f"desim: {game_name(game)}")
    def _page() -> None:
        Tab(game, comparison).build()

    async def announce() -> None:
        await _listening(host, port)
        address = f"http://{_reachable_host(host)}:{port}/{token}"
        print(f"{game_name(game)} is played at {address}", flush=True)  # noqa: T201

    app.on_startup(lambda: background_tasks.create(announce()))
    ui.run(
        host=host,
        port=port,
        show=f"/{token}" if show else False,
        reload=False,
        show_welcome_message=False,
        title="desim",
        language="en-US",
    )


def _checked_port(host: str, port: int) -> int:
    """Return a port that can be listened on: the one given, or a free one for 0.

    Raises:
        UsageError: The port is taken, or the host is not one of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as fault:
            raise UsageError(f"cannot listen on {host} port {port}: {fault.strerror}") from None
        checked: int = probe.getsockname()[1]
        return checked


async def _listening(host: str, port: int) -> None:
    """Wait until the server accepts connections."""
    while True:
        try:
            _, writer = await asyncio.open_connection(_reachable_host(host).strip("[]"), port)
        except OSError:
            await asyncio.sleep(_RETRY_SECONDS)
        else:
            writer.close()
            return


def _reachable_host(host: str) -> str:
    """Return the host part of an address at which this machine reaches a host listened on."""
    every_interface = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 (the user's choice)
    return every_interface.get(host, f"[{host}]" if ":" in host else host)
