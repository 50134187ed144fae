"""A person reads who they are, what they want and what costs them before the first decision."""

import re
from typing import ClassVar

import pytest
from attrs import frozen

from desim import Model, Role, World, catalog
from desim.composition import Composite
from desim.ui.texts import briefing_of, rules_paragraphs

#: Characters of an answer; longer ones need scrolling on a laptop.
LONGEST = 200


@frozen
class Seen:
    """An observation."""


@frozen
class Bake:
    """Bake bread, at a dollar a loaf."""


@frozen
class Bakery(Model[object]):
    """A bakery that opens every morning. It sells bread.

    Attributes:
        days: Length.
    """

    days: int = 3
    roles: ClassVar[dict[str, Role]] = {"baker": Role(Seen, Bake)}

    def begin(self, world: World) -> object:
        """Start nothing."""
        return world

    def score(self, state: object) -> float:
        """Return the dollars in the till."""
        return float(state is None)

    def metrics(self, state: object) -> dict[str, float]:
        """Return nothing."""
        return {"states": float(state is None)}


@pytest.mark.parametrize("model", catalog.models())
def test_every_role_of_every_world_has_five_short_answers(model: str) -> None:
    """Each is a sentence without an unfilled field, in every preset."""
    for preset in catalog.presets(type(catalog.model(model))):
        world = catalog.model(model).preset(preset)
        for role in world.default_roles:
            answers = briefing_of(world, role).answers()
            assert [name for name, _ in answers] == [
                "You are",
                "You want",
                "Costs",
                "It ends",
                "The score",
            ]
            for _, text in answers:
                assert re.fullmatch(r"[^{}]+[.]", text), text
                assert len(text) <= LONGEST, text


def test_a_briefing_has_the_numbers_of_the_parameters() -> None:
    """A change of a cost or of the length is in it."""
    world = catalog.model("beer_game").preset("poisson", horizon=7, backlog_cost=3.5)
    briefing = briefing_of(world, "retailer")
    assert briefing.it_ends == "After 7 weeks."
    assert "a unit owed 3.5" in briefing.it_costs


def test_a_world_without_a_briefing_is_described_by_its_docstrings() -> None:
    """Role, score and action name what they are."""
    briefing = briefing_of(Bakery(), "baker")
    assert briefing.title == "Bakery"
    assert briefing.you_are == "Baker. A bakery that opens every morning."
    assert briefing.it_costs == "Bake bread, at a dollar a loaf."
    assert briefing.score == "The dollars in the till."


def test_the_seat_of_a_part_has_the_briefing_of_its_part() -> None:
    """Its rules name the part that it plays in."""
    group = Composite({"plant": catalog.model("beer_game").preset("poisson")})
    assert briefing_of(group, "plant.retailer").title == "The Beer Game"
    assert "You play 'plant.retailer'." in rules_paragraphs(group, "plant.retailer")
