"""Names, numbers and values as people read them."""

from typing import Any

import pytest

from desim.show.labels import (
    class_text,
    dollars_text,
    label_text,
    number_text,
    value_text,
)


def test_zero_has_no_sign() -> None:
    """A value of minus zero is written as 0, and whole floats have no decimals."""
    assert [value_text(value) for value in (-0.0, 0.0, -12.0, 1e6)] == [
        "0",
        "0",
        "-12",
        "1,000,000",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1_000_000, "1,000,000"),
        (-0.123456, "-0.123456"),
        (12345.678, "12,345.68"),
        (2.0, "2"),
        (1e-9, "1e-09"),
        (None, "—"),
        (True, "yes"),
        ([1, 2.5], "1, 2.5"),
        ({"a": [1], "b_c": None}, "a 1, b c —"),
        ([None, {"start": 0, "end": 9}], "—, (start 0, end 9)"),
        ("2025-01-01T09:00:00", "2025-01-01 09:00:00"),
        ("2025-01-01T09:00:00.123456", "2025-01-01 09:00:00"),
        ("2025-01-01T09:00, or so", "2025-01-01T09:00, or so"),
    ],
)
def test_values_as_people_read_them(value: Any, text: str) -> None:
    """Separators in numbers, words for nothing and for yes and no."""
    assert value_text(value) == text


def test_names_as_people_read_them() -> None:
    """Fields and classes become words; the name of a customer stays as it is."""
    names = ("incoming_order", "Vanguard ML", "McKay", "VIX", "x")
    labels = ["Incoming order", "Vanguard ML", "McKay", "VIX", "X"]
    assert [label_text(name) for name in names] == labels
    assert value_text({"Vanguard ML": 2, "in_stock": 1}) == "Vanguard ML 2, in stock 1"
    classes = [class_text(name) for name in ("SimResume", "YCBench", "beer_game")]
    assert classes == ["Sim resume", "YC bench", "Beer game"]


def test_numbers_keep_the_digits_that_matter() -> None:
    """Six digits below a thousand, cents above, an exponent where thousands would not end."""
    values = (0.28846153, 999.9999, 1440.504, 20_746_967_250.0, 1e18, float("nan"), float("inf"))
    texts = ["0.288462", "1,000", "1,440.5", "20,746,967,250", "1e+18", "nan", "inf"]
    assert [number_text(value) for value in values] == texts


def test_cents_as_dollars() -> None:
    """Always with two decimals."""
    assert (dollars_text(123_450), dollars_text(0)) == ("$1,234.50", "$0.00")
