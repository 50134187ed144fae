"""The overview: a line for each world, with who plays and how far the best fair rule gets."""

from typing import Any

import pytest
from support.known_worlds import MEASURED, ROUND
from support.small_worlds import WALK

from desim.catalog import model_finder, policy_finder
from desim.show.table import Printed
from desim.studies.boards.overview import Overview, overview, overview_cells


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Overview:
    """The overview of three small worlds, one of which has no scale."""
    monkeypatch.setattr(model_finder, "models", lambda: (MEASURED, ROUND, WALK))
    seer = "support.small_worlds:Seer"
    monkeypatch.setattr(policy_finder, "baselines", lambda _model: ("greedy", seer, "random"))
    return overview(range(3), 1)


def test_a_world_has_one_line_with_its_best_fair_rule(small: Overview) -> None:
    """A policy that knows hidden state does not play, though it scores more."""
    first, _ = small.lines()
    assert (first["model"], first["preset"], first["seat"]) == (MEASURED, "short", "walker")
    assert (first["best"]["policy"], first["best"]["mean"]) == ("greedy", 6.0)
    assert first["best"]["score"]["z"] == pytest.approx(10 / 12)
    assert (small.presets, len(small.rows)) == (6, 12)
    assert [text.partition(" of the scores")[0] for text in small.boards.notes()] == [
        "left out: nothing is known"
    ]


def test_the_line_shows_a_bar_and_what_comes_next(small: Overview) -> None:
    """The mark of `greedy` lies at its share of the room between 0 and 1."""
    text = str(small)
    (line,) = [one for one in text.splitlines() if one.startswith(MEASURED)]
    assert "████████G░ " in line
    assert line.split()[-2:] == ["greedy", "6"]
    assert f"desim baselines {MEASURED}  (all 6: --all)" in text


def test_the_worlds_that_ship_say_how_long_they_last() -> None:
    """In one or two words, so that a line has 80 columns."""
    for name in model_finder.models():
        length = model_finder.model(name).time.length
        assert 0 < len(length) <= 12


def cells(kind: str, policy: str, z: float, *, by_chance: bool = False) -> list[Any]:
    """The cells of a world whose best policy has a share of the room."""
    best = {"policy": policy, "mean": z, "score": {"z": z}}
    line = {"model": "shop", "seat": "seller", "kind": kind, "greedy": None}
    return overview_cells({**line, "best": best, "by_chance": by_chance})


def test_a_bar_is_full_at_1_only_and_a_mark_says_that_1_is_no_proved_bound() -> None:
    """Otherwise the best known score looks like a bound, and a near miss like the optimum."""
    for kind, z, bar in (
        ("proved", 0.96, "█████████░ "),
        ("relaxation", 1.0, "██████████~"),
        ("best known", 1 - 1e-12, "██████████*"),
    ):
        assert str(cells(kind, "a", z)[2]) == bar


def test_a_world_in_which_no_rule_beats_chance_says_what_it_needs() -> None:
    """Its score is not shown as that of a rule."""
    found = cells("proved", "random", 0.1, by_chance=True)
    assert found[3:] == [Printed("random", "needs a language model"), None]


def test_the_overview_says_which_presets_played_and_which_policies_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The best of the policies that have not failed need not be the best."""
    monkeypatch.setattr(model_finder, "models", lambda: (MEASURED,))
    raising = "support.small_worlds:Stride,size=-200"
    monkeypatch.setattr(policy_finder, "baselines", lambda _model: ("random", raising))
    text = str(overview(range(2), 1))
    assert text.startswith("1 world, default preset: the best rule's mean over 2 seeds")
    assert f"{MEASURED}/short: {raising} has failed" in text
