"""The content of a record: what two records of the same episode have in common on any machine.

Left out are the versions of desim, Python and packages, the digests of code, the format
and the tags, and the lines that a resume writes. Two records with the same content are the same
game by the same policies.
"""

import hashlib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from desim.episodes.prefix import first_difference
from desim.errors import BadRecord
from desim.records.line_tags import untagged
from desim.records.lines import ResumedLine
from desim.records.record_file import lines_of
from desim.records.recorder import line_kind
from desim.short_repr import shown

#: Fields of a header that say where an episode was played, by which code, and in which format.
_ENVIRONMENT = ("format", "version", "id", "code")

#: Most resumes of one record: their lines are compared with nothing.
_MOST_RESUMES = 1_000

_decode, _encode = msgspec.json.decode, msgspec.json.Encoder(order="sorted").encode


def content_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a whole record as far as they are its content.

    Raises:
        BadRecord: The file cannot be read, or a line is not a JSON object.
    """
    decisions = resumes = 0
    for number, line in enumerate(untagged(lines_of(path))):
        try:
            kind = line_kind(line)
            if number == 0:
                yield _encode(header_content(_decode(line)))
            elif kind in ("result", "failure"):
                yield _encode({k: v for k, v in _decode(line).items() if not _is_sum(k)})
            elif kind == "resumed":
                resumes += 1
                if (
                    resumes > _MOST_RESUMES
                    or line != msgspec.json.encode(ResumedLine(decisions)) + b"\n"
                ):
                    raise BadRecord(
                        f"{path}: line {number + 1} is no resume after {decisions} decisions, or "
                        f"one of more than {_MOST_RESUMES:,}"
                    )
            else:
                decisions += kind == "decision"
                yield line.rstrip(b"\n")
        except (msgspec.MsgspecError, ValueError, AttributeError, RecursionError):
            raise BadRecord(f"{path}: line {number + 1} is no line of a record") from None


def header_content(header: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a header that every machine writes alike."""
    kept = {key: value for key, value in header.items() if key not in _ENVIRONMENT}
    provenance = kept.pop("provenance", None) or {}
    return {**kept, "revision": provenance.get("revision")}


def content_digest(path: Path) -> str:
    """Return the SHA-256 of the content of a record.

    Raises:
        BadRecord: See `content_lines`.
    """
    found = hashlib.sha256(b"desim record content 1\n")
    for line in content_lines(path):
        found.update(line + b"\n")
    return found.hexdigest()


def check_same(recorded: Path, again: Path) -> None:
    """Compare the contents of two records, the second of which was played now.

    Raises:
        BadRecord: They differ; the text names the first difference.
    """
    pairs = zip_longest(content_lines(recorded), content_lines(again), fillvalue=b"")
    decisions = 0
    for number, (then, now) in enumerate(pairs, 1):
        if then != now:
            raise BadRecord(f"line {number}: {_difference(then, now, decisions + 1)}")
        decisions += b'"line":"decision"' in then[:20]


def _difference(then: bytes, now: bytes, decision: int) -> str:
    """Return what differs between two lines of the same place."""
    before, after = (_decode(line) if line else {} for line in (then, now))
    match before.get("line"), after.get("line"):
        case (None, _):
            return "the record ends, and the episode goes on"
        case (_, None):
            return "the record goes on, and the episode has ended"
        case ("decision", "decision"):
            return _different_decision(before, after, decision)
        case (*_, "transcript") | ("transcript", _):
            return _different_entry(before.get("entry"), after.get("entry"))
    return first_difference(before, after)


def _different_entry(then: Any, now: Any) -> str:
    """Return what differs between two entries of a transcript, of which one may be missing."""
    if _digests(then, now):
        return (
            f"the request {then['request']} has another digest: the prompt is not that of the "
            "entry's method and world"
        )
    if isinstance(then, dict) and "reply" in then:
        return "a reply is on record that no request brings"
    if then is None:
        return "a request is missing that the policy makes"
    return first_difference(then, now)


def _different_decision(before: dict[str, Any], after: dict[str, Any], decision: int) -> str:
    where = f"decision {decision} ({shown(before.get('role'))})"
    if before.get("observation") != after.get("observation"):
        return f"{where} differs: {first_difference(before, after)}"
    if before.get("action") != after.get("action"):
        return (
            f"{where}: the policy decides {shown(after.get('action'))}, on record is "
            f"{shown(before.get('action'))}"
        )
    return f"{where}: {first_difference(before, after)}"


def _digests(then: Any, now: Any) -> bool:
    """Return whether two entries are requests with different digests."""
    both = [each.get("digest") for each in (then, now) if isinstance(each, dict)]
    return len(both) == 2 and None not in both and both[0] != both[1]  # noqa: PLR2004 (then, now)


def _is_sum(key: str) -> bool:
    return key in ("record_digest", "record_hmac", "record_signature")
