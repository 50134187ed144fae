"""Presets, parameters changed by text, and the preset nearest to a model."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from attrs import field, frozen
from attrs.validators import ge
from support.cases import stable

from desim import Model, Role, World
from desim.catalog.changes import changed
from desim.catalog.presets import from_preset, nearest_preset, presets
from desim.errors import UsageError


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


@frozen
class Stall(Model[None]):
    """A user's model with presets."""

    days: int = 5
    price: float = 1.5

    roles: ClassVar[Mapping[str, Role]] = {}
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"small": {}, "long": {"days": 50}}

    def begin(self, world: World) -> None:
        """Start nothing."""

    def score(self, _state: None) -> float:
        """Return nothing of interest."""
        return 0.0

    def metrics(self, _state: None) -> Mapping[str, Any]:
        """Return none."""
        return {}


def test_a_model_of_a_user_has_preset() -> None:
    """The class that it derives from builds presets as `from_preset` does, with the same errors."""
    assert Stall.preset() == Stall()
    assert Stall.preset("long", price=2.0) == from_preset(Stall, "long", {"price": 2.0})
    with pytest.raises(UsageError, match=r"^Stall has no preset 'lung'; did you mean 'long'\?"):
        Stall.preset("lung")


def test_a_preset_is_a_model_with_changes() -> None:
    """The first preset is the default; further changes replace its values."""
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
    """The error suggests a near miss."""
    with pytest.raises(UsageError, match=says):
        from_preset(Shop, name, changes)


def test_parameters_are_changed_by_text() -> None:
    """Texts are read by the types of the class; the model itself does not change."""
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
    """Because of its name, its type or its range."""
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
    ids=stable,
)
def test_the_nearest_preset_differs_least(model: Any, expected: str) -> None:
    """Of equals it is the first; a list in a preset counts as the tuple it becomes."""
    assert nearest_preset(model) == expected
