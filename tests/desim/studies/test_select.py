"""The best of several policies and parameters, with few episodes."""

from pathlib import Path
from typing import Any

import pytest
from support.small_worlds import FAILS, STRIDE, WALK

from desim import select
from desim.errors import UsageError
from desim.studies.select import Procedure

MANY = [f"{STRIDE},size={n}" for n in (1, 2, 3, 9, 10)]


def test_the_best_is_selected_with_a_guarantee() -> None:
    """Those that are clearly behind have played the first stage only."""
    found = select(WALK, MANY, delta=2.0)
    assert found.best == (MANY[-1],)
    assert found.reached
    assert [one.name for one in found.candidates][:2] == [MANY[-1], MANY[-2]]
    assert [one.selected for one in found.candidates] == [True, *[False] * 4]
    assert {one.seeds for one in found.candidates if one.name in MANY[:3]} == {20}
    assert found.episodes == len(found.rows) == sum(one.seeds for one in found.candidates)
    assert "probability 0.95" in str(found)


def test_a_budget_goes_to_the_closest_rivals() -> None:
    """Without common luck they vary; the sentence makes no promise."""
    found = select(WALK, MANY, set={"wind": 3.0}, max_seeds=60)
    assert found.best == (MANY[-1],)
    seeds = {one.name: one.seeds for one in found.candidates}
    assert seeds[MANY[0]] == 20 < seeds[MANY[-1]]
    assert found.episodes <= 60 * len(MANY)
    assert "no guarantee" in found.sentence


def test_candidates_are_named_by_the_parameters_that_vary() -> None:
    """With the policy behind them."""
    found = select(WALK, STRIDE, set={"steps": [2, 9]}, delta=1.0)
    assert found.best == (f"steps=9 {STRIDE}",)


def test_what_cannot_be_told_apart_is_said() -> None:
    """Two that are equal but for chance, and too few seeds for so small a difference."""
    found = select(
        WALK, [MANY[3], "random"], set={"wind": 9.0}, delta=1e-3, max_seeds=25, alpha=0.01
    )
    assert not found.reached or found.candidates[1].seeds <= 25
    both = select(WALK, ["random", f"{STRIDE},size=2"], delta=1e-6, seeds=range(2), max_seeds=3)
    assert both.best == ("random", f"{STRIDE},size=2")
    assert "3 seeds do not tell 2 candidates apart by 1e-06" in both.sentence


def test_a_candidate_that_fails_is_not_selected() -> None:
    """It has no mean; of failures alone nothing is selected."""
    found = select(WALK, [FAILS, MANY[0]], delta=1.0)
    assert found.best == (MANY[0],)
    assert found.candidates[1].estimate is None
    assert found.candidates[1].failed > 0
    with pytest.raises(UsageError, match="every candidate has episodes without a score"):
        select(WALK, [FAILS, f"{FAILS},how=exit"], delta=1.0, seeds=range(2), max_seeds=2)


@pytest.mark.parametrize("by", ["kn", "ocba"])
def test_a_selection_begins_with_the_seeds_that_are_given(by: Procedure) -> None:
    """And goes on behind the largest of them."""
    given = [7, 40, 2, 3, 1]
    both: Any = {"by": by, "delta": 1e-6, "max_seeds": 9, "set": {"wind": 9.0}}
    found = select(WALK, ["random", MANY[1]], seeds=given, **both)
    seeds = [row["seed"] for row in found.rows if row["policy"] == MANY[1]]
    assert seeds == [*given, *range(41, 36 + len(seeds))]
    assert len(seeds) > len(given)


def test_a_stopped_selection_goes_on(tmp_path: Path) -> None:
    """Rows that are kept are not played again."""
    played: list[tuple[int, int]] = []
    first = select(WALK, MANY, delta=2.0, out=tmp_path)
    again = select(WALK, MANY, delta=2.0, out=tmp_path, progress=lambda *n: played.append(n))
    assert all(done == total for done, total in played)
    assert again == first
    assert again.rows == first.rows


def test_wrong_arguments_are_refused() -> None:
    """In a sentence each."""
    for options, text in [
        ({"by": "best"}, "possible: kn, ocba"),
        ({"by": "kn"}, "needs delta"),
        ({"delta": 0.0}, "above 0"),
        ({"delta": 1.0, "max_seeds": 5}, "first batch has 20 seeds"),
        ({"seeds": [4]}, "one seed was given; a selection begins with at least 2"),
        ({"seeds": "0:9"}, "give a list or a range"),
    ]:
        with pytest.raises(UsageError, match=text):
            select(WALK, MANY, **options)  # type: ignore[arg-type]
