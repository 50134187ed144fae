"""The baselines play the person's roles, and one that fails is listed with its error."""

from typing import Any

import pytest

from desim import catalog, play
from desim.ui.comparison import BaselineComparison

MODEL = catalog.model("beer_game", changes={"horizon": "8"})


def test_baselines_play_the_roles_of_the_person() -> None:
    """With the same policies for other roles, on the same seed."""
    comparison = BaselineComparison(MODEL, 0, ("wholesaler",), {"retailer": "typical"})
    comparison.play()
    assert comparison.done
    scores = {one.policy: one.score for one in comparison.played}
    seats = {"wholesaler": "greedy", "retailer": "typical"}
    assert scores["greedy"] == play(MODEL, seats, 0).score


def test_the_table_ranks_the_person_among_them() -> None:
    """Higher is better, and the first of equals is the person."""
    comparison = BaselineComparison(MODEL, 0, ("retailer",), {})
    episode = play(MODEL, "greedy", 0)
    comparison.play()
    rows = comparison.ranked(episode).rows
    policies = [row[1] for row in rows]
    assert policies.index("you") < policies.index("greedy")
    assert len(rows) == len(catalog.baselines(MODEL)) + 1
    scores = [float(row[2].replace(",", "")) for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_the_other_baselines_play_after_one_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is last in the table, with the reason."""
    names: Any = lambda _: ("missing", "greedy")  # noqa: E731
    monkeypatch.setattr("desim.catalog.baselines", names)
    comparison = BaselineComparison(MODEL, 0, ("retailer",), {})
    comparison.play()
    last = comparison.ranked(play(MODEL, "random", 0)).rows[-1]
    assert last[1] == "missing"
    assert "there is no policy 'missing'" in last[3]


class Diary:
    """A policy that takes its answers from a record, an attribute of its instances alone."""

    def __init__(self) -> None:
        self.transcript = print

    def decide(self, _: Any) -> Any:
        """Fail: nobody may ask again."""
        raise AssertionError

    def resume(self, entries: Any) -> None:
        """Take what is on record."""


@pytest.mark.parametrize(
    "policy", ["llm,model=m,base_url=http://127.0.0.1:9/v1", Diary, Diary(), f"{__name__}:Diary"]
)
def test_nobody_is_asked_again_whose_answers_are_paid(policy: Any) -> None:
    """A language model in another role has answered already; baselines would pay it again."""
    comparison = BaselineComparison(MODEL, 0, ("retailer",), {"wholesaler": policy})
    comparison.play()
    assert comparison.done
    assert comparison.played == []
    expected = "No baselines play: for each of them wholesaler would be asked again."
    assert comparison.note == expected
