"""Actions as vectors, masks as sb3-contrib calls them, and discounts by elapsed time."""

from typing import Any, Literal

import numpy as np
import pytest
from attrs import field, frozen
from attrs.validators import ge, le
from support.two_questions import Workshop

from desim.core.roles import Thinking
from desim.errors import UsageError, WrongAction
from desim.schema import codec
from models.beer_game import BeerGame

pytest.importorskip("gymnasium")

from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from desim.adapters.gymnasium import DiscountByElapsed, SeatEnv
from desim.adapters.gymnasium.number_actions import NumberActions
from desim.adapters.gymnasium.spaces import ActionSpace, SpaceLimits


@frozen
class Hire:
    """Hire people."""

    people: int = field(validator=[ge(1), le(5)])
    contract: Literal["part", "full"]


@frozen
class Wait:
    """Wait."""


@frozen
class Price:
    """Set a price, or leave it."""

    price: float | None
    share: float = field(validator=[ge(-1.0), le(3.0)])


@frozen
class Write:
    """Write a letter."""

    text: str


def vector(*classes: Any) -> NumberActions:
    """Return the vector of a union of action classes."""
    union: Any = classes[0]
    for each in classes[1:]:
        union |= each
    return NumberActions(ActionSpace(codec(union), SpaceLimits()), "boss")


def test_few_values_are_a_multi_discrete_vector() -> None:
    """The first entry is the action; entries of other actions do not count."""
    actions = vector(Hire, Wait)
    assert actions.space == spaces.MultiDiscrete([2, 5, 2])
    assert actions.decode(np.array([0, 4, 0])) == {"do": "hire", "people": 5, "contract": "full"}
    assert actions.decode([1, 4, 1]) == {"do": "wait"}
    assert actions.mask(("wait",)).tolist() == [False, True, *[True] * 7]
    assert actions.mask(()).all()


def test_real_numbers_are_a_scaled_box() -> None:
    """From -1 to 1 stands for the bounds of each field; whole numbers have equal parts of it."""

    @frozen
    class Mixed:
        """A share and a number of people."""

        share: float = field(validator=[ge(-1.0), le(3.0)])
        people: int = field(validator=[ge(1), le(4)])

    actions = vector(Mixed)
    assert actions.space == spaces.Box(-1, 1, (2,), np.float32)
    read = [actions.decode(np.array(each, np.float32)) for each in ([-1, -1], [0, 0], [1, 1])]
    assert read == [
        {"do": "mixed", "share": share, "people": people}
        for share, people in ((-1.0, 1), (1.0, 3), (3.0, 4))
    ]
    shares = [actions.decode(each)["people"] for each in actions_of(actions, 4000)]
    assert all(abs(shares.count(people) - 1000) < 150 for people in (1, 2, 3, 4))


def actions_of(actions: NumberActions, count: int) -> list[Any]:
    """Return samples of the space of a vector."""
    actions.space.seed(1)
    return [actions.space.sample() for _ in range(count)]


def test_actions_with_texts_or_unbounded_numbers_are_left_out() -> None:
    """A role without any other action is refused in words."""
    assert vector(Write, Price, Hire).space == spaces.MultiDiscrete([5, 2])
    with pytest.raises(UsageError, match="no action of 'boss' has numbers within bounds alone"):
        vector(Write, Price)


@pytest.mark.parametrize("wrong", [[0, 5, 0], [0, 0], [0.5, 0, 0], "x", None, [float("nan")] * 3])
def test_a_vector_outside_the_space_is_a_wrong_action(wrong: Any) -> None:
    """It changes nothing."""
    with pytest.raises(WrongAction, match="was given; the space is"):
        vector(Hire, Wait).decode(wrong)


def test_every_vector_can_be_played() -> None:
    """An action that the question does not take is the role's default action."""
    env = SeatEnv(Workshop(strict=True), seat="owner", action="numbers")
    check_env(env, skip_render_check=True)
    env.reset(seed=1)
    total, over = 0.0, False
    while not over:
        _, reward, over, _, _ = env.step(np.array([-1.0, 1.0], np.float32))  # to save 1,000
        total += reward
    assert total == 2_000  # on two of four days


def test_masks_are_a_method_of_the_environment() -> None:
    """`MaskablePPO` calls it before each action, through all wrappers."""
    env = SeatEnv(Workshop(strict=True), seat="owner", action="options", max_options=3)
    with pytest.raises(UsageError, match="call reset first"):
        env.action_masks()
    env.reset(seed=1)
    masks = [env.action_masks().tolist()]
    env.step(0)
    assert [*masks, env.action_masks().tolist()] == [[True, True, False], [True, False, False]]
    wrapped = DiscountByElapsed(env, 0.5)
    assert wrapped.get_wrapper_attr("action_masks")().dtype == bool
    fields = SeatEnv(Workshop(), seat="owner")
    fields.reset(seed=1)
    with pytest.raises(UsageError, match="the action space has no masks"):
        fields.action_masks()


def test_a_discount_counts_the_ticks_of_a_step() -> None:
    """The reward of a step of two days has the factor of two days more."""
    env = DiscountByElapsed(SeatEnv(Workshop(), seat="owner"), 0.5)
    _, info = env.reset(seed=1)
    assert (info["elapsed"], info["discount"]) == (0, 1.0)
    steps = [env.step({"do": "save", "amount": 8}) for _ in range(4)]
    assert [one[4]["elapsed"] for one in steps] == [1, 1, 1, 1]
    assert [one[1] for one in steps] == [4.0, 2.0, 1.0, 0.5]
    assert {one[4]["discount"] for one in steps} == {0.5}


def test_the_elapsed_ticks_include_the_latency() -> None:
    """Rewards are discounted by the time that a decision took."""
    game = BeerGame.preset("poisson", thinking=Thinking(latency=2))
    env = SeatEnv(game, seat="retailer", others="order_up_to")
    env.reset(seed=1)
    steps = [env.step({"do": "order", "quantity": 4}) for _ in range(2)]
    assert [info["elapsed"] for *_, info in steps] == [3, 3]


@pytest.mark.parametrize("factor", [0, 1.1, float("nan"), "x", None])
def test_a_factor_outside_its_range_is_refused(factor: Any) -> None:
    """A number above 0 and at most 1."""
    with pytest.raises(UsageError, match="above 0 and at most 1"):
        DiscountByElapsed(SeatEnv(Workshop(), seat="owner"), factor)
