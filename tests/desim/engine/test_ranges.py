"""Ranges and choices as texts and as values."""

from collections.abc import Mapping
from typing import Any

import pytest

from desim.engine.parameters import Choices, Range, read_range, read_ranges
from desim.errors import UsageError


def test_texts_of_ranges_and_others() -> None:
    """Only a text of two numbers, or with one of the prefixes, is a range; its text gives it."""
    assert read_range("0.5:2") == read_range(" float:0.5:2") == Range(0.5, 2)
    assert read_range("choice:a | b") == Choices(("a", "b"))
    for text in ("csv:file.csv:demand", "poisson:8", "1:2:3", "a:b", "7", ""):
        assert read_range(text) is None
    for one in (Range(1, 100, "log"), Range(0, 60, "int"), Range(0.5, 2), Choices(("a", "b"))):
        assert read_range(str(one)) == one


def test_ranges_of_a_search_and_other_values() -> None:
    """Each value goes to one of two mappings."""
    given: Mapping[str, Any] = {"a": Range(1, 100, "log"), "b": [1, 2], "c": 3}
    assert read_ranges(given) == ({"a": given["a"]}, {"b": [1, 2], "c": 3})
    with pytest.raises(UsageError, match="size: range 2:1 was given; possible: low:high"):
        read_ranges({"size": "2:1"})


def test_values_are_readable_and_on_the_edge() -> None:
    """Seven digits of the width, of a logarithmic range seven of the value; never outside."""
    assert Range(0, 1).rounded(1 / 3) == 0.333333
    assert Range(1e-6, 1, "log").rounded(1e-4 / 3) == 3.333333e-05
    assert Range(0.1, 0.3).rounded(0.30000000000000004) == 0.3
    for one in (Range(1, 100, "log"), Range(0, 60, "int"), Range(0.1, 2.1)):
        ends = one.value(0.0), one.value(1.0)
        assert ends == (one.low, one.high)
        assert [one.on_edge(value) for value in (*ends, one.value(0.5))] == [True, True, False]
