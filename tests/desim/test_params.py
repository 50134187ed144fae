"""Values from text, presets, and the nearest of them."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import pytest
from attrs import asdict, field, frozen
from attrs.validators import ge
from hypothesis import given
from hypothesis import strategies as st

from desim.errors import UsageError
from desim.params import (
    changed,
    from_preset,
    nearest_preset,
    presets,
    read_arguments,
    read_value,
)


@frozen(kw_only=True)
class Shop:
    """A model's parameters."""

    days: int = field(default=5, validator=ge(1))
    price: float = 1.5
    name: str = "corner"
    goods: tuple[str, ...] = ("tea",)
    _tax: int = 0

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "small": {},
        "large": {"days": 50, "price": 9.0, "goods": ["tea", "rum"]},
        "long": {"days": 50},
    }


@frozen
class Bare:
    """Parameters without presets."""

    n: int = 0


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("7", int, 7),
        ("-7", int, -7),
        ("1_000_000", int, 1_000_000),
        ("12345678901234567890123", int, 12345678901234567890123),
        ("7", float, 7.0),
        ("1_000.25", float, 1000.25),
        ("1e3", float, 1000.0),
        ("-.5", float, -0.5),
        ("true", bool, True),
        ("FALSE", bool, False),
        ("7", str, "7"),
        ("007", str, "007"),
        ("true", str, "true"),
        ("none", str, "none"),
        ("", str, ""),
        ("[1]", str, "[1]"),
        ("none", int | None, None),
        ("None", float | None, None),
        ("null", str | None, None),
        ("nobody", str | None, "nobody"),
        ("7", int | None, 7),
        ("7", int | float, 7),
        ("7.5", int | float, 7.5),
        ("7", int | str, 7),
        ("seven", int | str, "seven"),
        ("7.5", float | str, 7.5),
        ("true", bool | str, True),
        ("[1, 2]", list[int], [1, 2]),
        ("[1, 2]", tuple[float, ...], (1.0, 2.0)),
        ('["a", "b"]', tuple[str, ...], ("a", "b")),
        ('[1, "a"]', tuple[int, str], (1, "a")),
        ('{"a": 1}', dict[str, int], {"a": 1}),
        ("b", Literal["a", "b"], "b"),
        ("1", Literal["1", "2"], "1"),
        ("1", Any, 1),
        ("one", Any, "one"),
        ("[1]", Any, [1]),
    ],
    ids=repr,
)
def test_a_text_becomes_a_value_of_its_type(text: str, kind: Any, expected: Any) -> None:
    """The type is exact too: 7 for a float is 7.0."""
    value = read_value(text, kind)
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "kind", "called"),
    [
        ("x", int, "a whole number"),
        ("", int, "a whole number"),
        ("1.5", int, "a whole number"),
        ("1.0", int, "a whole number"),
        ("true", int, "a whole number"),
        ("1__0", int, "a whole number"),
        ("0x10", int, "a whole number"),
        ("9" * 5_000, int, "a whole number"),
        ("none", int, "a whole number"),
        ("nan", float, "a finite number"),
        ("inf", float, "a finite number"),
        ("-Infinity", float, "a finite number"),
        ("1e999", float, "a finite number"),
        ("9" * 400, float, "a finite number"),
        ("nan", float | None, "a finite number or none"),
        ("true", float, "a finite number"),
        ("1", bool, "true or false"),
        ("yes", bool, "true or false"),
        ("maybe", int | None, "a whole number or none"),
        ("1,2", tuple[int, ...], "tuple"),
        ("[1, 2.5]", list[int], "list"),
        ("[1, NaN]", list[float], "list"),
        ("[1e999]", list[float], "list"),
        ("{", dict[str, int], "dict"),
        ("c", Literal["a", "b"], "Literal"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_any_other_text_is_refused(text: str, kind: Any, called: str) -> None:
    """The sentence holds the name, the text and what would be possible."""
    with pytest.raises(UsageError) as refused:
        read_value(text, kind, "size")
    assert str(refused.value).startswith(f"size={text} was given; size is ")
    assert called in str(refused.value)


@given(st.integers(-(10**30), 10**30))
def test_every_whole_number_is_read(n: int) -> None:
    """Plain or grouped."""
    assert read_value(str(n), int) == read_value(f"{n:_}", int) == n


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read(x: float) -> None:
    """Exactly, as it is written."""
    assert read_value(repr(x), float) == x


@given(st.text())
def test_every_text_is_itself(text: str) -> None:
    """Where text is wanted nothing is read into it."""
    assert read_value(text, str) == text


def test_a_preset_is_a_model_with_changes() -> None:
    """The first is the default, and further changes go over it."""
    assert presets(Shop) == ("small", "large", "long")
    assert from_preset(Shop) == from_preset(Shop, "small") == Shop()
    assert from_preset(Shop, "long", {"price": 2.0, "tax": 3}) == Shop(days=50, price=2.0, tax=3)
    assert (presets(Bare), from_preset(Bare), from_preset(Bare, "default")) == (
        ("default",),
        Bare(),
        Bare(),
    )


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("larg", {}, "Shop has no preset 'larg'; did you mean 'large'. Possible: small, large"),
        ("xyz", {}, "Shop has no preset 'xyz'; Possible: small, large, long"),
        ("", {"prise": 1.0}, "Shop has no parameter 'prise'; did you mean 'price'"),
        ("", {"days": 0}, "Shop: 'days' must be >= 1: 0"),
        ("", {"days": "x"}, "Shop: '>=' not supported"),
    ],
)
def test_presets_and_changes_are_checked(name: str, changes: dict[str, Any], says: str) -> None:
    """A near miss is suggested."""
    with pytest.raises(UsageError, match=says):
        from_preset(Shop, name, changes)


