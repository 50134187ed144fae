"""Values and arguments from text."""

from typing import Any, Literal

import pytest
from attrs import asdict
from hypothesis import given
from hypothesis import strategies as st
from support.cases import stable

from desim.errors import UsageError
from desim.schema.arguments import read_arguments, read_value
from desim.short_repr import shortened


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("7", int, 7),
        ("1_000_000", int, 1_000_000),
        ("12345678901234567890123", int, 12345678901234567890123),
        ("1_000.25", float, 1000.25),
        ("1e3", float, 1000.0),
        ("true", bool, True),
        ("007", str, "007"),
        ("none", str, "none"),
        ("none", int | None, None),
        ("null", str | None, None),
        ("nobody", str | None, "nobody"),
        ("7", int | str, 7),
        ("seven", int | str, "seven"),
        ("[1, 2]", tuple[float, ...], (1.0, 2.0)),
        ('[1, "a"]', tuple[int, str], (1, "a")),
        ('{"a": 1}', dict[str, int], {"a": 1}),
        ("b", Literal["a", "b"], "b"),
        ("1", Any, 1),
    ],
    ids=stable,
)
def test_a_text_becomes_a_value_of_its_type(text: str, kind: Any, expected: Any) -> None:
    """The result has exactly that type: 7 for a float is 7.0."""
    value = read_value(text, kind)
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "kind", "called"),
    [
        ("x", int, "a whole number"),
        ("1.5", int, "a whole number"),
        ("0x10", int, "a whole number"),
        ("9" * 5_000, int, "a whole number"),
        ("nan", float, "a finite number"),
        ("1e999", float, "a finite number"),
        ("nan", float | None, "a finite number or none"),
        ("1", bool, "true or false"),
        ("1,2", tuple[int, ...], "tuple"),
        ("[1, 2.5]", list[int], "list"),
        ("{", dict[str, int], "dict"),
        ("c", Literal["a", "b"], "Literal"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_any_other_text_is_refused(text: str, kind: Any, called: str) -> None:
    """The error holds the name, the text and what is possible."""
    with pytest.raises(UsageError) as refused:
        read_value(text, kind, "size")
    assert str(refused.value).startswith(f"size={shortened(text)} was given; size is ")
    assert called in str(refused.value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read(x: float) -> None:
    """Exactly, from its `repr`."""
    assert read_value(repr(x), float) == x


def test_arguments_are_read_by_the_signature_of_a_function_or_method() -> None:
    """Also of a class that attrs did not make."""

    class Plain:
        def __init__(self, n: int, x: "float" = 0, **rest: str) -> None:
            """Take two numbers."""

    assert read_arguments(Plain, {"n": "3", "x": "4"}) == {"n": 3, "x": 4.0}
    assert read_arguments(asdict, {"recurse": "false"}) == {"recurse": False}
    with pytest.raises(UsageError, match="there is no argument 'm'; Possible: n, x"):
        read_arguments(Plain, {"m": "3"})
    with pytest.raises(UsageError, match="n=x was given"):
        read_arguments(Plain, {"n": "x"})
