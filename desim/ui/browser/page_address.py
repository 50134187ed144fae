"""The address of a game's page, kept beside the record.

A server that is started again with the same record serves the page at the same address, so that an
open tab and a saved link lead to the game again. The file holds the secret of the address, so it
is written for its owner alone.
"""

import os
import secrets
from pathlib import Path

from attrs import evolve, field, frozen
from attrs.validators import and_, ge, instance_of, le, matches_re

from desim.errors import DesimError, UsageError
from desim.schema import encode, from_plain
from desim.schema.untrusted import decode_json
from desim.show.files import read_regular, write_whole

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