def test_parameters_are_changed_by_text() -> None:
    """Types are those of the class; the model itself stays as it is."""
    shop = Shop()
    new = changed(shop, {"days": "1_0", "goods": '["rum"]', "tax": "2", "name": "7"})
    assert new == Shop(days=10, goods=("rum",), tax=2, name="7")
    assert shop == changed(shop, {}) == Shop()


@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("day", "1", "Shop has no parameter 'day'; did you mean 'days'"),
        ("qqq", "1", "Shop has no parameter 'qqq'; Possible: days, price, name, goods, tax"),
        ("presets", "{}", "Shop has no parameter 'presets'"),
        ("days", "two", "days=two was given; days is a whole number"),
        ("days", "0", "'days' must be >= 1: 0"),
        ("price", "nan", "price=nan was given; price is a finite number"),
        ("tax", "two", "tax=two was given; tax is a whole number"),
    ],
)
def test_a_wrong_change_is_refused(key: str, text: str, says: str) -> None:
    """By name, by type, by range."""
    with pytest.raises(UsageError, match=says):
        changed(Shop(), {key: text})


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Shop(), "small"),
        (Shop(price=3.0), "small"),
        (Shop(days=50), "long"),
        (Shop(days=50, price=8.0), "long"),
        (Shop(days=50, price=8.0, goods=("tea", "rum")), "large"),
        (Shop(days=50, price=9.0, goods=("tea",), name="x"), "large"),
        (Bare(9), "default"),
    ],
    ids=repr,
)
def test_the_nearest_preset_differs_least(model: Any, expected: str) -> None:
    """Of equals the first; a list in a preset is the tuple it becomes."""
    assert nearest_preset(model) == expected


def test_arguments_are_read_by_the_signature_of_a_function_or_method() -> None:
    """The same for classes without attrs."""

    class Plain:
        def __init__(self, n: int, x: "float" = 0, **rest: str) -> None:
            """Take two numbers."""

    assert read_arguments(Plain, {"n": "3", "x": "4"}) == {"n": 3, "x": 4.0}
    assert read_arguments(asdict, {"recurse": "false"}) == {"recurse": False}
    with pytest.raises(UsageError, match="there is no argument 'm'; Possible: n, x"):
        read_arguments(Plain, {"m": "3"})
    with pytest.raises(UsageError, match="n=x was given"):
        read_arguments(Plain, {"n": "x"})
