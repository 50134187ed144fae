"""The calls of language models in a record: what was sent, and what came back.

A policy that calls a model writes three entries to the transcript for a call, before the decision
that it led to:

    {"texts": {ID: MESSAGE or TOOLS, ...}}       texts that its role has not written yet
    {"request": NUMBER, "digest": ..., "messages": [ID, ...], "tools": ID, "fields": {...}}
    {"reply": {...}} or {"no_reply": "..."}

An ID is the beginning of the digest of a text. The digest of a request covers all fields as sent.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, field, frozen

from desim.errors import BadRecord
from desim.records.lines import Step, TranscriptEntry
from desim.records.reader import lines_up_to

#: Hexadecimal digits of the identifier of a text.
_DIGITS = 32

_Objects = tuple[dict[str, Any], ...]

#: Reads each float as its shortest text.
_decode = msgspec.json.Decoder(float_hook=lambda text: repr(float(text))).decode


def canonical_json(value: Any) -> bytes:
    """Return a plain value as JSON: keys sorted, no spaces, a float as its shortest text."""
    return msgspec.json.encode(_decode(msgspec.json.encode(value)), order="sorted")


def digest_of(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of a plain value."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def text_id(value: Any) -> str:
    """Return the identifier of a message or of a list of tools."""
    return digest_of(value)[:_DIGITS]


class RequestEntry(msgspec.Struct):
    """The entry of a request, with the identifiers of its messages and of its list of tools."""

    request: int = 0
    digest: str = ""
    messages: list[str] = []
    tools: str = ""
    fields: dict[str, Any] = {}
    phase: str = "step"


def request_entry(entry: Any) -> RequestEntry:
    """Return the entry of a request; a `BadRecord` if it has another form."""
    try:
        return msgspec.convert(entry, RequestEntry)
    except msgspec.ValidationError as fault:
        raise BadRecord(f"the entry of a request is not readable: {fault}") from None


@frozen
class RecordedCall:
    """One request to a model, as a role's policy sent it, and its outcome.

    Attributes:
        number: That of the request at its seat, from 1.
        decision: The number of the decision that it led to, from 1; None if the record was cut.
        phase: What the call was for: "step", "judge", "memory", "label" or "vectors".
        fields: What was sent beside messages and tools, such as the model and the temperature.
        digest: The SHA-256 of all that was sent.
        failure: The error in place of a reply; both are missing if the process was killed.
    """

    number: int
    role: str
    decision: int | None = None
    phase: str = "step"
    messages: Sequence[Mapping[str, Any]] = ()
    tools: Sequence[Mapping[str, Any]] = ()
    fields: Mapping[str, Any] = field(factory=dict)
    digest: str = ""
    reply: Mapping[str, Any] | None = None
    failure: str = ""


def calls_of(record: str | Path) -> Iterator[RecordedCall]:
    """Yield the calls of a record in the order of decisions; a `BadRecord` if it was altered."""
    texts: dict[str, Any] = {}
    waiting = defaultdict[str, list[RecordedCall]](list)
    decisions = 0
    for line in lines_up_to(Path(record)):
        match line:
            case Step(role=role):
                decisions += 1
                yield from (evolve(call, decision=decisions) for call in waiting.pop(role, ()))
            case TranscriptEntry(entry={"texts": dict(new)}):
                if altered := [key for key, value in new.items() if key != text_id(value)]:
                    raise BadRecord(f"the text {altered[0]!r} of the transcript was altered")
                texts |= new
            case TranscriptEntry(role=role, entry={"request": int(number)} as entry):
                waiting[role].append(_request(number, role, entry, texts))
            case TranscriptEntry(role=role, entry={"reply": dict(reply)}) if waiting[role]:
                waiting[role][-1] = evolve(waiting[role][-1], reply=reply)
            case TranscriptEntry(role=role, entry={"no_reply": str(failure)}) if waiting[role]:
                waiting[role][-1] = evolve(waiting[role][-1], failure=failure)
    yield from chain.from_iterable(waiting.values())


def _request(
    number: int, role: str, entry: Mapping[str, Any], texts: Mapping[str, Any]
) -> RecordedCall:
    form = request_entry(entry)
    try:
        messages = msgspec.convert([texts[key] for key in form.messages], _Objects)
        tools = msgspec.convert(texts[form.tools] if form.tools else [], _Objects)
    except msgspec.ValidationError as fault:
        raise BadRecord(f"request {number} of {role!r} is not readable: {fault}") from None
    except KeyError as fault:
        raise BadRecord(f"request {number} of {role!r} lacks its text {fault}") from None
    return RecordedCall(number, role, None, form.phase, messages, tools, form.fields, form.digest)
