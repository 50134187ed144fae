"""The revision of a world: a number, or for a model with parts the numbers by part."""

from typing import Any, ClassVar

import pytest
from attrs import frozen
from support.small_worlds import Walk

from desim import catalog
from desim.composition import Composite
from desim.core.model import revision_of, revision_text
from models.yc_bench import YCBench


@frozen
class Revised(Walk):
    """A walk whose rules have changed twice."""

    revision: ClassVar[Any] = 3


@frozen
class Parametrised(Walk):
    """A walk with a parameter of that name."""

    revision: str = "b"


def test_a_world_without_a_revision_has_the_first() -> None:
    """A user's world need not declare one."""
    assert revision_of(Walk()) == 1
    assert revision_of(Revised()) == 3


def test_a_parameter_of_that_name_is_no_revision() -> None:
    """The revision belongs to the class."""
    assert revision_of(Parametrised()) == 1


def test_a_composite_has_the_revisions_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of parts are dotted; a revision of the composite itself has the empty name."""
    monkeypatch.setattr(YCBench, "revision", 3)
    inner = Composite({"plant": "beer_game", "startup": "yc_bench"})
    found = revision_of(Composite({"west": inner, "east": "beer_game"}))
    assert found == {"west.plant": 1, "west.startup": 3, "east": 1}
    assert revision_text(found) == "west.plant 1, west.startup 3, east 1"
    monkeypatch.undo()
    own = revision_of(catalog.model("enterprise"))
    assert own == {"": 1, "treasury": 2, "plant": 1, "startup": 2}
    assert revision_text(own) == "1, treasury 2, plant 1, startup 2"


def test_every_shipped_world_declares_its_revision() -> None:
    """A change of its rules has a number to raise."""
    missing = [name for name, cls in catalog.models().items() if not hasattr(cls, "revision")]
    assert missing == []
