"""Units, kinds and labels of figures, as people read them."""

from typing import ClassVar

import pytest

from desim.show.column import CENTS, DOLLARS, SHARE, Column, columns_of, money_text


@pytest.mark.parametrize(
    ("described", "value", "text"),
    [
        (CENTS, 20_000_000, "$200,000"),
        (CENTS, -1, "-$0.01"),
        (DOLLARS, 0.001, "$0"),
        (DOLLARS, -0.0, "$0"),
        (SHARE, 1, "100 %"),
        (Column("weeks"), True, "yes"),
        (Column("money", kind="money"), 5, "5 money"),
        (CENTS, None, "—"),
        (CENTS, "soon", "soon"),
        (SHARE, float("nan"), "nan %"),
    ],
)
def test_a_value_is_shown_in_its_unit(described: Column, value: object, text: str) -> None:
    """Truth values, texts and missing values have no unit."""
    assert described.text(value) == text


def test_a_cell_below_a_head_with_a_unit_holds_the_number_alone() -> None:
    """Money keeps its sign."""
    assert Column("weeks").text(3, unit=False) == "3"
    assert CENTS.text(300, unit=False) == "$3"


def test_the_values_of_a_mapping_have_the_unit() -> None:
    """Such as funds by month."""
    assert CENTS.text({"2025-01": 300, "2025-02": None}) == "2025-01 $3, 2025-02 —"


def test_a_name_without_the_unit_of_the_value_is_its_key() -> None:
    """A value that is shown in its own unit keeps its name."""
    assert (CENTS.key("funds_cents"), Column().key("per_cents")) == ("funds", "per_cents")


def test_a_usual_range_goes_from_low_to_high() -> None:
    """The error holds both numbers."""
    assert Column(usual=(0, 1)).usual == (0, 1)
    with pytest.raises(ValueError, match="not from 2 to 1"):
        Column(usual=(2, 1))


def test_classes_without_columns_have_none() -> None:
    """Also where an attribute of the name is something else, such as a field."""

    class Board:
        columns: ClassVar[int] = 3

    assert columns_of(Board) == {}
    assert columns_of(int) == {}
    assert money_text(-1234.5) == "-$1,234.50"
