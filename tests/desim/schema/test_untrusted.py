"""JSON from outside is standard JSON of bounded depth, or is refused in one short sentence."""

import json
from typing import Any

import pytest

from desim.schema.untrusted import DEEPEST, check_keys, decode_json

DEEP = f"more than {DEEPEST} levels"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"{", "Expecting property name"),
        (b"\xff", "can't decode byte 0xff"),
        (b"[] []", "Extra data"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": -Infinity}', "Infinity is not a number"),
        (b"1e999", "Number out of range"),
        (b"9" * 5_000, "Exceeds the limit"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' comes twice in one object"),
        (b'{"a": 1, "' + b"b" * 500 + b'": 1, "' + b"b" * 500 + b'": 2}', "comes twice"),
        (b'["\\uD800 ends here"]', "surrogate pair"),
        (b'["\\udfff"]', "surrogate pair"),
        (b"[" * 200_000, DEEP),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), DEEP),
        (b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1), DEEP),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_what_is_not_standard_json_is_refused(text: bytes, says: str) -> None:
    """The sentence says what is wrong, and does not grow with the text."""
    with pytest.raises(ValueError, match=says) as refused:
        decode_json(text)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "value",
    [
        {"a": "[" * 200 + '\\"[' * 200, "b": [1, 2.5, None]},
        {"a": [[1, 2], {"b": [[3]] * 200}]},
        "\U0001f600 \u00e9",
        10**400,
    ],
    ids=["brackets in strings", "many brackets", "escaped characters", "a long whole number"],
)
def test_standard_json_is_decoded(value: Any) -> None:
    """Text and bytes give the same value."""
    text = json.dumps(value)
    assert decode_json(text) == decode_json(text.encode()) == value


def test_the_deepest_text_is_accepted() -> None:
    """One level more is not; a depth is no other fault of a text."""
    text = "[" * DEEPEST + "]" * DEEPEST
    assert len(str(decode_json(text))) == len(text)
    with pytest.raises(ValueError, match=DEEP):
        decode_json(f"[{text}]")


def test_keys_are_checked_without_the_rest() -> None:
    """For typed decoders, which refuse everything else."""
    check_keys(b'{"a": 1e999, "b": {"a": 1}}')
    with pytest.raises(ValueError, match="the key 'a' comes twice"):
        check_keys(b'{"b": {"a": 1, "a": 1}}')
