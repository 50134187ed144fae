"""Observations are laid out by their schema, and the past becomes series with axes."""

from typing import Any

import msgspec
import pytest
from attrs import frozen

from desim import Role, Run, Step, catalog
from desim.doors import charts
from desim.doors.figures import answer_line, clock, grid, laid_out
from desim.doors.past import past
from desim.doors.words import humanised, told
from desim.schema import to_plain


@frozen
class Line:
    """A row.

    Attributes:
        zeta: Named to come last in any other order.
    """

    zeta: str
    alpha: float


@frozen
class Desk:
    """What is seen.

    Attributes:
        week: Weeks completed.
        cash: Money in the bank.
    """

    week: int
    cash: float
    name: str
    lines: tuple[Line, ...]
    words: tuple[str, ...]
    mail: str
    reply: dict[str, Any] | None
    memo: str
    ready: bool = False


@frozen
class Buy:
    """Buy something."""

    units: int
    comment: str = ""


ROLE = Role(Desk, Buy)
DESK = Desk(
    3,
    1234567.5,
    "North",
    (Line("z", 0.25), Line("y", 1e6)),
    ("a", "b"),
    '{"from": "bank", "rates": [{"year": 1, "rate": 0.05}]}',
    None,
    "first line\nsecond line",
)


def test_nothing_is_not_less_than_nothing() -> None:
    """A worth of minus zero reads as zero, and whole floats have no decimals."""
    assert [told(value) for value in (-0.0, 0.0, -12.0, 1e6)] == ["0", "0", "-12", "1,000,000"]


@pytest.mark.parametrize("seen", [DESK, to_plain(DESK)], ids=["instance", "plain"])
def test_an_observation_is_laid_out_in_the_order_of_its_class(seen: Any) -> None:
    """Single values are figures, records tables, long texts blocks, nested JSON sections."""
    section = laid_out(seen, Desk)
    assert [(f.label, f.text) for f in section.figures] == [
        ("Week", "3"),
        ("Cash", "1,234,567.50"),
        ("Name", "North"),
        ("Words", "a, b"),
        ("Reply", "\N{EN DASH}"),
        ("Ready", "no"),
    ]
    assert section.figures[1].help == "Money in the bank."
    (lines,) = section.grids
    assert (lines.columns, lines.rows) == (("Zeta", "Alpha"), (("z", "0.25"), ("y", "1,000,000")))
    assert lines.numeric == (False, True)
    assert section.texts[0].text == "first line\nsecond line"
    (mail,) = section.sections
    assert (mail.label, mail.figures[0].text, mail.grids[0].rows) == (
        "Mail",
        "bank",
        (("1", "0.05"),),
    )


def test_the_first_field_is_the_clock() -> None:
    """By custom; where it is a list there is none."""
    time = clock(DESK, Desk)
    assert time is not None
    assert (time.label, time.text, time.help) == ("Week", "3", "Weeks completed.")
    briefing = Run(catalog.model("edt"), 0, ["manager"]).advance()[0]
    assert clock(briefing.observation, catalog.model("edt").roles["manager"].sees) is None


def steps(*rows: tuple[int, float, int], plain: bool = False) -> list[Step]:
    """Make decisions from week, cash and units."""
    desks = [Desk(week, cash, "n", (), (), "", None, "") for week, cash, _ in rows]
    return [
        Step(
            n,
            "r",
            to_plain(desk) if plain else desk,
            {"do": "buy", "units": row[2], "comment": ""} if plain else Buy(row[2]),
        )
        for n, (desk, row) in enumerate(zip(desks, rows, strict=True))
    ]


@pytest.mark.parametrize("plain", [False, True])
def test_numbers_that_vary_are_series_over_the_time(plain: bool) -> None:  # noqa: FBT001
    """The time itself is the axis; the present has no answer yet."""
    told = past(ROLE, steps((1, 5.0, 7), (2, 6.0, 8), plain=plain), DESK)
    assert (told.axis.label, told.axis.values) == ("Week", (1, 2, 3))
    assert [(one.label, one.values) for one in told.series] == [
        ("Cash", (5.0, 6.0, 1234567.5)),
        ("Your units", (7, 8, None)),
    ]


