"""A notebook shows an episode as a short card."""

from pathlib import Path

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


def test_a_prompt_shows_an_episode_in_one_line() -> None:
    """Without its decisions."""
    assert repr(play("beer_game", "greedy", seed=1)).startswith("<Episode of beer_game/")
    assert "score -12,950" in repr(play("beer_game", "greedy", seed=1))
    assert len(repr(play("beer_game", "greedy", seed=1))) < 120
