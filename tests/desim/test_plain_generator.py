"""The generator that is used without numpy draws what numpy's draws."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from numpy.random import PCG64, Generator

from desim import UsageError
from desim.core.streams import derived_seed
from desim.plain_generator import PlainGenerator

SEEDS = (0, 1, 2**31, 2**32, 2**64 - 1, 2**96, 2**128 + 5, 2**256 - 1, derived_seed(7, "demand"))

DRAWS: dict[str, Callable[[Any], Any]] = {
    "one": lambda draws: draws.random(),
    "many": lambda draws: draws.random(9).tolist(),
    "a table": lambda draws: draws.random((4, 3)).tolist(),
    "between": lambda draws: draws.uniform(0.75, 1.25),
    "few choices": lambda draws: [int(draws.integers(n)) for n in (1, 2, 3, 7, 1_000, 2**20 + 1)],
    "many choices": lambda draws: [int(draws.integers(n)) for n in (2**31 + 1, 2**32 - 1, 2**32)],
    "events": lambda draws: [draws.poisson(mean, 20).tolist() for mean in (0, 0.3, 4, 9.99)],
    "mixed": lambda draws: [(int(draws.integers(5)), draws.random()) for _ in range(9)],
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_draws_equal_those_of_numpy(seed: int, draw: Callable[[Any], Any]) -> None:
    """Every draw is the same to the last bit, also the next one after it."""
    plain, known = PlainGenerator(seed), Generator(PCG64(seed))
    assert [draw(plain), draw(plain)] == [draw(known), draw(known)]


@pytest.mark.parametrize(
    ("draw", "named"),
    [
        (lambda draws: draws.normal(0, 1, 3), "normal()"),
        (lambda draws: draws.standard_normal(), "standard_normal()"),
        (lambda draws: draws.poisson(10, 3), "poisson(10)"),
        (lambda draws: draws.poisson(float("nan"), 3), "poisson(nan)"),
        (lambda draws: draws.integers(0), "integers(0)"),
        (lambda draws: draws.integers(2**32 + 1), "integers(4294967297)"),
    ],
)
def test_other_draws_are_refused(draw: Callable[[Any], Any], named: str) -> None:
    """A draw that the generator does not have says that it needs numpy."""
    with pytest.raises(UsageError) as fault:
        draw(PlainGenerator(1))
    assert str(fault.value) == f"the draw {named} needs numpy, which is not installed"


def test_a_copy_draws_the_same() -> None:
    """A copy continues where the generator is, and leaves it there."""
    draws = PlainGenerator(3)
    draws.integers(5)
    again = copy.deepcopy(draws)
    assert [again.integers(9), again.random()] == [draws.integers(9), draws.random()]
