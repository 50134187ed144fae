"""A server of sealed sessions of a short game, for tests."""

from pathlib import Path
from typing import Any

from desim.schema import TAG, tag, to_plain
from desim.verification.hosting.hosted_session import HostedSession, SealedTurn
from desim.verification.hosting.sealed_host import SealedHost
from desim.verification.sealed.sealed_suite import SealedSuite
from desim.verification.signed.keys import PrivateKey, new_key, read_private

#: Two episodes of five weeks.
SUITE = b"""
seeds = "0:2"
[worlds.game]
model = "beer_game/poisson"
set = { horizon = 5 }
[entries.rule]
policy = "order_up_to"
"""

NUMBER = "ab" * 32


def key_of(folder: Path) -> PrivateKey:
    """Return the key of the server of a folder."""
    pem = folder / "server.pem"
    return read_private(pem) if pem.exists() else new_key("server", folder)


def host_of(folder: Path, content: bytes = SUITE, seconds: int = 3600) -> SealedHost:
    """Return the server of a folder, whose open sessions go on."""
    return SealedHost(folder / "out", SealedSuite.read(content), key_of(folder), seconds)


def opened(host: SealedHost, number: str = NUMBER, **how: str) -> str:
    """Open a session, and return its ticket."""
    return host.opened(host.offer()["says"]["session"], number, **how)[0]


def order(amount: int = 3) -> dict[str, Any]:
    """Return an order."""
    from models.beer_game.actions import Order

    return {TAG: tag(Order), **to_plain(Order(amount))}


def play(session: HostedSession, turn: SealedTurn) -> list[SealedTurn]:
    """Play an episode to its end, and return all turns."""
    turns = [turn]
    while not turns[-1].done:
        turns.append(session.answer(turns[-1].answered, order()))
    return turns


def play_all(host: SealedHost, ticket: str) -> Path:
    """Play a session to its end, and return the folder of its entry."""
    session = host.at(ticket)
    while session.next < 2:
        play(session, session.begin())
    entry = host.close(ticket)
    assert entry is not None
    return entry
