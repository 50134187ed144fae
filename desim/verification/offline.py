"""No connection is made while an entry is verified, whatever it names."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from desim.errors import PolicyFailed

#: Events of Python's audit hooks that precede a connection, or the name of a host being looked up.
_EVENTS = frozenset(
    f"socket.{event}"
    for event in (
        "connect",
        "sendto",
        "sendmsg",
        "bind",
        "getaddrinfo",
        "getnameinfo",
        "gethostbyname",
        "gethostbyaddr",
    )
)

_refused = 0


@contextmanager
def offline() -> Iterator[None]:
    """Refuse every connection of this process in the block.

    Raises:
        PolicyFailed: A connection was tried.
    """
    global _refused  # noqa: PLW0603 (an audit hook stays for good, so it looks here)
    go_offline()
    try:
        yield
    finally:
        _refused -= 1


def go_offline() -> None:
    """Refuse every connection of this process from now on, such as in a worker."""
    global _refused  # noqa: PLW0603 (see `offline`)
    _install()
    _refused += 1


@cache
def _install() -> None:
    sys.addaudithook(_refuse)


def _refuse(event: str, _: Any) -> None:
    if _refused and event in _EVENTS:
        raise PolicyFailed("a connection was tried while an entry was verified; none was made")
