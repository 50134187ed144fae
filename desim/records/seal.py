"""The end of a record's last line: a digest of all bytes before it, the lines' tags apart.

The digest is a checksum: it detects damage, but a person who alters a record can recompute it. Who
wrote a record is proved by the tags of its lines, see `line_tags`; older records without tags have
an HMAC-SHA256 of the whole record here, which is still checked.
"""

import hashlib
import hmac
import re
from collections.abc import Callable
from pathlib import Path

from desim.errors import BadRecord, UsageError
from desim.show.files import open_regular

#: The smallest and the largest size of a key.
KEY_BYTES = (16, 4096)

_SEALED = re.compile(
    rb'(.*),"record_digest":"([0-9a-f]{64})"(?:,"record_hmac":"([0-9a-f]{64})")?\}\n', re.DOTALL
)


class Seal:
    """Sums the bytes of a record, and writes or checks the end of its last line.

    Args:
        key: The key of the HMAC at the end of an older record; None for a digest alone.

    Raises:
        UsageError: The key is too short or too long.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._digest = hashlib.sha256()
        self._hmac = None if key is None else hmac.new(check_key(key), digestmod="sha256")
        #: Adds the next bytes; the digest's own method without an HMAC.
        self.add: Callable[[bytes], object] = self._digest.update if key is None else self._add_both

    def sealed(self, line: bytes) -> bytes:
        """Return the last line, a JSON object, with the digest as its last field."""
        start = line[:-1]
        self.add(start)
        return b"".join((start, b',"record_digest":"', self._digest.hexdigest().encode(), b'"}'))

    def check(self, line: bytes) -> None:
        """Check the last line with its end.

        Raises:
            BadRecord: The line has no digest or a wrong one, or lacks the HMAC of the key.
        """
        found = _SEALED.fullmatch(line)
        if found is None:
            raise BadRecord("the record was altered: its last line does not end with a digest")
        start, digest, mac = found.groups()
        self.add(start)
        if digest.decode() != self._digest.hexdigest():
            raise BadRecord(
                "the record was altered: its lines do not have the digest of its last line"
            )
        self._check_hmac(mac)

    def _check_hmac(self, mac: bytes | None) -> None:
        if self._hmac is None:
            return
        if mac is None:
            raise BadRecord("the record proves nothing: it was written without a key")
        if not hmac.compare_digest(mac.decode(), self._hmac.hexdigest()):
            raise BadRecord("the record was not written with this key")

    def _add_both(self, line: bytes) -> None:
        self._digest.update(line)
        assert self._hmac is not None
        self._hmac.update(line)


def read_key(path: str | Path) -> bytes:
    """Return the bytes of a key file.

    Raises:
        UsageError: The key file cannot be read, or is too short or too long.
    """
    try:
        with open_regular(path) as file:
            key = file.read(KEY_BYTES[1] + 1)
    except OSError as fault:
        raise UsageError(f"cannot read the key {path}: {fault.strerror}") from None
    try:
        return check_key(key)
    except UsageError as fault:
        raise UsageError(f"{path}: {fault}") from None


def check_key(key: bytes) -> bytes:
    """Return a key that has an allowed size.

    Raises:
        UsageError: The key is too short or too long.
    """
    least, most = KEY_BYTES
    if not least <= len(key) <= most:
        size = f"{len(key)}" if len(key) <= most else f"more than {most}"
        raise UsageError(f"a key of {size} bytes was given; it has {least} to {most}")
    return key
