"""The overview: a line for each world, with who plays and how far the best fair rule gets."""

import pytest
from support.known_worlds import MEASURED, ROUND
from support.small_worlds import WALK

from desim.catalog import model_finder, policy_finder
from desim.studies.boards.overview import Overview, overview


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Overview:
    """The overview of three small worlds, one of which has no scale."""
    monkeypatch.setattr(model_finder, "models", lambda: (MEASURED, ROUND, WALK))
    seer = "support.small_worlds:Seer"
    monkeypatch.setattr(policy_finder, "baselines", lambda _model: ("greedy", seer, "random"))
    return overview(range(3), 1)


def test_a_world_has_one_line_with_its_best_fair_rule(small: Overview) -> None:
    """A policy that knows hidden state does not play, though it scores more."""
    first, _ = small.worlds
    assert (first.model, first.preset, first.seat) == (MEASURED, "short", "walker")
    assert first.best
    assert (first.best.policy, first.best.mean) == ("greedy", 6.0)
    assert first.best.z == pytest.approx(10 / 12)
    assert (small.presets, len(small.rows)) == (6, 12)
    assert [text.partition(" of the scores")[0] for text in small.left_out] == ["nothing is known"]


def test_the_line_shows_a_bar_and_what_comes_next(small: Overview) -> None:
    """The mark of `greedy` lies at its share of the room between 0 and 1."""
    text = str(small)
    (line,) = [one for one in text.splitlines() if one.startswith(MEASURED)]
    assert "█████████G░" in line
    assert line.split()[-2:] == ["greedy", "6"]
    assert f"desim baselines {MEASURED}  (all 6: --all)" in text


def test_the_worlds_that_ship_say_how_long_they_last() -> None:
    """In one or two words, so that a line has 80 columns."""
    for name in model_finder.models():
        length = model_finder.model(name).length  # type: ignore[attr-defined]
        assert 0 < len(length) <= 12
