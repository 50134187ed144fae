"""The layout of the page in a real browser: on a phone, with pins, and for screen readers."""

from pathlib import Path
from typing import Any

import pytest
from support import pages
from support.failing_world import MILL
from support.pages import Server

LACK = pages.missing()
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(LACK), reason=LACK or "all is there")]

#: Arguments of `desim play` by world; a user's own world without briefing, effects and columns too.
WORLDS = {
    "beer_game": "beer_game",
    "consulting": "consulting --seat candidate --policy interviewer=greedy --policy judge=greedy",
    "edt": "edt --preset interactive",
    "enterprise": "enterprise",
    "enterprise_arena": "enterprise_arena",
    "reasoning": "reasoning",
    "yc_bench": "yc_bench",
    "own": MILL,
}

#: Pixels from the top of the page to the first input or button of the decision.
FIRST_INPUT = """Math.min(...[...document.querySelectorAll(
    '.act button, .act input, .act textarea, .act [role=button]')]
    .filter(e => e.offsetParent).map(e => e.getBoundingClientRect().top + scrollY))"""


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_the_decision_comes_first_and_nothing_is_a_barrier(
    chromium: Any, tmp_path: Path, pictures: Path, axe: str, world: str
) -> None:
    """On a phone, before and after an answer; in no tab and not by the rules axe finds a fault."""
    sizes = [(390, 844), (768, 1024), (1280, 900)]
    with Server(f"{WORLDS[world]} --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        for n in range(2):
            assert chromium.at_size(390, 844, FIRST_INPUT) < 600
            assert [size for size in sizes if not chromium.fits(*size)] == []
            chromium.pictures(pictures / f"layout_{world}_{n}.png", sizes)
            for number in range(len(chromium.driver.find_elements("css selector", ".q-tab"))):
                tab = f".q-tab:nth-child({number + 1})"
                chromium.click(tab)
                chromium.until(
                    lambda tab=tab: "active" in chromium.find(tab).get_attribute("class")
                )
                assert chromium.violations(axe) == []
            if n == 0:
                chromium.decide("[data-option], .act [data-act]")
        chromium.click("[data-act='rules']")
        chromium.until(lambda: "All rules" in chromium.text())
        assert chromium.violations(axe) == []


@pytest.mark.slow
def test_an_error_and_the_end_have_no_barriers(chromium: Any, tmp_path: Path, axe: str) -> None:
    """Neither has a form with its error, nor the table of the baselines."""
    with Server("beer_game --set horizon=2 --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.find("input[data-field='quantity']").send_keys("many\n")
        chromium.until(lambda: "were typed" in chromium.text() or "was typed" in chromium.text())
        assert chromium.violations(axe) == []
        for _ in range(2):
            chromium.decide()
        chromium.until(lambda: "baselines have played" not in chromium.text())
        assert chromium.violations(axe) == []


def test_a_reply_stays_in_view_until_it_is_unpinned(
    chromium: Any, tmp_path: Path, pictures: Path
) -> None:
    """Also after a reload; a pinned reply is not shown a second time."""
    with Server("yc_bench --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.decide("[data-act='company_status']")
        chromium.click("[data-seen] [data-pin]")
        chromium.until(lambda: "decision 2" in chromium.read("[data-pinned]"))
        assert "Reply" not in chromium.read("[data-seen]")
        chromium.decide("[data-act='client_list']")
        assert "company status" in chromium.read("[data-pinned]")
        assert "client list" in chromium.read("[data-seen]")
        chromium.pictures(pictures / "pinned.png", [(390, 844), (1280, 900)])
        chromium.open(server.address)
        chromium.click("[data-pinned] [data-pin]")
        chromium.until(lambda: chromium.driver.find_elements("css selector", "[data-pinned]") == [])
        assert server.log.read_text() == ""


def test_the_status_bar_shows_changes(chromium: Any, tmp_path: Path) -> None:
    """Figures of the bar are not repeated in the observation."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        assert "0 of 25 weeks" in chromium.read(".bar").replace("\n", " ")
        chromium.decide()
        chromium.decide()
        assert "▼ 100 units" in chromium.read(".bar")
        assert "Supply line" not in chromium.read("[data-seen]")
