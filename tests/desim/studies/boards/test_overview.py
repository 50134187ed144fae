"""The overview: a line for each world, with who plays and how far the best fair rule gets."""

import pytest
from support.known_worlds import MEASURED, ROUND
from support.small_worlds import WALK

from desim.catalog import model_finder, policy_finder
from desim.statistics.normalised import Normalised
from desim.studies.boards.baselines import Overview, bar_text, overview


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Overview:
    """The overview of three small worlds, of one of which nothing is known."""
    monkeypatch.setattr(model_finder, "models", lambda: (MEASURED, ROUND, WALK))
    seer = "support.small_worlds:Seer"
    monkeypatch.setattr(policy_finder, "baselines", lambda _model: ("greedy", seer, "random"))
    return overview(range(3), 1)


def test_a_world_has_one_line_with_its_best_fair_rule(small: Overview) -> None:
    """A policy that knows hidden state does not play, though it scores more."""
    first = small.boards[0]
    assert (first.name, [*first.knows]) == (f"{MEASURED}/short", ["greedy", "random"])
    assert (small.presets, sum(len(board.rows) for board in small.boards)) == (6, 18)
    lines, _ = small.tables()
    world, seat, bar, policy, score = lines.texts[0]
    assert (world, seat, policy, score) == (MEASURED, "walker", "greedy", "6")
    assert bar == "████████G░ "
    assert f"desim baselines {MEASURED}  (all 6: --all)" in str(small)


def test_a_world_without_known_scores_has_no_bar(small: Overview) -> None:
    """Its best rule and the mean of it are there."""
    lines, _ = small.tables()
    world, _, bar, policy, _ = lines.texts[2]
    assert (world, bar, policy) == (WALK, "—", "greedy")


def test_the_worlds_that_ship_say_how_long_they_last() -> None:
    """In one or two words, so that a line has 80 columns."""
    for name in model_finder.models():
        length = model_finder.model(name).time.length
        assert 0 < len(length) <= 12


def test_a_bar_is_full_at_1_only_and_a_mark_says_that_1_is_no_proved_bound() -> None:
    """Otherwise the best known score looks like a bound, and a near miss like the optimum."""
    for kind, z, bar in (
        ("proved", 0.96, "█████████░ "),
        ("relaxation", 1.0, "██████████~"),
        ("best known", 1 - 1e-12, "██████████*"),
    ):
        assert bar_text(Normalised(z, None, None, None, 1), None, kind) == bar


def test_a_world_in_which_no_rule_beats_chance_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its score is not shown as that of a rule."""
    monkeypatch.setattr(model_finder, "models", lambda: (MEASURED,))
    monkeypatch.setattr(policy_finder, "baselines", lambda _model: ("random",))
    lines, _ = overview(range(3), 1).tables()
    assert lines.texts[0][3:] == ["needs a language model", "—"]


def test_the_overview_says_which_policies_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best of the policies that have not failed need not be the best."""
    monkeypatch.setattr(model_finder, "models", lambda: (MEASURED,))
    raising = "support.small_worlds:Stride,size=-200"
    monkeypatch.setattr(policy_finder, "baselines", lambda _model: ("random", raising))
    text = str(overview(range(2), 1))
    assert text.startswith("1 world, default preset: the best rule's mean over 2 seeds")
    assert f"{MEASURED}/short: {raising} has failed" in text
