"""The end of a game in a real browser."""

from pathlib import Path
from typing import Any

import pytest
from support import pages

from desim import Episode, catalog
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
    """Again, and with the next seed."""
    model = catalog.model("beer_game", changes={"horizon": "6"})
    with Game(model, 0, tmp_path / "game.jsonl") as game:
        for _ in range(6):
            game.answer(game.view.turn, {"do": "order", "quantity": 0})
    with pages.Server("beer_game --set horizon=6 --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.until(lambda: "Cost so far (money)" in chromium.course())
        # The page opens with the game and adds the rules as soon as they have played.
        chromium.until(lambda: "best rule" in chromium.course())
        assert "you" in chromium.course()
        assert chromium.read("[data-place]").startswith("No floor and no bound are known")
        chromium.until(lambda: "Your rank among you and" in chromium.text())
        chromium.decide_again("[data-act='again']")
        for _ in range(6):
            chromium.decide()
        chromium.until(lambda: "best rule" in chromium.course())
        assert [size for size in SIZES if not chromium.fits(*size)] == []
        chromium.pictures(pictures / "end_beer_game.png", SIZES)
        chromium.decide_again("[data-act='next_seed']")
        # Nothing but the records, their locks and what the server logs.
        assert server.log.read_text() == ""
    first, second = (quantities(tmp_path / name) for name in ("game.jsonl", "game-2.jsonl"))
    assert (len(first), len(second)) == (6, 6)
    assert quantities(tmp_path / "game-3.jsonl") == []
    assert Episode.read(tmp_path / "game-3.jsonl", whole=False).header.seed == 1
