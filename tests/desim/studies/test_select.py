"""The best of several policies and parameters, with few episodes."""

from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from support.small_worlds import FAILS, STRIDE, WALK, Still, Trail, Walk
from support.until_narrow import until_chosen

from desim import select
from desim.errors import UsageError
from desim.statistics.elimination import Elimination
from desim.statistics.sequences import ScoreRange

MANY = [f"{STRIDE},size={n}" for n in (1, 2, 3, 9, 10)]

#: No walk of three steps of at most ten places in any wind leaves it.
RANGE = "-15:45"


@frozen
class Cliff(Walk):
    """A walk whose score is lower by 50 where steps are long and the first gust is against them."""

    def score(self, path: Trail) -> float:
        """Return the way, plus the wind after it, less the fall."""
        way = path.places[-1]
        return way + path.gusts[-1] / 10 * (way % 2) - 50 * (way > 9 and path.gusts[0] == -5)


def test_the_best_is_selected_for_any_distribution_within_a_range() -> None:
    """Those that are clearly behind are dropped on the way; the sentence has no condition."""
    found = select(WALK, MANY, delta=2.0, score_range=RANGE)
    assert found.best == (MANY[-1],)
    assert found.reached
    assert [one.name for one in found.candidates][:2] == [MANY[-1], MANY[-2]]
    assert [one.selected for one in found.candidates] == [True, *[False] * 4]
    assert found.episodes == len(found.rows) == sum(one.seeds for one in found.candidates)
    assert found.sentence == "with probability 0.95 the best, or within 2 of it"
    values = [found.rows.where(policy=name).values("score") for name in MANY]
    most = max(map(len, values))
    whole = [[*each, *[each[-1]] * (most - len(each))] for each in values]
    begun = until_chosen(whole, Elimination(5, 2.0, ScoreRange(-15, 45)))
    assert {len(found.rows.where(policy=MANY[place])) for place, _ in begun.dropped} == {
        seeds for _, seeds in begun.dropped
    }


def test_without_a_range_the_sentence_names_what_may_be_unseen() -> None:
    """By the seeds at the first drop, and not before there are enough for the skewness."""
    found = select(Cliff, [MANY[2], "random", MANY[3]], delta=1.0)
    assert found.reached
    assert found.best == (MANY[3],)
    first = min(one.seeds for one in found.candidates)
    rare = f"{100 * (1 - 0.05 ** (1 / first)):.2g}"
    text = f"of it, if no outcome rarer than {rare} % matters that was not seen"
    assert found.sentence.endswith(text)


def test_a_budget_goes_to_the_closest_rivals() -> None:
    """The sentence makes no promise."""
    given: Any = {"set": {"wind": 3.0}, "seeds": range(20), "budget": 60 * len(MANY)}
    found = select(WALK, MANY, **given)
    assert found.best == (MANY[-1],)
    seeds = {one.name: one.seeds for one in found.candidates}
    assert seeds[MANY[0]] == 20 < seeds[MANY[-1]]
    assert found.episodes == 60 * len(MANY)
    few = select(WALK, MANY, seeds=range(20), max_seeds=30, budget=1_000)
    assert max(one.seeds for one in few.candidates) == 30
    assert found.sentence == (
        "highest mean of 5 after 300 episodes (optimal computing budget allocation); no guarantee"
    )


def test_seeds_that_are_given_are_played_first_and_completed() -> None:
    """The first look needs 60 where no range of the score is known."""
    found = select(WALK, MANY[:2], delta=1.0, seeds=[7, *range(100, 119)])
    seeds = [row["seed"] for row in found.rows.where(policy=MANY[0])]
    assert seeds == [7, *range(100, 159)]


def test_candidates_are_named_by_the_parameters_that_vary() -> None:
    """With the policy behind them."""
    found = select(WALK, STRIDE, set={"steps": [2, 90]}, delta=1.0)
    assert found.best == (f"steps=90 {STRIDE}",)


def test_a_deterministic_world_is_decided_by_one_episode() -> None:
    """Nothing is estimated."""
    found = select(Still, "greedy", set={"steps": [2, 9]}, delta=1.0)
    assert found.best == ("steps=9 greedy",)
    assert found.sentence == "deterministic: every seed has the same episode"


def test_what_cannot_be_told_apart_is_said() -> None:
    """Two that are equal but for chance, and two that have always differed by the same."""
    found = select(WALK, "random", set={"wind": [0, 1e-6]}, delta=1e-9, max_seeds=75)
    assert (found.best, found.reached) == (("wind=0.0 random", "wind=1e-06 random"), False)
    assert found.sentence == "75 seeds do not tell 2 candidates apart by 1e-09"
    same = select(WALK, MANY[:2], delta=1.0)
    assert (same.best, same.episodes) == (tuple(MANY[:2]), 120)
    assert same.sentence == (
        "60 seeds do not tell 2 candidates apart by 1; their differences are the same on every "
        "seed, and outcomes of up to 4.9 % may be unseen, which a range of the figure would bound"
    )


def test_a_candidate_that_fails_is_not_selected() -> None:
    """It has no mean; of failures alone nothing is selected."""
    found = select(WALK, [FAILS, MANY[0]], delta=1.0)
    assert found.best == (MANY[0],)
    assert found.candidates[1].mean is None
    assert found.candidates[1].failed > 0
    with pytest.raises(UsageError, match="every candidate has episodes without a score"):
        select(WALK, [FAILS, f"{FAILS},how=exit"], delta=1.0)


def test_a_stopped_selection_goes_on(tmp_path: Path) -> None:
    """Rows that are kept are not played again."""
    given: Any = {"delta": 2.0, "score_range": RANGE}
    played: list[tuple[int, int]] = []
    first = select(WALK, MANY, **given, out=tmp_path)
    again = select(WALK, MANY, **given, out=tmp_path, progress=lambda *n: played.append(n))
    assert all(done == total for done, total in played)
    assert again == first
    assert again.rows == first.rows


def test_wrong_arguments_are_refused() -> None:
    """In a sentence each."""
    for options, text in [
        ({}, "a selection takes one of delta, the smallest difference that matters, and budget"),
        ({"delta": 1.0, "budget": 9}, "a selection takes one of delta"),
        (
            {"budget": 100, "seeds": range(21)},
            "budget=100 was given, but the first batch has 21 seeds of 5 candidates",
        ),
        ({"delta": float("inf")}, "delta=inf was given; it is finite and above 0"),
        ({"delta": 0.0}, "delta=0 was given; it is finite and above 0"),
        ({"delta": 1.0, "alpha": 1.0}, "alpha=1 was given; it is above 0 and below 1"),
        (
            {"budget": 9, "seeds": [4]},
            "one seed was given; a budget begins with at least 2",
        ),
    ]:
        with pytest.raises(UsageError, match=text):
            select(WALK, MANY, **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="one candidate was given; a selection is among at least"):
        select(WALK, MANY[:1], delta=1.0)
