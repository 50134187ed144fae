"""A number outside its usual range is confirmed by the same answer."""

from typing import Any

import pytest

from desim import catalog
from desim.ui.forms import NUMBERS, Form, forms
from desim.ui.typed_texts import Confirmation, unusual_text

WORLDS = [
    *("beer_game", "consulting", "edt", "edt/interactive", "enterprise"),
    *("enterprise_arena", "reasoning", "yc_bench"),
]


def order_forms() -> tuple[Form, ...]:
    """The forms of the classic game's retailer."""
    return forms(catalog.model("beer_game/classic").roles["retailer"])


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (1e3, "Quantity: 1,000 units is outside the usual 0 to 60. "),
        (-3, "Quantity: -3 units is outside the usual 0 to 60. "),
        (0, ""),
        (60, ""),
        ("many", ""),
        (None, ""),
    ],
)
def test_a_question_names_the_usual_range(quantity: Any, text: str) -> None:
    """There is none inside it, nor about what is no number."""
    asked = unusual_text(order_forms(), {"do": "order", "quantity": quantity})
    assert asked == (text and text + "Give the same answer again to take it all the same.")


def test_money_is_asked_about_in_its_unit() -> None:
    """Five dollars of equity are no request, and cents are shown as dollars."""
    lender = forms(catalog.model("enterprise_arena").roles["cfo"])
    request = {"do": "fund_raising_request", "type": "equity", "amount": 5.0}
    assert unusual_text(lender, request).startswith(
        "Amount: $5 is outside the usual $150,000 to $50,000,000. "
    )
    founder = forms(catalog.model("yc_bench").roles["founder"])
    browse = {"do": "market_browse", "reward_min_cents": 10_000_100}
    assert "$100,001 is outside the usual $0 to $100,000" in unusual_text(founder, browse)


def test_only_the_same_answer_twice_in_a_row_is_taken() -> None:
    """Another unusual one is asked about again, and one that was taken is asked about anew."""
    asked = Confirmation()
    large, larger = ({"do": "order", "quantity": units} for units in (100, 1000))
    questions = [asked.question(order_forms(), each) for each in (large, larger, larger, large)]
    assert [bool(each) for each in questions] == [True, True, False, True]


@pytest.mark.parametrize("model", WORLDS)
def test_every_number_of_an_action_has_a_usual_range(model: str) -> None:
    """An identifier has none."""
    lacking = [
        (name, form.tag, field.name)
        for name, role in catalog.model(model).roles.items()
        for form in forms(role)
        for field in form.fields
        if field.kind in NUMBERS and field.column.kind != "identifier"
        if field.column.usual is None
    ]
    assert lacking == []
