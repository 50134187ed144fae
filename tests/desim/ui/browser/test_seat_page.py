"""The page in a real browser writes the log of a game, and charges for tables."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from support import pages

from desim import Episode, replay

LACK = pages.missing()
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(LACK), reason=LACK or "all is there")]

#: What a browser does with a tab that goes to the background.
HIDE = (
    "Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
    "document.dispatchEvent(new Event('visibilitychange'))"
)

SIZES = ((390, 844), (768, 1024), (1280, 900))


def lines(tmp_path: Path) -> list[dict[str, Any]]:
    """The lines of the log."""
    file = tmp_path / "game.seat.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()]


def open_tab(chromium: Any, name: str) -> None:
    """Open a tab of the tables."""
    tab = f"//*[@role='tab'][contains(., '{name}')]"
    chromium.click_path(tab)


@pytest.mark.slow
def test_a_look_at_a_table_is_paid_for(chromium: Any, tmp_path: Path, pictures: Path) -> None:
    """The price stands above the buttons; a click is a decision of the officer's."""
    options = "--charge-tables --alias Ann --set horizon=3 --record game.jsonl"
    with pages.Server(f"enterprise_arena {options}", tmp_path) as server:
        chromium.open(server.address)
        open_tab(chromium, "Market")
        chromium.until(lambda: "takes $5,000 off your score" in chromium.read("[data-price]"))
        chromium.pictures(pictures / "charged.png", SIZES)
        chromium.decide("[data-pay]")
        panel = lambda: chromium.read("[role='tabpanel'] table")  # noqa: E731
        chromium.until(lambda: "GDP" in panel() and "VIX" not in panel())
        chromium.pictures(pictures / "paid.png", SIZES)
        for _ in range(3):
            chromium.decide("[data-act='pass'], [data-option='1']")
    episode = Episode.read(tmp_path / "game.jsonl")
    assert episode.metrics["tool_calls"] == 1
    assert replay(tmp_path / "game.jsonl").ledger_digest == episode.ledger_digest
    assert [line["tables"] for line in lines(tmp_path)] == [["market"]] * 4
    assert {(line["alias"], line["charged"]) for line in lines(tmp_path)} == {("Ann", True)}


@pytest.mark.slow
def test_a_tab_in_the_background_does_not_count(chromium: Any, tmp_path: Path) -> None:
    """From five seconds on the time counts as away."""
    with pages.Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.decide()
        chromium.driver.execute_script(HIDE)
        time.sleep(7)
        chromium.decide()
    first, second = lines(tmp_path)
    assert (first["away_seconds"], first["surface"]) == (0.0, "browser")
    assert second["away_seconds"] > 5
    assert second["seconds"] < 5
