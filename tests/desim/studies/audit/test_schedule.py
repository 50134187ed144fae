"""The text of a plan, and the policy that plays it."""

from typing import Any

import pytest
from support.piggy_bank import Borrow, PiggyBank, Slot, Work

from desim.episodes.driver import play
from desim.errors import PolicyFailed, UsageError
from desim.studies.audit.schedule import Schedule, constant, plan_text, read_plan

ROLE = PiggyBank().roles["child"]
AUNT = "lender=~aunt"


def acted(plan: str, *slots: Slot) -> list[Any]:
    """Return the actions of a plan for some observations."""
    policy = Schedule(read_plan(plan), ROLE)
    return [policy.decide(slot) for slot in slots]


def test_the_first_rule_that_applies_decides() -> None:
    """By an observed number, or by the number of decisions."""
    plan = f"day>=8:work;decision<1:borrow(amount=5&{AUNT});borrow(amount=7&{AUNT})"
    early, late = Slot(2, 0.0, "sad"), Slot(9, 0.0, "sad")
    assert acted(plan, early, early, late) == [Borrow(5, "aunt"), Borrow(7, "aunt"), Work()]


def test_actions_of_a_rule_take_turns() -> None:
    """Each rule counts its own turns."""
    slot = Slot(0, 0.0, "sad")
    assert acted(f"borrow(amount=1&{AUNT})|work", slot, slot, slot) == [
        Borrow(1, "aunt"),
        Work(),
        Borrow(1, "aunt"),
    ]


@pytest.mark.parametrize(
    ("value", "amount"), [("@savings*2", 24.0), ("@day", 3), ("1e9", 50), ("#7", 0), ("-4", 0)]
)
def test_a_value_is_observed_or_counted_within_the_bounds_of_its_field(
    value: str, amount: float
) -> None:
    """A constant beyond them is the nearest one inside."""
    assert acted(f"borrow(amount={value}&{AUNT})", Slot(3, 12.0, "sad")) == [Borrow(amount, "aunt")]


@pytest.mark.parametrize(
    ("value", "lender"), [("@mood", "sad"), ("@", "sad"), ("~a%2C%20b", "a, b"), ("~1", "1")]
)
def test_a_text_is_observed_or_encoded(value: str, lender: str) -> None:
    """All observed texts are one text."""
    assert acted(f"borrow(amount=1&lender={value})", Slot(3, 12.0, "sad")) == [Borrow(1, lender)]


def test_a_rule_whose_value_is_not_observed_does_not_decide() -> None:
    """The next rule does, or the role's default action."""
    slot = Slot(3, 12.0, "sad")
    assert acted("borrow(amount=@debt&lender=~aunt);work", slot) == [Work()]
    assert acted("debt>=0:borrow(amount=1&lender=~aunt)", slot) == [Work()]


def test_options_are_taken_by_place_or_by_rank() -> None:
    """The place is taken modulo their number."""
    slot = Slot(3, 12.0, "sad")
    assert acted("option(at=5)|ranked(at=-1)|default", slot, slot, slot) == [Work()] * 3


def test_options_that_know_the_rules_are_taken_too() -> None:
    """The best option of every week is what greedy plays."""
    plan = f"{Schedule.__module__}:{Schedule.__qualname__},plan=ranked(at=0)"
    mine, greedy = (play("beer_game/poisson", policy, 1) for policy in (plan, "greedy"))
    assert mine.score == greedy.score


def test_a_plan_that_changes_nothing_observed_lets_time_pass() -> None:
    """Every other decision is the default action then, so that an episode can end."""
    slot = Slot(3, 12.0, "sad")
    actions = acted(f"borrow(amount=1&{AUNT})", *[slot] * 20, Slot(4, 12.0, "sad"))
    assert actions.count(Work()) == 5
    assert actions[:10] == [Borrow(1, "aunt")] * 10
    assert actions[-1] == Borrow(1, "aunt")


def test_a_role_without_a_default_action_needs_a_rule() -> None:
    """Otherwise the policy fails in one sentence."""
    from desim.core.roles import Role

    policy = Schedule(read_plan("day>=9:work"), Role(Slot, Work | Borrow))
    with pytest.raises(PolicyFailed, match="no rule of the plan applies"):
        policy.decide(Slot(0, 0.0, "sad"))


def test_a_text_is_that_of_its_plan() -> None:
    """It has no comma and no space, so that it is an argument of a spec and part of a label."""
    text = f"day<2.5:borrow(amount=@savings*0.5&lender={constant('aunt; or, uncle')})|work;default"
    assert plan_text(read_plan(text)) == text
    assert not set(text) & {",", " "}


def test_a_plan_is_an_argument_of_a_policy() -> None:
    """Of any role; an action that the role does not have, or a wrong limit, is refused."""
    spec = f"{Schedule.__module__}:Schedule,plan="
    assert play(PiggyBank(), spec + "borrow(amount=50&lender=~uncle)", seed=1).score == 500
    with pytest.raises(UsageError, match="no action of the role: 'steal'"):
        play(PiggyBank(), spec + "steal", seed=1)
    with pytest.raises(UsageError, match="could not convert"):
        play(PiggyBank(), spec + "day>=soon:work", seed=1)
