"""Observations are laid out by their schema, and numbers of the past become series."""

from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec
import pytest
from attrs import evolve, frozen
from support.two_questions import Breakdown, Closing

from desim import Role, Run, catalog, play
from desim.records.lines import Step
from desim.schema import plain_observation, to_plain
from desim.show.column import CENTS, SHARE, Column
from desim.ui.browser.decision_charts import answer_marks, chart_options
from desim.ui.history import Series, history
from desim.ui.layout import ValueGroup, action_text, lay_out, time_figure


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
    """An observation.

    Attributes:
        week: Weeks completed.
        cash: Money in the bank.
    """

    week: int
    cash: float
    name: str
    lines: tuple[Line, ...]
    words: tuple[str, ...]
    mail: dict[str, Any]
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
    {"from": "bank", "rates": [{"year": 1, "rate": 0.05}]},
    None,
    "first line\nsecond line",
)


@pytest.mark.parametrize("seen", [DESK, to_plain(DESK)], ids=["instance", "plain"])
def test_an_observation_is_laid_out_in_the_order_of_its_class(seen: Any) -> None:
    """Single values are figures, records tables, long texts blocks, nested mappings groups."""
    section = lay_out(seen, Desk)
    assert [(f.label, f.text) for f in section.figures] == [
        ("Week", "3"),
        ("Cash", "1,234,567.5"),
        ("Name", "North"),
        ("Words", "a, b"),
        ("Reply", "—"),
        ("Ready", "no"),
    ]
    assert section.figures[1].help == "Money in the bank."
    (lines,) = section.tables
    assert (lines.heads, lines.lines) == (("Zeta", "Alpha"), (("z", "0.25"), ("y", "1,000,000")))
    assert lines.left == {0}
    assert section.texts[0].text == "first line\nsecond line"
    (mail,) = section.groups
    assert (mail.label, mail.figures[0].text, mail.tables[0].lines) == (
        "Mail",
        "bank",
        (("1", "0.05"),),
    )


@pytest.mark.parametrize("plain", [False, True])
def test_an_observation_of_several_classes_is_laid_out_as_the_one_that_it_is(
    plain: bool,  # noqa: FBT001
) -> None:
    """With the name and the texts of its class; the tag of a record is left out."""
    kind = Closing | Breakdown
    seen = plain_observation(Breakdown(3, "lathe"), kind) if plain else Breakdown(3, "lathe")
    section = lay_out(seen, kind)
    assert (section.label, section.help) == ("Breakdown", "A machine has failed.")
    assert [(f.label, f.text) for f in section.figures] == [("Day", "3"), ("Machine", "lathe")]
    assert section.figures[1].help == "Its name."
    day = time_figure(seen, kind)
    assert day is not None
    assert (day.label, day.text, day.help) == ("Day", "3", "Days so far.")


def test_the_first_field_is_the_time_figure() -> None:
    """By convention; there is none if the first field is a list."""
    time = time_figure(DESK, Desk)
    assert time is not None
    assert (time.label, time.text, time.help) == ("Week", "3", "Weeks completed.")
    briefing = Run(catalog.model("edt"), 0, ["manager"]).advance()[0]
    assert (
        time_figure(briefing.observation, catalog.model("edt").roles["manager"].observation) is None
    )


def steps(*rows: tuple[int, float, int], plain: bool = False) -> list[Step]:
    """Make decisions from week, cash and units."""
    desks = [Desk(week, cash, "n", (), (), {}, None, "") for week, cash, _ in rows]
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
    """The time itself is the axis; the open decision has no answer yet."""
    past = history(ROLE, steps((1, 5.0, 7), (2, 6.0, 8), plain=plain), DESK)
    assert (past.axis.label, past.axis.values) == ("Week", (1, 2, 3))
    assert [(one.label, one.values) for one in past.series] == [
        ("Your units", (7, 8, None)),
        ("Cash", (5.0, 6.0, 1234567.5)),
    ]
    assert past.points == (1, 2)


def test_decisions_are_numbered_where_time_does_not_move() -> None:
    """Several decisions of one week have a number each."""
    past = history(ROLE, steps((1, 5.0, 7), (1, 6.0, 8)))
    assert (past.axis.label, past.axis.values) == ("Decision", (1, 2))


def test_every_chart_has_both_axes() -> None:
    """A single series has a title with its unit; the axis has numbers at their true distance."""
    past = history(ROLE, steps((1, 5.0, 7), (2, 6.0, 8), (7, 6.0, 8)))
    drawn = [chart_options(together, past.axis, []) for together in past.charts()]
    assert [options["title"]["text"] for options in drawn] == ["Your units", "Cash"]
    assert [options["xAxis"]["name"] for options in drawn] == ["Week", "Week"]
    assert {options["xAxis"]["type"] for options in drawn} == {"value"}
    assert drawn[1]["series"][0]["data"] == [[1, 5.0], [2, 6.0], [7, 6.0]]
    assert msgspec.json.decode(msgspec.json.encode(drawn)) == drawn