def test_decisions_count_where_time_stands_still() -> None:
    """Several decisions of one week are told apart by their number."""
    told = past(ROLE, steps((1, 5.0, 7), (1, 6.0, 8)))
    assert (told.axis.label, told.axis.values) == ("Decision", (1, 2))


def test_of_several_decisions_at_one_time_the_last_stands() -> None:
    """The present, which has no answer yet, leaves the answers of its time as they are."""
    told = past(ROLE, steps((1, 5.0, 7), (1, 6.0, 8), (3, 7.0, 9)), DESK)
    assert (told.axis.label, told.axis.values) == ("Week", (1, 3))
    assert [one.values for one in told.series] == [(6.0, 1234567.5), (8, 9)]


def test_nothing_is_drawn_of_no_past() -> None:
    """A first decision has no past."""
    assert past(ROLE, []).series == ()
    assert past(ROLE, [], DESK).series == ()


def test_every_small_chart_has_both_axes() -> None:
    """Each series has its own grid, a title, and an axis that says what it counts."""
    told = past(ROLE, steps((1, 5.0, 7), (2, 6.0, 8)))
    options = charts.options(told.series, told.axis)
    assert [title["text"] for title in options["title"]] == ["Cash", "Your units"]
    assert [axis["name"] for axis in options["xAxis"]] == ["Week", "Week"]
    assert [one["yAxisIndex"] for one in options["series"]] == [0, 1]
    assert msgspec.json.decode(msgspec.json.encode(options)) == options


def test_no_chart_overlaps_another() -> None:
    """At most so many are drawn, three side by side."""
    role = Role(Desk, Buy)
    one = past(role, steps((1, 5.0, 7), (2, 6.0, 8))).series[0]
    axis = past(role, steps((1, 5.0, 7), (2, 6.0, 8))).axis
    drawn = charts.options([one] * 20, axis)["grid"]
    places = {(grid["left"], grid["top"]) for grid in drawn}
    assert len(places) == len(drawn) == charts.MOST
    assert max(grid["top"] + grid["height"] for grid in drawn) < charts.height([one] * 20)


def test_an_answer_in_a_line_leaves_out_what_is_not_there() -> None:
    """In the order of the class, whether it was just given or comes from a record."""
    assert answer_line(Buy(1200), Buy) == "Buy: units 1,200"
    assert (
        answer_line({"comment": "now", "do": "buy", "units": 3}, Buy) == "Buy: units 3, comment now"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1_000_000, "1,000,000"),
        (-0.123456, "-0.1235"),
        (12345.678, "12,345.68"),
        (2.0, "2"),
        (1e-9, "1e-09"),
        (None, "\N{EN DASH}"),
        (True, "yes"),
        ([1, 2.5], "1, 2.5"),
        ({"a": [1], "b_c": None}, "a 1, b c \N{EN DASH}"),
        ([None, {"start": 0, "end": 9}], "\N{EN DASH}, (start 0, end 9)"),
        ("2025-01-01T09:00:00", "2025-01-01 09:00:00"),
        ("2025-01-01T09:00:00.123456", "2025-01-01 09:00:00"),
        ("2025-01-01T09:00, or so", "2025-01-01T09:00, or so"),
    ],
)
def test_values_as_people_read_them(value: Any, text: str) -> None:
    """Separators in numbers, words for nothing and for yes and no."""
    assert told(value) == text


def test_names_as_people_read_them() -> None:
    """Fields and classes become words."""
    assert [humanised(name) for name in ("incoming_order", "SimResume", "x")] == [
        "Incoming order",
        "Sim resume",
        "X",
    ]


def test_rows_need_not_have_the_same_keys() -> None:
    """A column is there for every key; what is missing is nothing."""
    table = grid("Mixed", [{"a": 1}, {"b": "x", "a": 2}])
    assert (table.columns, table.rows) == (("A", "B"), (("1", "\N{EN DASH}"), ("2", "x")))
