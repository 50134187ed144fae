"""What a model and a policy say of themselves: deterministic, knowing, drawing."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from attrs import frozen
from support.small_worlds import Seer, Still, Stride, Walk

from desim.core.policy import is_drawing, knows
from desim.core.roles import Knowledge
from desim.episodes.lineup import lineup_knows
from desim.errors import UsageError
from models.beer_game import BeerGame
from policies.chance import Random
from policies.greedy import Greedy


@frozen
class Blinded(Seer):
    """Knows less than the class it is made from."""

    knows = "observation"


@frozen
class Forecasts(Seer):
    """Knows more than the class it is made from."""

    knows = "future"


@frozen
class Levels(Stride):
    """Knows more where its size is given."""

    knows_by: ClassVar[Mapping[str, Knowledge]] = {"size": "rules"}


@frozen
class Wrong(Stride):
    """Declares a level that does not exist."""

    knows = "everything"


class WrongBy(Stride):
    """Declares a level of an argument that does not exist."""

    knows_by: ClassVar[Any] = {"size": "rulez"}


class WrongList(Stride):
    """Declares a list of levels."""

    knows: Any = ["rules"]  # noqa: RUF012 (wrong on purpose)


def seer(_spot: object) -> Any:
    """Play as a function that is marked below."""


def plain(_spot: object) -> Any:
    """Play as a function without a mark."""


seer.knows = "future"  # type: ignore[attr-defined]


def test_a_model_says_whether_its_draws_depend_on_the_seed() -> None:
    """It depends on the parameters; a model that says nothing counts as one that draws."""
    assert Still().deterministic
    assert not Still(wind=1.0).deterministic
    assert not Walk(wind=0.0).deterministic


def test_a_class_and_its_instances_know_what_it_declares() -> None:
    """A subclass may declare another level."""
    assert knows(Seer) == knows(Seer()) == "state"
    assert knows(Blinded) == knows(Stride) == "observation"
    assert knows(Forecasts) == "future"


def test_an_argument_may_hold_knowledge() -> None:
    """Where it is given."""
    assert knows(Levels) == "observation"
    assert knows(Levels, None, {"size": "3"}) == "rules"
    assert lineup_knows(Walk(), f"{__name__}:Levels,size=3") == "rules"


def test_options_may_hold_knowledge() -> None:
    """Those of the Beer Game use lead times, which no prompt states."""
    assert knows(Greedy, BeerGame()) == knows(Random, BeerGame()) == "rules"
    assert knows(Greedy, Walk()) == knows(Greedy) == "observation"


def test_a_level_that_does_not_exist_is_refused() -> None:
    """With those that do."""
    with pytest.raises(UsageError, match="'everything'; possible: observation, rules, state, fut"):
        knows(Wrong)
    with pytest.raises(UsageError, match="knows='rulez'; possible: observation, rules, state, fut"):
        knows(WrongBy)
    with pytest.raises(UsageError, match=r"knows=\['rules'\]; possible: observation, rules"):
        knows(WrongList)


def test_each_function_has_its_own_mark() -> None:
    """All functions are of one class, and only some declare something."""
    assert knows(seer) == "future"
    assert knows(plain) == "observation"


def test_a_policy_that_draws_is_marked() -> None:
    """The generic `random` is."""
    assert is_drawing(Random)
    assert not is_drawing(Stride)
