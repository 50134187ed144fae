"""An answer that fits no action is refused in the words of the forms."""

from typing import Any

import pytest

from desim import catalog
from desim.errors import WrongAction
from desim.schema import codec
from desim.ui.forms.form import forms
from desim.ui.forms.wrong_answers import refusal_text

ANSWERS = [
    ("beer_game", {"do": "order", "quantity": "many"}, "Quantity (units): type a number of units"),
    ("beer_game", {"do": "order"}, "nothing was typed"),
    ("beer_game", {"do": "order", "pounds": 3}, "Order has no 'pounds'; Possible: quantity"),
    ("beer_game", {"do": "odrer"}, "there is no action 'odrer'; did you mean 'order'?"),
    ("beer_game", {"do": {"x": 1}}, "an answer names its action"),
    ("beer_game", [1], "an answer names its action"),
    ("beer_game", {"do": "order", "quantity": {"a": 1}}, "a 1 was typed"),
    (
        "yc_bench",
        {"do": "finance_ledger", "from_date": "5"},
        "From date: type a text of this form: First day, MM/DD/YYYY; '5' was typed",
    ),
    (
        "yc_bench",
        {"do": "market_browse", "domain": "beer"},
        "Domain: type one of data_environment, inference, research, training",
    ),
    (
        "yc_bench",
        {"do": "scratchpad_append", "content": "x" * 200_000},
        "Content: type a text of at most 100,000 characters",
    ),
    ("enterprise", {"do": "transfer", "department": "moon", "amount": 1.0}, "Department: type"),
]


@pytest.mark.parametrize(("model", "given", "text"), ANSWERS)
def test_a_refusal_says_what_may_be_typed(model: str, given: Any, text: str) -> None:
    """It holds no path, no braces, and no name of a class, and is short."""
    role = next(iter(catalog.model(model).roles.values()))
    actions = codec(role.action)
    with pytest.raises(WrongAction) as refused:
        actions.take(given)
    said = refusal_text(forms(role), given, refused.value)
    assert text in said
    assert len(said) < 500
    assert [sign for sign in ("{", "$.", "`") if sign in said] == []
    assert [cls.__name__ for cls in actions.classes.values() if f"{cls.__name__} or" in said] == []


def test_a_refusal_without_a_name_lists_all_values() -> None:
    """Such as that of a check of several fields together."""
    role = catalog.model("enterprise").roles["controller"]
    given = {"do": "transfer", "department": "plant", "amount": 1.0}
    said = refusal_text(forms(role), given, WrongAction("both are odd"))
    assert said.startswith("Transfer does not take these values. It takes Department: one of")
