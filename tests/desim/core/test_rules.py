"""Rules in words: every seat has some, with the numbers of the parameters."""

from typing import Any

import pytest
from support.failing_world import Mill

from desim import catalog
from desim.core.model import Model, rules_of, world_rules


@pytest.mark.parametrize("name", sorted(catalog.models()))
def test_every_shipped_world_states_rules_for_every_role(name: str) -> None:
    """They end with the fields of the role's observations."""
    for preset in catalog.presets(catalog.model_class(name)):
        model = catalog.model(name, preset)
        for role in model.roles:
            text = rules_of(model, role)
            assert len(world_rules(model, role)) > 100
            assert "{" not in world_rules(model, role)
            assert "Every observation has these fields:\n- " in text


def test_rules_hold_the_numbers_of_the_parameters() -> None:
    """Other parameters, other rules."""
    cheap = catalog.model("beer_game", "classic", {"backlog_cost": "7.25", "horizon": "11"})
    assert "a unit owed 7.25" in world_rules(cheap, "retailer")
    assert "over 11 weeks" in world_rules(cheap, "retailer")
    few = catalog.model("enterprise_arena", "", {"tool_budget": "3"})
    assert "budget of 3 calls" in world_rules(few, "cfo")


def test_rules_say_what_holds_for_the_preset_and_the_role() -> None:
    """What a parameter leaves out is not mentioned."""
    few = catalog.model("enterprise_arena", "capped")
    assert "at most 50,000,000 dollars" in world_rules(few, "cfo")
    assert "at most" not in world_rules(catalog.model("enterprise_arena", "paper"), "cfo")
    group = catalog.model("enterprise", "small")
    assert "a company that lends nothing" in world_rules(group, "treasury.cfo")
    classic = catalog.model("beer_game", "classic")
    assert "at least 0" not in world_rules(classic, "retailer")
    assert "the first 4 weeks each stage orders 4" in world_rules(classic, "retailer")
    assert "to your right" not in world_rules(classic, "factory")
    strict = catalog.model("edt", "paper")
    assert "is refused with a reason" in world_rules(strict, "manager")


def test_a_part_has_its_own_rules_after_a_sentence_on_the_whole() -> None:
    """A seat of a composite reads what it would read alone."""
    group: Any = catalog.model("enterprise", "small")
    text = world_rules(group, "plant.wholesaler")
    assert text.startswith("One company: ")
    assert world_rules(group.models["plant"], "wholesaler") in text


def test_a_model_without_rules_is_described_by_its_docstring() -> None:
    """The first paragraph of the class."""
    text = "A mill with a miller and, if a policy takes it, a carter who is asked at the same tick."
    assert world_rules(Mill(), "miller") == text


def test_a_model_without_a_docstring_is_not_described_by_its_base_class() -> None:
    """Its name alone; a subclass of a described world has that description."""

    class Silent(Mill):
        __doc__ = None

    bare: Any = type("Bare", (Model,), dict.fromkeys(Model.__abstractmethods__))
    assert world_rules(bare(), "miller") == "Bare"
    assert world_rules(Silent(), "miller").startswith("A mill")
