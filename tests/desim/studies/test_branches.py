"""Two continuations of one record, over the same futures."""

from typing import Any

import msgspec
import pytest
from support.small_worlds import Go, Spot, Stride, Walk

from desim import Episode, play
from desim.errors import UsageError
from desim.studies.branches import compare_branches

THREE, FOUR = {"do": "go", "places": 3}, {"do": "go", "places": 4}


@pytest.fixture(scope="module")
def walk() -> Episode:
    """Five steps of 2."""
    return play(Walk(steps=5), Stride(2), seed=2)


def by_step(spot: Spot) -> Go:
    """Take a longer step each time."""
    return Go(spot.step + 1)


def test_an_action_is_compared(walk: Episode) -> None:
    """Both meet the same gusts, so that the difference has no spread."""
    found = compare_branches(walk, 2, action=FOUR, then=Stride(1), futures=9)
    assert found.arms == (
        "recorded: go places=2, then Stride(size=1)",
        "instead: go places=4, then Stride(size=1)",
    )
    assert (found.found.paired.mean, found.found.paired.sd, found.found.paired.n) == (2, 0, 9)
    assert len(set(found.scores[0])) > 3
    assert compare_branches(walk, 2, action=FOUR, then=Stride(1), futures=9) == found
    text = str(found)
    assert "decision 2 (t=1, walker)" in text
    assert "redrawn futures:" in text
    assert "hidden facts" in text
    plain = found.plain()
    assert (plain["recorded"], plain["instead"]) == ({"do": "go", "places": 2}, FOUR)
    assert (plain["futures"], plain["difference"], plain["n"]) == (9, 2, 9)
    msgspec.json.encode(plain)


def test_action_as_json_and_the_true_future(walk: Episode) -> None:
    """Hindsight has one pair and no interval."""
    found = compare_branches(walk, 5, action='{"do": "go", "places": 3}', then=Stride(1))
    assert found.scores[0] == (walk.score,)
    assert (found.found.paired.mean, found.found.paired.low) == (1, None)
    assert "hindsight:" in str(found)


def test_a_policy_decides_once(walk: Episode) -> None:
    """3 less 2; it observes what its role observed before."""
    once = compare_branches(walk, 3, policy=Stride(3), then=Stride(1), futures=3)
    assert once.found.paired.mean == 1
    assert once.arms[1] == "instead: go places=3 (Stride(size=3)), then Stride(size=1)"
    last = compare_branches(walk, 5, policy=by_step, then=Stride(1))
    assert last.instead == {"do": "go", "places": 5}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"then": Stride(1)}, "a comparison takes one"),
        ({"action": THREE, "policy": Stride(1), "then": Stride(1)}, "a comparison takes one"),
        ({"action": THREE}, "say who plays on after the decision"),
        ({"action": {"do": "fly"}, "then": Stride(1)}, "the action for 'walker' does not fit"),
        ({"action": "{", "then": Stride(1)}, "the action for 'walker' does not fit"),
        ({"action": THREE, "then": Stride(1), "futures": 0}, "0 futures were given"),
        ({"action": THREE, "then": Stride(1), "futures": 10**6}, "1 to 100,000 are possible"),
        ({"policy": {"helper": Stride(1)}, "then": Stride(1)}, "no policy plays 'helper'"),
    ],
)
def test_what_cannot_be_compared(walk: Episode, given: Any, says: str) -> None:
    """Said before anything is played."""
    with pytest.raises(UsageError, match=says):
        compare_branches(walk, 3, **given)


@pytest.mark.parametrize("at", [0, 6])
def test_there_is_no_such_decision(walk: Episode, at: int) -> None:
    """The error says which there are."""
    with pytest.raises(UsageError, match=rf"decision {at} was given; .* 1 to 5 are possible"):
        compare_branches(walk, at, action=THREE, then=Stride(1))
