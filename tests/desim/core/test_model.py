"""The base class of models, at the places where a model enters."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, ClassVar

import pytest
from attrs import field, frozen, make_class
from support.small_worlds import Walk

from desim import Model, Role, Run, UsageError, World, catalog, play
from desim.composition import Composite
from desim.core.reported import Time


class Shop:
    """Has the members of a model, and not its base class."""

    roles: Mapping[str, Role] = {}

    def begin(self, _world: World) -> None:
        """Start nothing."""

    def score(self, _state: None) -> float:
        """Return nothing of interest."""
        return 0.0

    def metrics(self, _state: None) -> dict[str, Any]:
        """Return none."""
        return {}


@frozen
class Half(Model[None]):
    """Has no metrics."""

    roles: ClassVar[Mapping[str, Role]] = {}

    def begin(self, world: World) -> None:
        """Start nothing."""

    def score(self, _state: None) -> float:
        """Return nothing of interest."""
        return 0.0


@pytest.mark.parametrize("enter", [Run, play, catalog.model, lambda shop: Composite({"a": shop})])
def test_a_class_without_the_base_is_refused_with_the_line_to_write(
    enter: Callable[[Any], Any],
) -> None:
    """At every place where a model enters."""
    given: Any = Shop()
    with pytest.raises((UsageError, ValueError), match=r"write class Shop\(desim\.Model\)"):
        enter(given)


def test_the_name_of_such_a_class_is_refused_as_well() -> None:
    """With the name that was given."""
    name = f"{__name__}:Shop"
    with pytest.raises(UsageError, match=rf"^{name} is no model: write class Shop\(desim\.Model\)"):
        catalog.model(name)


def test_a_missing_member_is_named() -> None:
    """When the model is built."""
    with pytest.raises(UsageError, match=r"^Half: .* abstract method metrics"):
        catalog.model(Half)


def test_a_class_in_place_of_a_model_is_refused() -> None:
    """A run takes a model, whose parameters are known."""
    cls: Any = Half
    with pytest.raises(UsageError, match="is no model: it is the class of one"):
        Run(cls)


@frozen(slots=False)
class Stated(Half):
    """States members of the base as parameters, in a class without slots."""

    kept: tuple[str, ...] = ("shoes",)
    max_questions_per_tick: int = 5
    deterministic: bool = True

    def metrics(self, _state: None) -> dict[str, Any]:
        """Return none."""
        return {}


def test_a_field_replaces_a_default() -> None:
    """Also in a class without slots, where a property would hide the field."""
    assert Stated(kept=()).kept == ()
    assert (Stated().max_questions_per_tick, Stated().deterministic) == (5, True)
    assert (Stated().models, Stated().series, Stated().time) == ({}, None, Time())


@pytest.mark.parametrize(
    "name", ["redraw", "series", "score", "time", "presets", "roles", "models", "revision"]
)
def test_a_parameter_that_hides_a_method_is_refused(name: str) -> None:
    """Where the class is written; the framework would call its value. A default may be one."""
    may = name in {"models", "revision"}
    text = f"the parameter '{name}' of Hiding hides a member of desim.Model that is no parameter"
    with nullcontext() if may else pytest.raises(UsageError, match=text):
        make_class("Hiding", {name: field(default=1)}, bases=(Half,), frozen=True)


@pytest.mark.parametrize(
    ("member", "value", "text"),
    [
        ("roles", ["vendor"], r"Odd has roles=\['vendor'\]; they are a mapping of names to desim"),
        (
            "roles",
            {"vendor": int},
            r"Odd has roles=\{'vendor': <class 'int'>\}; they are",
        ),
        ("presets", ["town"], r"Odd has presets=\['town'\]; they map names to changed parameters"),
        ("presets", {}, r"Odd has presets=\{\}; they map names"),
    ],
)
def test_a_member_of_another_form_is_refused(member: str, value: Any, text: str) -> None:
    """One sentence with the form that is expected."""
    with pytest.raises(UsageError, match=f"^{text}"):
        play(type("Odd", (Walk,), {member: value}))