@frozen
class Bank:
    """An observation whose time is not its first field."""

    columns: ClassVar[dict[str, Column]] = {
        "month": Column(kind="tick"),
        "cash_cents": CENTS,
        "debt_cents": evolve(CENTS, priority=1),
        "rate": SHARE,
    }

    name: str
    cash_cents: int
    debt_cents: int
    rate: float
    month: int


def test_series_of_one_unit_share_a_chart_with_a_legend() -> None:
    """In the order of their priority; lines differ in dashes as in colour."""
    given = [Step(t, "desk", Bank("b", 100 * t, -t, t / 10, t), Charge(t)) for t in range(3)]
    past = history(Role(Bank, Charge), given)
    assert (past.axis.label, past.axis.values) == ("Month", (0, 1, 2))
    labels = [[one.label for one in together] for together in past.charts()]
    assert labels == [["Debt", "Your fee", "Cash"], ["Rate"]]
    dollars = chart_options(past.charts()[0], past.axis, [])
    assert (dollars["title"]["text"], dollars["legend"]["data"]) == ("Dollars", labels[0])
    assert len({str(line["lineStyle"]["type"]) for line in dollars["series"][:3]}) == 3
    assert past.series[-1] == Series("Rate", (0.0, 10.0, 20.0), "%")


def test_answers_are_marked_where_they_were_given() -> None:
    """Several at one time are one mark; a long text is cut."""
    marks = answer_marks((1, 1, 3), ("Look", "Buy: units 3", "x" * 99))
    assert [point for point, _ in marks] == [1, 3]
    assert marks[0][1] == "2 answers, last Buy: units 3"
    assert len(marks[1][1]) == 60
    options = chart_options([Series("Cash", (1, 2))], Series("Week", (1, 3)), marks)
    assert [one["value"][0] for one in options["series"][-1]["data"]] == [1, 3]


def test_an_action_in_one_line_leaves_out_empty_values() -> None:
    """In the order of the class, for an instance and for a record's tagged object."""
    assert action_text(Buy(1200), Buy) == "Buy: units 1,200"
    assert (
        action_text({"comment": "now", "do": "buy", "units": 3}, Buy) == "Buy: units 3, comment now"
    )


@frozen
class Account:
    """A row of a list.

    Attributes:
        owed_cents: Money owed.
    """

    columns: ClassVar[dict[str, Column]] = {"owed_cents": CENTS}

    owed_cents: int


@frozen
class Office:
    """An observation whose fields have units.

    Attributes:
        funds_cents: Money in the bank.
        rate: Interest.
        waiting: Customers.
        accounts: Rows of a class with columns of its own.
        reply: Untyped values, whose keys have this class's columns.
    """

    columns: ClassVar[dict[str, Column]] = {
        "funds_cents": CENTS,
        "rate": SHARE,
        "waiting": Column("customers", "In the queue"),
        "fee_cents": CENTS,
    }

    funds_cents: int
    rate: float
    waiting: int
    accounts: tuple[Account, ...]
    reply: Any


@frozen
class Charge:
    """An action.

    Attributes:
        fee_cents: Money.
    """

    columns: ClassVar[dict[str, Column]] = {"fee_cents": CENTS}

    fee_cents: int


OFFICE = Office(20_000_000, 0.0265, 3, (Account(5),), {"fee_cents": 250, "rows": [{"rate": 0.5}]})


def test_figures_have_the_units_that_their_classes_declare() -> None:
    """Also in rows, and for the keys of untyped values."""
    group = lay_out(OFFICE, Office)
    assert [(one.label, one.text) for one in group.figures] == [
        ("Funds", "$200,000"),
        ("Rate", "2.65 %"),
        ("In the queue", "3 customers"),
    ]
    (accounts,), (reply,) = group.tables, group.groups
    assert (accounts.heads, accounts.lines[0]) == (("Owed",), ("$0.05",))
    assert [(one.label, one.text) for one in reply.figures] == [("Fee", "$2.50")]
    assert reply.tables[0].lines[0] == ("50 %",)


@pytest.mark.parametrize("model", catalog.models())
def test_no_label_of_a_shipped_world_holds_a_raw_unit(model: str) -> None:
    """Cents are shown in dollars, at every decision of an episode."""
    built = catalog.model(model)
    shown = [
        text
        for step in play(built, "random", 1).steps[:300]
        for text in labels(lay_out(step.observation, built.roles[step.role].observation))
    ]
    assert shown
    assert [text for text in shown if "cents" in text.lower() or text.endswith("pct")] == []


def labels(group: ValueGroup) -> Iterator[str]:
    """Every label and head of a group."""
    yield from (one.label for one in group.figures)
    yield from (head for table in group.tables for head in table.heads)
    for inner in group.groups:
        yield from labels(inner)
