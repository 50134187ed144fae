"""What may be given as a policy: a subclass of `Policy`, its instances, and anything callable."""

from functools import partial
from typing import Any

import pytest
from attrs import field, make_class
from support.small_worlds import Go, Spot, Stride, Walk

from desim import Policy, play, play_series
from desim.errors import PolicyFailed, UsageError


class Loose:
    """A class as users write it who have not read that a policy is a subclass."""

    def decide(self, _: Spot) -> Go:
        """Take a step."""
        return Go(1)


class Bare(Policy):
    """A policy that does not decide."""


class Unseated(Stride):
    """A class that states a member with other arguments."""

    def seated(self) -> None:  # type: ignore[override] # a user's fault
        """Take no seat."""


class Unlearned(Stride):
    """One that fails to learn."""

    def after(self, _episode: Any) -> None:
        """Learn from what it never kept."""
        raise KeyError("last")


class Called:
    """An object that is called."""

    def __call__(self, _: Spot) -> Go:
        """Take a step of two."""
        return Go(2)

    def bound(self, _: Spot) -> Go:
        """Take a step of two."""
        return Go(2)


def two(size: int, _: Spot) -> Go:
    """Take a step of a size."""
    return Go(size)


@pytest.mark.parametrize(
    "given",
    [Stride(2), Called(), Called().bound, partial(two, 2), lambda _: Go(2)],
    ids=["instance", "object", "method", "partial", "function"],
)
def test_an_instance_and_whatever_is_called_play(given: Any) -> None:
    """A callable is wrapped where an episode begins."""
    assert play(Walk(wind=0.0), given).score == 6  # three steps


@pytest.mark.parametrize("given", [Loose, Loose()], ids=["class", "instance"])
def test_a_class_is_a_subclass(given: Any) -> None:
    """The error says what to write."""
    text = r"^class Loose is no policy: write class Loose\(desim.Policy\)$"
    with pytest.raises(UsageError, match=text):
        play(Walk(), given)


@pytest.mark.parametrize("given", [object(), Bare, int], ids=["object", "bare", "int"])
def test_what_does_not_decide_is_no_policy(given: Any) -> None:
    """Whether or not it is a subclass."""
    with pytest.raises(UsageError, match=r"is no policy: it has no method decide\(observation\)$"):
        play(Walk(), given)


def test_a_member_that_fails_names_the_policy_and_the_member() -> None:
    """A user's fault outside `decide` is one sentence as well."""
    with pytest.raises(PolicyFailed, match=r"Unseated failed in seated as '\w+': TypeError"):
        play(Walk(), Unseated)
    text = r"Unlearned failed in after as '\w+': KeyError: 'last'"
    with pytest.raises(PolicyFailed, match=text):
        play_series(Walk(), Unlearned, seeds=range(2))


@pytest.mark.parametrize("name", ["seated", "after", "arguments", "draws", "knows"])
def test_a_parameter_that_hides_a_member_is_refused(name: str) -> None:
    """Where the class is written."""
    text = f"^the parameter '{name}' of Hiding hides a member of desim.Policy that is no parameter"
    with pytest.raises(UsageError, match=text):
        make_class("Hiding", {name: field(default=1)}, bases=(Stride,))
