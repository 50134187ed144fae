"""A notebook shows an episode as a short card."""

from pathlib import Path

import pytest
from support.small_worlds import STRIDE, WALK

from desim.episodes.driver import play
from desim.records.episode import Episode


def test_a_notebook_shows_an_episode_as_a_short_card() -> None:
    """Header, score, end and the first metrics, and none of its decisions."""
    html = play("beer_game", "greedy", seed=1)._repr_html_()
    assert ">beer_game</td>" in html
    assert ">-12,950</td>" in html
    assert "more lines are in the summary" in html
    assert len(html) < 4_000


def test_a_cut_record_has_a_card_without_a_score(tmp_path: Path) -> None:
    """It says that it was cut."""
    play(WALK, STRIDE, seed=1, record=tmp_path / "walk.jsonl")
    cut = Episode.read(tmp_path / "walk.jsonl", whole=False, decisions=1)
    assert [line for line in cut.facts().lines if line[0] in {"ended", "score"}] == [
        ("ended", "cut")
    ]
    assert ">cut</td>" in cut._repr_html_()


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("yc_bench", {"final_funds": "$393,477.57", "fines": "$50,337.78"}),
        ("enterprise_arena", {"end_debt": "$0", "pass_share": "57.5758 %", "months": "131"}),
        ("edt", {"overall_profit_margin": "56.5954 %"}),
        ("enterprise", {"startup.score": "$", "plant.owed_to_treasury": "$"}),
        ("beer_game", {"avg_backlog_controlled": "0 units"}),
    ],
)
def test_facts_have_the_units_that_a_model_declares(model: str, expected: dict[str, str]) -> None:
    """No name has a unit that its value is not shown in."""
    facts = dict(play(model, "greedy").facts().lines)
    assert {name: facts[name][: len(text)] for name, text in expected.items()} == expected
    assert [name for name in facts if name.endswith("_cents")] == []


def test_a_prompt_shows_an_episode_in_one_line() -> None:
    """Without its decisions."""
    assert repr(play("beer_game", "greedy", seed=1)).startswith("<Episode of beer_game/")
    assert "score -12,950" in repr(play("beer_game", "greedy", seed=1))
    assert len(repr(play("beer_game", "greedy", seed=1))) < 120
