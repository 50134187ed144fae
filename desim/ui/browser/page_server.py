"""The server of a game's page, at an address with a random token that a restart keeps.

The address is kept beside the record, so that an open tab and a saved link lead to the game again.
"""

import asyncio
import contextlib
import ipaddress
import logging
import os
import secrets
import socket
import sys
from pathlib import Path

from attrs import evolve, field, frozen
from attrs.validators import and_, ge, instance_of, le, matches_re
from nicegui import app, background_tasks, ui

from desim.errors import DesimError, UsageError
from desim.faults import fault_text
from desim.schema import encode, from_plain
from desim.schema.untrusted import decode_json
from desim.short_repr import shortened
from desim.show.files import read_regular, write_whole
from desim.ui.browser.game_page import Tab, game_name
from desim.ui.ending import Sitting
from desim.ui.game import Game

#: Seconds between attempts to reach the starting server.
_RETRY_SECONDS = 0.02

_OPEN = "The page listens on {host}: anybody on the network who has this link can play."

#: Hosts that stand for every interface, and addresses set aside for documentation: the route to
#: them is looked up, and nothing is sent.
_EVERY_INTERFACE = {"0.0.0.0": ("127.0.0.1", "192.0.2.1"), "::": ("::1", "2001:db8::1")}  # noqa: S104


def serve(game: Game, host: str, port: int) -> None:
    """Serve the page of a game until the process is stopped.

    The address is printed once the page can be opened. Its random token keeps others out, and is
    kept beside the record with the port, so that an open tab goes on after a restart. If other
    machines can reach the page, a warning is printed on standard error.

    Args:
        game: The game.
        host: The host to listen on.
        port: The port to listen on; 0 takes the one of the game's last start if that is free, and
            otherwise any free one.

    Raises:
        UsageError: The port cannot be listened on, or the file of the address cannot be used.
    """
    address = kept_address(game.file)
    token, port = address.token, _checked_port(host, port, address.port)
    keep_address(game.file, address, port)
    sitting = Sitting(game)

    @ui.page(f"/{token}", title=f"desim: {game_name(game)}")
    def _page() -> None:
        Tab(sitting).build()

    async def announce() -> None:
        await _listening(host, port)
        link = f"http://{_link_host(host)}:{port}/{token}"
        print(f"{game_name(game)} is played at {link}", flush=True)  # noqa: T201
        if not _is_loopback(host):
            print(_OPEN.format(host=host), file=sys.stderr, flush=True)  # noqa: T201

    # Every click takes a fraction of a second, and the bar has no name for screen readers.
    app.config.quasar_config["loadingBar"]["skipHijack"] = True
    _log_in_lines()
    app.on_startup(lambda: background_tasks.create(announce()))
    ui.run(
        host=host,
        port=port,
        show=False,
        reload=False,
        show_welcome_message=False,
        title="desim",
        language="en-US",
        log_config=None,
    )


class OneLine(logging.Formatter):
    """Writes a message of the page library in one line, with its error and without a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        first, *_ = record.getMessage().splitlines() or [""]
        fault = record.exc_info[1] if record.exc_info else None
        text = f"the page: {first}" + (f": {fault_text(fault)}" if fault else "")
        return "".join(one if one.isprintable() else "?" for one in shortened(text))


def _log_in_lines() -> None:
    """Print messages of the page library, the web server and the event loop in one line each.

    A tab that is closed in the middle of a click, or a stranger's bytes, would otherwise fill the
    terminal of the person who plays with tracebacks.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def _checked_port(host: str, port: int, before: int) -> int:
    """Return a port that can be listened on: the one given; for 0 that of before or a free one."""
    if not port and before:
        with contextlib.suppress(UsageError):
            return _free_port(host, before)
    return _free_port(host, port)


def _free_port(host: str, port: int) -> int:
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


# -- the address, kept beside the record -----------------------------------------------------------


#: Bytes of the file, at most.
_BYTES = 200

_REMOVE = "remove it to play at a new address"


@frozen
class PageAddress:
    """The parts of an address that a restart keeps.

    Attributes:
        token: The path of the page, 24 random bytes in letters, digits, "-" and "_".
        port: The port of the server; 0 before the first start.
    """

    token: str = field(validator=matches_re(r"[A-Za-z0-9_-]{32}"))
    port: int = field(default=0, validator=and_(instance_of(int), ge(0), le(65535)))


def address_file(record: Path) -> Path:
    """Return the file with the address of a record's page."""
    return Path(os.path.realpath(record) + ".address")


def kept_address(record: Path) -> PageAddress:
    """Return the address at which a record was played before, or a new one.

    Raises:
        UsageError: The file cannot be read, or holds something else.
    """
    path = address_file(record)
    try:
        content = read_regular(path, _BYTES)
    except FileNotFoundError:
        return PageAddress(secrets.token_urlsafe(24))
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    try:
        address: PageAddress = from_plain(decode_json(content), PageAddress)
    except (DesimError, ValueError):
        raise UsageError(f"{path} holds no address of a page; {_REMOVE}") from None
    return address


def keep_address(record: Path, address: PageAddress, port: int) -> None:
    """Write the address of a record's page, with the port that the server listens on.

    Raises:
        UsageError: The file cannot be written.
    """
    write_whole(address_file(record), [encode(evolve(address, port=port))], mode=0o600)
