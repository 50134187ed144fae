"""One content has one sequence of bytes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desim.errors import BadRecord
from desim.verification.signed.canonical import as_decimal, canonical, read_canonical

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))

KEYS = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=5)

#: Values without floats, with keys that RFC 8785 and Python sort alike.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(VALUES)
def test_a_value_is_read_from_its_own_bytes_alone(value: Any) -> None:
    """Other JSON of the same value is refused."""
    content = canonical(value)
    assert read_canonical(content, "it") == value
    other = json.dumps(value, indent=1).encode()
    if other != content:
        with pytest.raises(BadRecord, match="it is not canonical JSON"):
            read_canonical(other, "it")


@pytest.mark.parametrize(
    "value", [1.5, {"a": 2**53}, {"\U0001f600": 1}, 10**400, [b""], "\ud800", {1: 2}]
)
def test_values_of_other_kinds_are_refused(value: Any) -> None:
    """Floats, large numbers, keys with characters beyond U+FFFF, bytes, and half characters."""
    with pytest.raises(BadRecord):
        canonical(value)


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"a":1,"a":1}', b'{"b":1,"a":1}', b"[1.0]", b"NaN", b"[" * 100_000]
)
def test_bytes_of_another_form_are_refused(content: bytes) -> None:
    """Repeated keys, another order, floats, and what is too deep."""
    with pytest.raises(BadRecord, match="the manifest is not canonical JSON"):
        read_canonical(content, "the manifest")


def test_a_decimal_is_written_as_its_shortest_text() -> None:
    """It reads back as the same number."""
    assert as_decimal(0.1) == "0.1"
    assert as_decimal(3) == "3.0"
    assert as_decimal(None) is None


def test_a_number_of_many_digits_is_not_canonical() -> None:
    """It is refused as other bytes are, although it is larger than any float."""
    with pytest.raises(BadRecord, match="it is not canonical JSON"):
        read_canonical(b'{"n":1' + b"0" * 400 + b"}", "it")
