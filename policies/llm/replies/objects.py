"""The JSON objects in a text, whatever surrounds them."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from desim.schema.untrusted import refuse_constant
from policies.llm.replies.lenient import CutJSON, NoJSON, decode_lenient

#: Characters of a text that are searched.
LONGEST = 200_000

#: Opening braces at which decoding is tried; it bounds the time for a text full of them.
_BRACES = 500


def objects(text: str) -> list[dict[str, Any]]:
    """Return the outermost JSON objects of a text in order, whatever surrounds them.

    Single quotes and trailing commas are accepted. Nothing is read from within an object that is
    cut at the end of the text.

    >>> objects('I think {"a": 1} or [{"b": {"c": 2}}].')
    [{'a': 1}, {'b': {'c': 2}}]
    """
    return [found for found, _, _ in object_spans(text[:LONGEST])]


def object_spans(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield the outermost JSON objects with the positions at which they begin and end."""
    at = tries = 0
    while tries < _BRACES and (at := text.find("{", at)) >= 0:
        tries += 1
        try:
            found, end = decode_value(text, at)
        except CutJSON:
            if _begins_object(text, at):
                return
            at += 1
        except NoJSON:
            at += 1
        else:
            yield found, at, end
            at = end


def decode_value(text: str, at: int = 0) -> tuple[Any, int]:
    """Decode the JSON value at a position, by the lenient rules where the strict ones fail.

    Raises:
        CutJSON: The text ends before the value does.
        NoJSON: The text at the position is not a value.
    """
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return decode_lenient(text, at)
    return value, end


def _begins_object(text: str, at: int) -> bool:
    """Return whether a brace is followed by a key in quotes, which a brace in prose is not."""
    return text[at + 1 :].lstrip()[:1] in ("'", '"')


def _without_conflict(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; two different values under one key are refused."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"two values for {key!r}")
        found[key] = value
    return found


_DECODER = json.JSONDecoder(parse_constant=refuse_constant, object_pairs_hook=_without_conflict)
