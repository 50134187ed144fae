"""Functions whose arguments are the fields of an attrs class."""

import inspect
import pickle
from typing import Any

import pytest
from attrs import field, frozen

from desim import play, play_series, replay, resume, select, sweep
from desim.episodes.driver import play_async
from desim.episodes.resume import play_branch
from desim.errors import UsageError
from desim.schema.signatures import given, takes
from desim.studies.regret import regret
from desim.studies.tune import tune
from desim.studies.until import compare

EVERY = (
    play,
    play_async,
    play_series,
    replay,
    resume,
    play_branch,
    sweep,
    compare,
    select,
    tune,
    regret,
)


@frozen(kw_only=True, slots=False)
class Sizes:
    """A shared purpose.

    Attributes:
        width: How wide,
            over two lines.
    """

    width: int = 1


@frozen(kw_only=True, slots=False)
class Box(Sizes):
    """The arguments of a function.

    Attributes:
        name: What it is called.
    """

    name: str = field(kw_only=False)


@takes(Box)
def area(box: Box) -> Any:
    """Return what was given."""
    return box


def test_fields_are_the_arguments_of_the_function() -> None:
    """In their order, with their defaults, and with their texts as its help."""
    assert area("a", width=2) == area(name="a", width=2) == Box("a", width=2)
    assert str(inspect.signature(area)) == "(name: str, *, width: int = 1) -> Any"
    assert "Args:\n    width: How wide, over two lines.\n    name: What it is" in str(area.__doc__)
    assert given(Box("a")) == {"name": "a", "width": 1}
    assert pickle.loads(pickle.dumps(play)) is play  # noqa: S301 (our own)


def test_an_unknown_keyword_is_refused_with_near_misses() -> None:
    """The function is named, not the class."""
    with pytest.raises(UsageError, match=r"^area has no argument 'widht'; did you mean 'width'\?"):
        area("a", widht=2)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match=r"^sweep has no argument 'job'; did you mean 'jobs'\?"):
        sweep("beer_game", "typical", range(2), job=2)  # type: ignore[call-arg]


@pytest.mark.parametrize("function", EVERY, ids=lambda function: function.__name__)
def test_every_argument_of_a_public_function_has_a_text(function: Any) -> None:
    """Where a field has no text, neither its option nor `help` would say what it is."""
    helped = function.__doc__.partition("\nArgs:\n")[2]
    for name in inspect.signature(function).parameters:
        assert f"\n    {name}: " in f"\n{helped}"
