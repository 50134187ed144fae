"""Tags at the ends of a record's lines, with which each prefix of it proves who wrote it.

Each line of a record that is written with a key ends with `,"tag":"32 hex"}`: the keyed BLAKE2b of
all lines up to this one, the header first, each without its tag. To alter, remove, exchange or add
a line needs the key; a record that was cut between two lines is still proved. The key of the
BLAKE2b is derived from that of the record and the `id` of its header, so that no two records share
it.
"""

import hashlib
import hmac
from collections.abc import Iterable, Iterator

import msgspec

from desim.errors import BadRecord

_TAG_BYTES = 16
_BEFORE, _BEHIND = b',"tag":"', b'"}\n'
_TAIL = len(_BEFORE) + 2 * _TAG_BYTES + len(_BEHIND)
_TAG = slice(len(_BEFORE) - _TAIL, -len(_BEHIND))

#: Why a record is refused that was cut and has no tags, where a key was given.
UNTAGGED = (
    "the record has no tags, so that nothing proves what is before its cut; go on without the key"
)

#: Told from other uses of the same key.
_PERSON, _USE = b"desim-record", b"desim record line tags 1"


class LineTags:
    """Makes the tags of the lines of one record, in their order.

    Args:
        key: The key of the record.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._mac: hashlib.blake2b | None = None

    def tagged(self, line: bytes) -> bytes:
        """Return the next line, a JSON object with its end, with its tag."""
        if self._mac is None:
            derived = _derived(self._key, _record_id(line))
            self._mac = hashlib.blake2b(key=derived, digest_size=_TAG_BYTES, person=_PERSON)
        self._mac.update(line)
        return b"".join((line[:-2], _BEFORE, self._mac.copy().hexdigest().encode(), _BEHIND))

    def check(self, line: bytes, number: int) -> None:
        """Check the tag of the next line.

        Raises:
            BadRecord: The line has no tag, or not the one that the key gives.
        """
        if not is_tagged(line):
            raise BadRecord(UNTAGGED if number == 1 else _no_tag(number))
        if not hmac.compare_digest(self.tagged(plain_line(line)), line):
            raise BadRecord(
                "the record was not written with this key"
                if number == 1
                else f"line {number} or its place was altered: it does not have the tag of the key"
            )


def is_tagged(line: bytes) -> bool:
    """Return whether a whole line ends with a tag."""
    return line[-_TAIL : _TAG.start] == _BEFORE and line.endswith(_BEHIND)


def tag_of(line: bytes) -> str:
    """Return the tag of a whole line; empty for one without."""
    return line[_TAG].decode() if is_tagged(line) else ""


def untagged(lines: Iterable[bytes], key: bytes | None = None) -> Iterator[bytes]:
    """Yield the lines of a record with their ends and without their tags, if its first has one.

    Args:
        lines: With their ends; a last one without an end is yielded as it is.
        key: Checks each tag before the line is yielded; None checks none.

    Raises:
        BadRecord: A line has no tag although the first has one, or not the one of the key.
    """
    reading = iter(lines)
    first = next(reading, None)
    if first is None:
        return
    if not is_tagged(first):
        yield first
        yield from reading
        return
    tags = LineTags(key) if key is not None else None
    if tags is not None:
        tags.check(first, 1)
    yield plain_line(first)
    for number, line in enumerate(reading, 2):
        if not line.endswith(b"\n"):  # the process was killed while it wrote
            yield line
            return
        if tags is not None:
            tags.check(line, number)
        elif not is_tagged(line):
            raise BadRecord(_no_tag(number))
        yield plain_line(line)


def plain_line(line: bytes) -> bytes:
    """Return a line that has a tag without it."""
    return line[:-_TAIL] + b"}\n"


def _no_tag(number: int) -> str:
    return f"line {number} has no tag, as the first line has one"


class _Identified(msgspec.Struct):
    """The key of a header that identifies its record; a record of format 3 has none."""

    id: str = ""


def _record_id(header: bytes) -> bytes:
    try:
        return msgspec.json.decode(header, type=_Identified).id.encode()
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return b""  # no header, which is refused when it is read


def _derived(key: bytes, record_id: bytes) -> bytes:
    """Return the key of the tags of a record: HKDF-SHA256 without salt."""
    extracted = hmac.digest(bytes(32), key, "sha256")
    return hmac.digest(extracted, _USE + record_id + b"\x01", "sha256")
