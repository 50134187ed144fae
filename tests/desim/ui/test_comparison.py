"""The baselines play the person's roles, and one that fails is listed with its error."""

from typing import Any

import pytest

from desim import catalog, play
from desim.core.policy import OutsidePolicy
from desim.ui.comparison import BaselineComparison, policies_of

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
    """Higher is better, and the person is the first row of equals, which share a rank."""
    comparison = BaselineComparison(MODEL, 0, ("retailer",), {})
    episode = play(MODEL, "typical", 0)
    comparison.play()
    rows = {row[1]: row for row in comparison.ranked(episode).lines}
    policies = [*rows]
    assert policies.index("you") < policies.index("typical")
    assert len(rows) == len(catalog.baselines(MODEL)) + 1
    rivals = [row for row in rows.values() if row[0] != "—"]
    scores = [float(row[2].replace(",", "")) for row in rivals]
    assert scores == sorted(scores, reverse=True)
    assert [int(row[0]) for row in rivals] == [
        1 + sum(other > score for other in scores) for score in scores
    ]
    assert rows["you"][0] == rows["typical"][0]


def test_a_baseline_that_knows_more_is_marked_and_has_no_rank() -> None:
    """It uses what the person cannot observe, so it is listed behind the rivals."""
    comparison = BaselineComparison(MODEL, 0, ("retailer",), {})
    comparison.play()
    rows = comparison.ranked(play(MODEL, "greedy", 0)).lines
    assert [row[0] for row in rows[-2:]] == ["—", "—"]
    assert {row[1] for row in rows[-2:]} == {"perfect (future)", "foresight (future)"}
    assert {row[0] for row in rows if row[1].endswith(" (rules)")} == {"—"}
    assert "use more than observations are no rivals" in comparison.notes[0]
    assert "future: uses" in comparison.notes[0]


def test_a_person_in_all_seats_is_compared_with_line_ups_of_all_seats() -> None:
    """The cost of one stage is not compared with the cost of four stages."""
    seats = tuple(MODEL.roles)
    comparison = BaselineComparison(MODEL, 0, seats, {})
    assert comparison.left_out == ("retailer=echelon_base_stock",)
    assert "play all of your roles: retailer=echelon_base_stock." in comparison.notes[-1]
    for spec in comparison.contenders:
        assert set(policies_of(MODEL, seats, spec)) == set(seats)


class Diary(OutsidePolicy):
    """A policy that takes its answers from a record."""

    def decide(self, _: Any) -> Any:
        """Fail: nobody may ask again."""
        raise AssertionError


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
