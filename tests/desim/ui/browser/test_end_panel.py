"""The end of a game in a real browser."""

from pathlib import Path
from typing import Any

import pytest
from support import pages

from desim import Episode, catalog
from desim.episodes.lineup import resolve
from desim.ui.game import Game

#: Windows of a desktop, a tablet and a phone.
SIZES = ((1280, 900), (768, 1024), (390, 844))

LACK = pages.missing()
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(LACK), reason=LACK or "all is there")]


def quantities(file: Path) -> list[Any]:
    """Return the recorded orders."""
    return [step.action["quantity"] for step in Episode.read(file, whole=False).steps]


def test_the_end_shows_the_game_and_begins_the_next_one(
    chromium: Any, tmp_path: Path, pictures: Path
) -> None:
    """Again, with the last game in the chart, and a branch of its dearest decision."""
    model = catalog.model("beer_game", changes={"horizon": "6"})
    with Game(model, 0, tmp_path / "game.jsonl") as game:
        for _ in range(6):
            game.answer(game.view.turn, {"do": "order", "quantity": 0})
    with pages.Server("beer_game --set horizon=6 --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.until(lambda: "Cost so far (money)" in chromium.course())
        assert "you" in chromium.course()
        assert "best rule" in chromium.course()
        assert chromium.read("[data-place]").startswith("No floor and no bound are known")
        chromium.until(lambda: "decisions were judged" in chromium.text())
        chromium.until(lambda: "Your rank among you and" in chromium.text())
        chromium.decide_again("[data-act='again']")
        for _ in range(6):
            chromium.decide()
        chromium.until(lambda: "your last game (seed 0)" in chromium.course())
        chromium.until(lambda: "You had played this seed before" in chromium.text())
        chromium.until(lambda: "decisions were judged" in chromium.text())
        assert [size for size in SIZES if not chromium.fits(*size)] == []
        chromium.pictures(pictures / "end_beer_game.png", SIZES)
        chromium.decide_again("[data-act='next_seed']")
        # Nothing but the records, their locks and what the server logs.
        assert server.log.read_text() == ""
    first, second = (quantities(tmp_path / name) for name in ("game.jsonl", "game-2.jsonl"))
    assert (len(first), len(second)) == (6, 6)
    assert quantities(tmp_path / "game-3.jsonl") == []
    assert Episode.read(tmp_path / "game-3.jsonl", whole=False).header.seed == 1


@pytest.mark.slow
def test_a_year_of_a_start_up_ends_with_its_dearest_decisions(
    chromium: Any, tmp_path: Path, pictures: Path
) -> None:
    """The search can be stopped, and a decision found is played otherwise in a new record."""
    file = tmp_path / "game.jsonl"
    model = catalog.model("yc_bench")
    policy = resolve(model, "published_greedy", 0).policies["founder"]
    with Game(model, 0, file) as game:
        while game.view.episode is None:
            game.answer(game.view.turn, policy.decide(game.view.observation))
    with pages.Server("yc_bench --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.until(lambda: "Funds (dollars)" in chromium.course())
        assert "of the way from the floor" in chromium.read("[data-place]")
        for stage in ("Screens decisions", "Judges decision 2"):
            chromium.until(lambda stage=stage: stage in chromium.text(), 60)
        chromium.click("[data-act='stop_search']")
        chromium.until(lambda: "were screened in the future" in chromium.text())
        assert [size for size in SIZES if not chromium.fits(*size)] == []
        chromium.pictures(pictures / "end_yc_bench.png", SIZES)
        chromium.decide_again("[data-act='branch_1']")
        done = int(chromium.fact("decision")) - 1
    branch = Episode.read(tmp_path / "game-2.jsonl", whole=False)
    assert branch.steps == Episode.read(file).steps[:done]
