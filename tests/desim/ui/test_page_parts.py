"""The page of several models on one clock in a real browser: seats, dates, sizes, mixed players."""

from pathlib import Path
from typing import Any

import pytest
from support import pages
from support.groups import TOWN, Town
from support.pages import Browser, Server

from desim import play, replay

#: Windows of a phone, a tablet and a desktop.
SIZES = ((390, 844), (800, 900), (1280, 900))
COOK = "inn.deputy_master_of_the_kitchen_and_of_the_cellars"

LACK = pages.missing()
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(LACK), reason=LACK or "all is there")]


def facts(chromium: Browser, *names: str) -> list[str]:
    """Return facts of the header."""
    return [chromium.fact(name) for name in names]


def play_to_the_end(chromium: Browser) -> None:
    """Take the best option at every decision."""
    while not chromium.driver.find_elements("css selector", "[data-score]"):
        chromium.decide()


@pytest.mark.slow
def test_a_person_in_seats_of_two_parts(chromium: Any, tmp_path: Path, pictures: Path) -> None:
    """The header says who decides when; tables are the seat's; a long name fits every window."""
    seats = f"--practice --seat mill.miller --seat inn.landlord --seat {COOK}"
    with Server(f"{TOWN} {seats} --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        assert facts(chromium, "role", "date", "day") == ["Mill: miller", "2025-01-01", "0"]
        chromium.decide()
        assert chromium.fact("role") == ("Inn: deputy master of the kitchen and of the cellars")
        assert [size for size in SIZES if not chromium.fits(*size)] == []
        chromium.pictures(pictures / "parts.png", SIZES)
        for _ in range(2):
            chromium.decide()
        assert facts(chromium, "date", "week", "decision") == ["2025-01-08", "1", "4"]
        chromium.decide("[data-act='undo']")
        assert facts(chromium, "role", "date") == ["Inn: landlord", "2025-01-01"]
        chromium.decide()
        chromium.decide()
        tabs = chromium.driver.find_elements("css selector", ".q-tab")
        assert [tab.text for tab in tabs] == ["Charts", "Decisions", "Weeks", "Help"]
        chromium.click(".q-tab:nth-child(2)")
        chromium.until(lambda: "2025-01-01\tInn: deputy master" in chromium.text())
        # How far the table can be scrolled sideways, and the lines of its first date.
        table, dated = "document.querySelector('.q-table__middle')", "td.unbroken:nth-child(2)"
        assert chromium.at_size(390, 844, f"{table}.scrollWidth - {table}.clientWidth") == 0
        range_ = f"const r = document.createRange(); r.selectNodeContents({table}"
        lines = (
            f"(() => {{ {range_}.querySelector('{dated}')); return r.getClientRects().length }})()"
        )
        assert chromium.at_size(390, 844, lines) == 1
        play_to_the_end(chromium)
        assert chromium.fact("role") == f"miller of mill; landlord, {COOK[4:]} of inn"
        chromium.until(lambda: "baselines have played" not in chromium.text())
        assert "Inn: ended" in chromium.text()
        assert [size for size in SIZES if not chromium.fits(*size)] == []
        chromium.pictures(pictures / "parts_end.png", SIZES)
    best = play(Town(), dict.fromkeys(("mill.miller", "inn.landlord", COOK), "greedy"), 0)
    assert replay(tmp_path / "game.jsonl", trust=True).ledger_digest == best.ledger_digest
