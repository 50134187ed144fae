"""The server of a game's page, at an address with a random token."""

import asyncio
import ipaddress
import secrets
import socket
import sys

from nicegui import app, background_tasks, ui

from desim.errors import UsageError
from desim.ui.browser.game_page import Tab, game_name
from desim.ui.game import Game
from desim.ui.game_end import Sitting

#: Seconds between attempts to reach the starting server.
_RETRY_SECONDS = 0.02

_OPEN = "The page listens on {host}: anybody on the network who has this link can play."

#: Hosts that stand for every interface, and addresses set aside for documentation: the route to
#: them is looked up, and nothing is sent.
_EVERY_INTERFACE = {"0.0.0.0": ("127.0.0.1", "192.0.2.1"), "::": ("::1", "2001:db8::1")}  # noqa: S104


def serve(game: Game, host: str, port: int, *, show: bool = False) -> None:
    """Serve the page of a game until the process is stopped.

    The address is printed once the page can be opened. Its random token keeps others out. If other
    machines can reach the page, a warning is printed on standard error.

    Args:
        game: The game.
        host: The host to listen on.
        port: The port to listen on; 0 takes a free one.
        show: Whether to open a browser.

    Raises:
        UsageError: The port cannot be listened on.
    """
    token, port = secrets.token_urlsafe(24), _checked_port(host, port)
    sitting = Sitting(game)

    @ui.page(f"/{token}", title=f"desim: {game_name(game)}")
    def _page() -> None:
        Tab(sitting).build()

    async def announce() -> None:
        await _listening(host, port)
        address = f"http://{_link_host(host)}:{port}/{token}"
        print(f"{game_name(game)} is played at {address}", flush=True)  # noqa: T201
        if not _is_loopback(host):
            print(_OPEN.format(host=host), file=sys.stderr, flush=True)  # noqa: T201

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
            loopback, _ = _EVERY_INTERFACE.get(host, (host, ""))
            _, writer = await asyncio.open_connection(loopback, port)
        except OSError:
            await asyncio.sleep(_RETRY_SECONDS)
        else:
            writer.close()
            return


def _link_host(host: str) -> str:
    """Return the host part of the address of the page, as another machine would write it."""
    named = _own_address(host) if host in _EVERY_INTERFACE else host
    return f"[{named}]" if ":" in named else named


def _own_address(host: str) -> str:
    """Return this machine's address on its network; its name if it has no address there."""
    loopback, elsewhere = _EVERY_INTERFACE[host]
    family = socket.AF_INET6 if ":" in loopback else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((elsewhere, 9))
        except OSError:
            return socket.gethostname()
        address: str = probe.getsockname()[0]
        return address


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
