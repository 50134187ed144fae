"""Parameters inside the parameters of a model are changed by text and by value."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from attrs import field, frozen
from attrs.validators import ge

from desim.catalog.changes import changed
from desim.catalog.presets import from_preset
from desim.errors import UsageError


@frozen
class Shelf:
    """Goods of one kind."""

    good: str = "tea"
    units: int = field(default=3, validator=ge(0))


@frozen
class Market:
    """Where a shop is; its rent is private."""

    fee: float = field(default=2.5, validator=ge(0))
    shelves: tuple[Shelf, ...] = (Shelf(), Shelf("rum"))
    _rent: int = 7
    main: Shelf = field(factory=Shelf)


def _market(given: Any) -> Any:
    return Market(fee=9.0) if given == "dear" else given


@frozen
class Shop:
    """A model's parameters; the text "dear" is a market."""

    days: int = 5
    market: Market | str = field(factory=Market, converter=_market)
    history: tuple[float, ...] | None = None

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"small": {}, "free": {"market.fee": 0.0}}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"market.fee": "4"}, Market(fee=4.0)),
        ({"market.rent": "8"}, Market(rent=8)),
        ({"market.main.units": "8", "market.main.good": "7"}, Market(main=Shelf("7", 8))),
        ({"market.shelves.1.units": "1_0"}, Market(shelves=(Shelf(), Shelf("rum", 10)))),
        ({"market": "dear", "market.rent": "1"}, Market(fee=9.0, rent=1)),
        ({"market.rent": "1", "market": "dear"}, Market(fee=9.0, rent=1)),
    ],
)
def test_a_field_inside_a_parameter_is_changed(texts: dict[str, str], expected: Market) -> None:
    """At any depth, in tuples too; the model and its market do not change."""
    shop = Shop()
    assert changed(shop, {**texts, "days": "6"}) == Shop(6, expected)
    assert shop == Shop()


@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("market.fe", "1", "Shop has no parameter 'market.fe'; did you mean 'market.fee'? Poss"),
        ("markt.fee", "1", "Shop has no parameter 'markt'; did you mean 'market'? Possible: days,"),
        ("market.mai.units", "1", "no parameter 'market.mai'; did you mean 'market.main'"),
        ("market.shelves.2.units", "1", "no parameter 'market.shelves.2'; did you mean"),
        ("market.shelves.0", "1", "market.shelves.0 is an item of a tuple; name a field of it"),
        ("market.fee", "two", "market.fee=two was given; market.fee is a finite number"),
        ("market.fee", "-1", "market: 'fee' must be >= 0: -1"),
        ("market.shelves.0.units", "-1", "market.shelves.0: 'units' must be >= 0: -1"),
        ("days.long", "1", "days.long was given, and days=5 has no parameters inside"),
        ("history.0", "1", "history.0 was given, and history=None has no parameters inside"),
        ("market.", "1", "Shop has no parameter 'market.'; did you mean"),
        (".fee", "1", "Shop has no parameter ''; Possible: days, market, history"),
    ],
)
def test_a_wrong_change_inside_is_refused(key: str, text: str, says: str) -> None:
    """The text names the whole path, what was given and what is possible."""
    with pytest.raises(UsageError) as refused:
        changed(Shop(), {key: text})
    assert str(refused.value).startswith(says) or says in str(refused.value)


def test_values_may_be_given_instead_of_texts() -> None:
    """In Python, and in presets."""
    new = changed(Shop(), {"market.main": Shelf("ale")}, read_texts=False)
    assert new.market == Market(main=Shelf("ale"))
    assert from_preset(Shop, "free").market == Market(fee=0.0)
    assert from_preset(Shop, "free", {"market.fee": 1.0, "days": 2}) == Shop(2, Market(fee=1.0))
    with pytest.raises(UsageError, match=r"no parameter 'market\.fe'; did you mean 'market"):
        from_preset(Shop, "free", {"market.fe": 1.0})
