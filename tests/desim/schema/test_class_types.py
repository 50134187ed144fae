"""Classes that contain themselves are refused in one sentence."""

from collections.abc import Callable
from typing import Any, Optional

import pytest
from attrs import frozen

from desim import Model, Role, Run, World
from desim.errors import SchemaError
from desim.schema import codec, encode, json_schema, type_check


@frozen
class Plain:
    """A number."""

    n: int = 0


@frozen
class Tree:
    """A tree of itself."""

    kids: tuple["Tree", ...] = ()


@frozen
class Link:
    """A list of itself."""

    next: Optional["Link"] = None


@frozen
class Odd:
    """One half of two classes that contain each other."""

    even: tuple["Even", ...] = ()


@frozen
class Even:
    """The other half."""

    odds: dict[str, Odd]


@frozen
class Unknown:
    """A class with a type that does not exist."""

    part: "Missing" = 0  # type: ignore[name-defined]  # noqa: F821 (that is the point)


@frozen
class Desk(Model[None]):
    """A model with one role."""

    observation: Any
    action: Any

    @property
    def roles(self) -> dict[str, Role]:
        """The clerk."""
        return {"clerk": Role(self.observation, self.action)}

    def begin(self, world: World) -> None:
        """Do nothing."""

    def score(self, state: None) -> float:
        """Return 0."""
        return 0.0

    def metrics(self, state: None) -> dict[str, Any]:
        """Return none."""
        return {}


RECURSIVE = [
    (Tree, "Tree contains itself (Tree -> Tree)"),
    (Link, "Link contains itself (Link -> Link)"),
    (Odd, "Odd contains itself (Odd -> Even -> Odd)"),
]


@pytest.mark.parametrize(("cls", "text"), RECURSIVE)
@pytest.mark.parametrize("as_action", [False, True])
def test_a_model_with_a_recursive_class_does_not_begin(
    cls: type, text: str, *, as_action: bool
) -> None:
    """As an observation, an action, and one of several actions."""
    for model in (
        Desk(*((Plain, cls) if as_action else (cls, Plain))),
        Desk(*((Plain, Plain | cls) if as_action else (tuple[cls, ...], Plain))),  # type: ignore[valid-type]
    ):
        with pytest.raises(SchemaError) as fault:
            Run(model)
        assert str(fault.value).startswith(text)


@pytest.mark.parametrize("use", [json_schema, type_check, codec, lambda cls: encode(cls())])
def test_every_use_of_a_recursive_class_is_refused(use: Callable[[Any], object]) -> None:
    """Also where a schema is printed, or parameters are written."""
    with pytest.raises(SchemaError, match="Tree contains itself"):
        use(Tree)


def test_a_class_that_is_used_twice_is_not_recursive() -> None:
    """Side by side, and at several depths."""

    @frozen
    class Pair:
        left: Plain
        right: Plain
        rest: tuple[tuple[Plain, ...], ...] = ()

    Run(Desk(Pair, Pair))


def test_an_unknown_type_is_named() -> None:
    """Python's own error does not say which class has it."""
    with pytest.raises(SchemaError, match="a field of Unknown is unknown: name 'Missing' is not"):
        Run(Desk(Unknown, Plain))
