"""Checks the token, the host and the origin of a request.

A web page that the user opens can send requests to this machine. Its browser names the page's
origin, and a name that resolves to this machine afterwards (DNS rebinding) is in the Host header.
"""

import contextlib
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen

from desim.errors import UsageError

#: The beginning of a path that holds the token, for clients that send no headers of their own.
TOKEN_PATH = "/t/"  # noqa: S105 (no secret)

#: Hosts that listen on all interfaces.
_EVERYWHERE = frozenset(("0.0.0.0", "::", ""))  # noqa: S104 (compared with, not listened on)

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def new_token() -> str:
    """Return a token of 192 random bits."""
    return secrets.token_urlsafe(24)


def checked_token(given: str) -> str:
    """Return a token that can be sent in a header and in a path.

    Raises:
        UsageError: The token has characters other than visible ASCII, or a slash, `?`, `#` or `%`.
    """
    if not (given.isascii() and given.isprintable()) or set(given) & set(" /?#%"):
        raise UsageError(
            "a token consists of visible ASCII characters, without a space and without / ? # %"
        )
    return given


def _names(hosts: Iterable[str]) -> frozenset[str]:
    own = {host.lower() for host in hosts}
    if own & _EVERYWHERE:
        own.add(socket.gethostname().lower())
    return frozenset(own) | frozenset(_LOOPBACK)


@frozen
class Access:
    """The rules by which a request is let in.

    Attributes:
        token: The token of a request, as `Authorization: Bearer TOKEN` or at the beginning of its
            path as `/t/TOKEN`; if empty, requests need no token.
        hosts: The names and addresses under which the server listens; those of loopback are added.
            A server on all interfaces accepts any address, and with a token any name, because a
            page that rebinds its name does not have the token.
    """

    token: str = ""
    hosts: frozenset[str] = field(default=frozenset(), converter=_names)

    def refusal(self, scope: Mapping[str, Any]) -> tuple[int, str] | None:
        """Return the status and the sentence that refuse a request; None lets it in."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if not self._is_known(host):
            return 421, "the header Host names another server"
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if origin and origin not in (f"http://{host}", f"https://{host}"):
            return 403, "the header Origin names a page of another server"
        if self.token and not (self._in_header(headers) or self.prefix(scope)):
            return (
                401,
                "send the header Authorization: Bearer TOKEN, or begin the path with /t/TOKEN",
            )
        return None

    def prefix(self, scope: Mapping[str, Any]) -> str:
        """Return the beginning of a request's path that holds the token; empty without one."""
        begin = TOKEN_PATH + self.token
        path = scope["path"]
        given = path[: len(begin)]
        whole = path[len(begin) :][:1] in ("", "/")
        return begin if self.token and whole and _same(given, begin) else ""

    def _in_header(self, headers: Mapping[bytes, bytes]) -> bool:
        given = headers.get(b"authorization", b"").decode("latin-1")
        return _same(given, f"Bearer {self.token}")

    def _is_known(self, host: str) -> bool:
        name = _without_port(host)
        if name in self.hosts:
            return True
        return bool(self.hosts & _EVERYWHERE) and bool(self.token or _is_address(name))


def _same(given: str, expected: str) -> bool:
    """Compare two texts in a time that does not depend on their content."""
    return hmac.compare_digest(given.encode(), expected.encode())


def _without_port(host: str) -> str:
    """Return the name or address of a Host header: `[::1]:80` is `::1`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False
