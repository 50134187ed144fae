"""The header of an episode: the fields that its model fills."""

from typing import Any

from attrs import frozen
from support.small_worlds import Walk

from desim.records.lines import Header
from models.beer_game import BeerGame


@frozen
class Listed(Walk):
    """A walk with a parameter that can change."""

    marks: list[int] = []  # noqa: RUF008 (a user's mistake)


def test_the_fields_of_a_model_are_computed_once(monkeypatch: Any) -> None:
    """Comparing the presets takes as long as a week of the Beer Game."""
    model = BeerGame.preset("poisson")
    first = Header.of(model, 1, {})
    monkeypatch.setattr("desim.catalog.nearest_preset", lambda _: "computed again")
    again = Header.of(model, 1, {})
    assert again == first
    assert Header.of(BeerGame.preset("poisson"), 1, {}).preset == "computed again"


def test_a_header_has_parameters_of_its_own() -> None:
    """Changing those of one header changes no other."""
    model = BeerGame()
    header = Header.of(model, 1, {})
    header.params["horizon"] = -1
    assert Header.of(model, 1, {}).params["horizon"] == model.horizon


def test_a_mutable_parameter_is_read_again() -> None:
    """A header states the parameters with which its episode begins."""
    model = Listed(marks=[1])
    assert Header.of(model, 1, {}).params["marks"] == [1]
    model.marks.append(2)
    assert Header.of(model, 1, {}).params["marks"] == [1, 2]
