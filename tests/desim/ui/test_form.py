"""Forms come from the schema, and typed texts become a tagged object or an error."""

import contextlib
from typing import Any, Literal

import pytest
from attrs import field, frozen
from attrs.validators import ge, le
from hypothesis import given
from hypothesis import strategies as st

from desim import Role, catalog
from desim.errors import UsageError, WrongAction
from desim.schema import codec
from desim.show.column import CENTS, SHARE, Column
from desim.ui.forms import Field, Form, forms
from desim.ui.typed_texts import read_form


@frozen
class Sight:
    """An observation."""

    step: int = 0


@frozen
class Window:
    """A stretch of time."""

    start: int
    end: int


@frozen
class Plan:
    """Plan everything.

    Attributes:
        people: How many.
        pace: How fast.
    """

    people: int = field(validator=[ge(1), le(9)])
    pace: float
    kind: Literal["small", "large"]
    sure: bool
    title: str
    tags: tuple[str, ...]
    days: tuple[int, ...]
    windows: tuple[Window | None, ...]
    anything: Any
    note: str | None = None
    limit: int | None = None
    text: str = "as ever"


@frozen
class Rest:
    """Do nothing."""


ROLE = Role(Sight, Plan | Rest)
TEXTS = {
    "people": "7",
    "pace": "2.5",
    "kind": "large",
    "sure": "yes",
    "title": 'It\'s, "fine"',
    "tags": "a, b",
    "days": "1, 2",
    "windows": '[null, {"start": 1, "end": 2}]',
    "anything": "some words",
    "note": "",
    "limit": "",
    "text": "",
}


def plan() -> Form:
    """The form with everything in it."""
    return forms(ROLE)[0]


def test_a_form_for_each_action_with_its_fields() -> None:
    """Kinds, bounds, texts and defaults are those of the frozen class."""
    first, second = forms(ROLE)
    assert (second.tag, second.label, second.text, second.fields) == (
        "rest",
        "Rest",
        "Do nothing.",
        (),
    )
    kinds = {each.name: each.kind for each in first.fields}
    assert kinds == {
        "people": "integer",
        "pace": "number",
        "kind": "choice",
        "sure": "flag",
        "title": "text",
        "tags": "list",
        "days": "list",
        "windows": "json",
        "anything": "json",
        "note": "text",
        "limit": "integer",
        "text": "text",
    }
    people = first.field("people")
    assert (people.least, people.most, people.text) == (1, 9, "How many.")
    assert people.wanted == "a whole number from 1 to 9"
    assert Field("cash", "number", most=1.5e6).wanted == "a number up to 1,500,000"
    assert set(first.field("kind").choices) == {"small", "large"}
    assert first.field("limit").nullable
    assert not first.field("text").required


def test_texts_become_a_tagged_object() -> None:
    """Empty fields are left to the action's own defaults."""
    assert read_form(plan(), TEXTS) == {
        "do": "plan",
        "people": 7,
        "pace": 2.5,
        "kind": "large",
        "sure": True,
        "title": 'It\'s, "fine"',
        "tags": ["a", "b"],
        "days": [1, 2],
        "windows": [None, {"start": 1, "end": 2}],
        "anything": "some words",
    }


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("1,000", "'1,000' was typed"),
        ("many", "'many' was typed"),
        (" ", "nothing was typed"),
        ("2.5", "'2.5' was typed"),
        ("0", "'0' was typed"),
        ("1e999", "'1e999' was typed"),
        ("nan", "'nan' was typed"),
    ],
)
def test_a_number_that_does_not_fit_is_refused_in_words(typed: str, text: str) -> None:
    """The sentence says what may be typed, and names no class and no path."""
    with pytest.raises(WrongAction) as refused:
        read_form(plan(), {**TEXTS, "people": typed})
    assert str(refused.value) == f"People: type a whole number from 1 to 9; {text}"


def test_broken_json_and_unknown_fields_are_refused() -> None:
    """The error names the field."""
    with pytest.raises(
        WrongAction, match="Windows: type a value in JSON; Input data was truncated"
    ):
        read_form(plan(), {"windows": "[1,"})
    with pytest.raises(UsageError, match="did you mean 'pace'"):
        read_form(plan(), {"pase": "1"})


def test_a_form_names_the_unit_of_its_values() -> None:
    """In the label, and in the sentence about what may be typed."""
    (order,) = forms(catalog.model("beer_game").roles["retailer"])
    assert order.fields[0].label == "Quantity (units)"
    assert order.fields[0].wanted.startswith("a number of units")
    weeks = Field("weeks", "integer", least=0, column=Column("weeks"))
    assert weeks.wanted == "a whole number of weeks from 0 on"
    assert Field("share", "number", most=1).wanted == "a number up to 1"


@pytest.mark.parametrize(
    ("typed", "cents"), [("20,000", 2_000_000), ("$19.99", 1_999), ("1e3", 100_000)]
)
def test_money_is_typed_in_the_unit_that_is_shown(typed: str, cents: int) -> None:
    """The action holds it in its own, and neither label nor key names that one."""
    form = money_form()
    (amount,) = form.fields
    assert (amount.key, amount.label) == ("least", "Least (dollars)")
    assert amount.wanted.endswith("from 0 on")
    assert read_form(form, {"least": typed}) == {"do": "find", "least_cents": cents}


@pytest.mark.parametrize(("typed", "share"), [("0.4", 0.4), ("40 %", 0.4), ("40%", 0.4), ("1", 1)])
def test_a_share_is_typed_as_a_share_or_in_percent(typed: str, share: float) -> None:
    """A number without the sign is a share of 1."""
    form = Form("mix", "", (Field("malt", "number", least=0, most=1, column=SHARE),))
    assert read_form(form, {"malt": typed})["malt"] == share
    with pytest.raises(WrongAction, match=r"Malt: type a share such as 0.4 or 40 % from 0 to 1"):
        read_form(form, {"malt": "40"})


def money_form() -> Form:
    """A form with an amount in cents."""
    return Form("find", "", (Field("least_cents", "integer", least=0, column=CENTS),))


@given(st.text())
def test_nothing_that_is_typed_raises_anything_else(text: str) -> None:
    """Any text in any field is an action for the codec, or raises WrongAction."""
    for each in plan().fields:
        with contextlib.suppress(WrongAction):
            codec(ROLE.action).take(read_form(plan(), {**TEXTS, "people": "1", each.name: text}))
