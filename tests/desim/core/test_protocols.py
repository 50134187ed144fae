"""What a model and a policy say of themselves: deterministic, informed, drawing."""

from typing import Any, ClassVar

from attrs import frozen
from support.small_worlds import Seer, Still, Stride, Walk

from desim.core.model_protocols import (
    is_deterministic,
    offers,
)
from desim.core.policy_protocols import (
    Informed,
    is_drawing,
    is_informed,
    memoryless_roles,
)
from policies.chance import Random
from policies.greedy import Greedy


@frozen
class Blinded(Seer):
    """Says that it is not, unlike the class it is made from."""

    informed: ClassVar[bool] = False


def seer(_spot: object) -> Any:
    """Play as a function that is marked below."""


def plain(_spot: object) -> Any:
    """Play as a function without a mark."""


seer.informed = True  # type: ignore[attr-defined]


def test_a_model_says_whether_its_draws_depend_on_the_seed() -> None:
    """It depends on the parameters; a model that says nothing counts as one that draws."""
    assert is_deterministic(Still())
    assert not is_deterministic(Still(wind=1.0))
    assert not is_deterministic(Walk(wind=0.0))


def test_a_policy_class_and_its_instances_are_marked_alike() -> None:
    """A class without the mark, and one that takes the mark back, are not informed."""
    assert is_informed(Seer)
    assert is_informed(Seer())
    assert not is_informed(Blinded)
    assert not is_informed(Stride)


def test_each_function_has_its_own_mark() -> None:
    """All functions are of one class, and only some are marked."""
    assert is_informed(seer)
    assert not is_informed(plain)
    assert offers(seer, Informed)
    assert not offers(plain, Informed)


def test_a_policy_that_draws_is_marked() -> None:
    """The generic `random` is."""
    assert is_drawing(Random)
    assert not is_drawing(Stride)


def test_a_policy_without_memory_is_marked() -> None:
    """The generic `greedy` is; one that says nothing may remember."""
    policies = {"one": Greedy(lambda _: ()), "other": Stride(1)}
    assert memoryless_roles(policies) == {"one"}
