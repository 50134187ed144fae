"""A first-time player of any world reads on the page what they are, want and pay, and what came."""

import re
from pathlib import Path
from typing import Any

import pytest
from support import pages

from desim import catalog
from desim.ui.game import Game

LACK = pages.missing()
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(bool(LACK), reason=LACK or "all is there"),
]

#: A world with a briefing, effects and units, and one without.
WORLDS = ["yc_bench", "support.small_worlds:Walk"]

SIZES = ((1280, 900), (390, 844))

#: The difference from the figure at the last decision.
CHANGED = re.compile(r"[▲▼] .*\d")

#: The lower end of the last briefing, and the upper end of the effect's panel.
BOTTOM = (
    "Math.max(...[...document.querySelectorAll('[data-briefing]')]"
    ".map(panel => panel.getBoundingClientRect().bottom))"
)
TOP = "document.querySelector('[data-effect]').getBoundingClientRect().top"


def decide(model: str, file: Path, times: int) -> None:
    """Answer the first questions with the first option."""
    with Game(catalog.model(model), 0, file) as game:
        for _ in range(times):
            game.answer(game.view.turn, game.view.options[0].action)


@pytest.mark.parametrize("model", WORLDS)
def test_four_questions_are_answered_on_the_screen(
    model: str, chromium: Any, tmp_path: Path, pictures: Path
) -> None:
    """The briefing without scrolling; after the second decision what it did; R opens the rules."""
    name = model.rsplit(":", 1)[-1].replace("/", "_")
    with pages.Server(f"{model} --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        shown = chromium.text()
        for begins in ("You are", "You want", "Costs", "It ends", "The score"):
            assert begins in shown
        assert chromium.at_size(1280, 900, BOTTOM) < 900
        assert [size for size in SIZES if not chromium.fits(*size)] == []
        chromium.pictures(pictures / f"begin_{name}.png", SIZES)
    decide(model, tmp_path / "second.jsonl", 2)
    with pages.Server(f"{model} --record second.jsonl", tmp_path) as server:
        chromium.open(server.address)
        effect = chromium.read("[data-effect]").splitlines()
        assert effect[0] == "Since your last answer"
        # The answer, and the world's sentence; figures of a world without one show their change.
        assert len(effect) > 2 or CHANGED.search(chromium.text())
        assert chromium.at_size(1280, 900, TOP) < 900
        assert [size for size in SIZES if not chromium.fits(*size)] == []
        chromium.pictures(pictures / f"second_{name}.png", SIZES)
        chromium.find("body").send_keys("r")
        chromium.until(lambda: "All rules" in chromium.text())
