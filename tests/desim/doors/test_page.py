"""The page in a real browser. Screenshots lie in $DESIM_SCREENSHOTS, if that is set."""

import importlib.util
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desim import Episode, play, replay


def _neighbour(name: str) -> Any:
    """Load a file of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


browsing = _neighbour("browsing")
Server = browsing.Server

LACK = browsing.missing()
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(LACK), reason=LACK or "all is there")]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for all tests."""
    with browsing.Browser.started(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots go."""
    folder = Path(os.environ.get("DESIM_SCREENSHOTS") or tmp_path / "pictures")
    folder.mkdir(exist_ok=True, parents=True)
    return folder


def kept(tmp_path: Path, *, whole: bool = False) -> Episode:
    """Read the record of a game."""
    return Episode.read(tmp_path / "game.jsonl", whole=whole)


def quantities(tmp_path: Path) -> list[Any]:
    """What was ordered, as recorded."""
    return [step.action["quantity"] for step in kept(tmp_path).steps]


def test_a_full_game_by_clicking(chromium: Any, tmp_path: Path, pictures: Path) -> None:
    """Reloading in the middle loses nothing; the end stands beside the baselines; it replays."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        for _ in range(10):
            chromium.decide()
        chromium.open(server.address)
        assert (chromium.fact("decision"), chromium.fact("week")) == ("11", "10")
        chromium.picture(pictures / "beer_game.png")
        for _ in range(15):
            chromium.decide()
        chromium.until(lambda: "-43,150" in chromium.find("[data-score]").text)
        chromium.until(lambda: "perfect" in chromium.text() and "typical" in chromium.text())
        chromium.until(lambda: "baselines have played" not in chromium.text())
        chromium.picture(pictures / "end.png")
        # Nothing is fetched from anywhere else, and nothing is written but the record.
        origin = server.address.rsplit("/", 1)[0]
        loaded = chromium.resources()
        assert loaded
        assert [name for name in loaded if not name.startswith((origin, "data:"))] == []
        assert sorted(p.name for p in tmp_path.iterdir() if p.name != "pictures") == [
            "game.jsonl",
            "server.log",
        ]
    assert replay(tmp_path / "game.jsonl").header.policies == {"retailer": "person"}
    mine = f"replay,file={tmp_path / 'game.jsonl'}"
    assert play("beer_game", mine, 0).ledger_digest == play("beer_game", "greedy", 0).ledger_digest


def test_a_second_tab_cannot_answer_twice(chromium: Any, tmp_path: Path) -> None:
    """Its answer to a decision that is over is refused, and it shows how the game stands."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        first = chromium.driver.current_window_handle
        chromium.driver.switch_to.new_window("tab")
        chromium.open(server.address)
        second = chromium.driver.current_window_handle
        chromium.driver.switch_to.window(first)
        chromium.decide()
        chromium.driver.switch_to.window(second)
        assert chromium.fact("decision") == "1"
        chromium.decide()
        assert "the game has moved on" in chromium.text()
        assert chromium.fact("decision") == "2"
        assert len(kept(tmp_path).steps) == 1
        chromium.decide()
        chromium.driver.close()
        chromium.driver.switch_to.window(first)
        assert len(kept(tmp_path).steps) == 2


def test_a_killed_server_goes_on_from_its_record(chromium: Any, tmp_path: Path) -> None:
    """SIGKILL loses nothing that was answered; the address is a new one."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        for _ in range(4):
            chromium.decide()
        server.kill()
    with Server("beer_game --record game.jsonl", tmp_path) as again:
        assert again.address.rsplit("/", 1)[1] != server.address.rsplit("/", 1)[1]
        chromium.open(again.address)
        assert chromium.fact("decision") == "5"
        chromium.decide()
    assert len(kept(tmp_path).steps) == 5


def test_nobody_comes_in_without_the_token(tmp_path: Path) -> None:
    """Another path is not found, and tells nothing of the game."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        origin, token = server.address.rsplit("/", 1)
        assert len(token) >= 32
        assert origin.startswith("http://127.0.0.1:")
        for path in ("", "/", f"/{token[:-1]}", "/x" * 40, f"/{token}/more"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{origin}{path}", timeout=browsing.PATIENCE)  # noqa: S310
            assert refused.value.code == 404
            page = refused.value.read().decode()
            refused.value.close()
            assert "retailer" not in page.lower()
            assert token not in page


def test_forms_keep_what_was_typed_and_practice_takes_back(
    chromium: Any, tmp_path: Path, pictures: Path
) -> None:
    """A wrong input is answered beside the form; Enter sends it; undo goes back."""
    with Server("beer_game --practice --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        field = "input[data-field='quantity']"
        chromium.find(field).send_keys("\b\b\bmany\n")
        chromium.until(lambda: "got `str`" in chromium.text())
        assert chromium.find(field).get_attribute("value") == "many"
        chromium.picture(pictures / "wrong.png")
        assert kept(tmp_path).steps == ()
        chromium.find(field).send_keys("\b\b\b\b123\n")
        chromium.until(lambda: chromium.turn() == 1)
        chromium.decide()
        assert quantities(tmp_path) == [123, 0]
        chromium.decide("[data-act='undo']")
        assert quantities(tmp_path) == [123]
        chromium.decide("[data-option='2']")
        assert quantities(tmp_path) == [123, 100]


def test_a_keyboard_is_enough(chromium: Any, tmp_path: Path) -> None:
    """After an answer the next Tab is at the first option."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.decide()
        for turn in (1, 2):
            chromium.until(lambda: chromium.focus() == "actions")
            chromium.press("\ue004")
            chromium.press("\ue007")
            chromium.until(lambda turn=turn: chromium.turn() == turn + 1)
    assert quantities(tmp_path) == [0, 0, 0]


SLOW = """
import time

class Slow:
    def decide(self, stage):
        time.sleep(0.8)
        return {"do": "order", "quantity": stage.incoming_order}
"""


def test_who_waits_for_others_is_told(chromium: Any, tmp_path: Path) -> None:
    """A page that is opened while others decide shows the next decision when it is there."""
    (tmp_path / "slow.py").write_text(SLOW)
    seats = "--seat retailer --policy wholesaler=slow:Slow"
    with Server(f"beer_game {seats} --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.click("[data-option='0']")
        chromium.until(lambda: "The others are deciding" in chromium.text())
        chromium.open(server.address)
        chromium.until(lambda: "Your turn comes" in chromium.text())
        chromium.until(lambda: chromium.turn() == 1)
        assert chromium.fact("decision") == "2"
        chromium.decide("[data-option='1']")
    assert [step.role for step in kept(tmp_path).steps[:3]] == [
        "retailer",
        "wholesaler",
        "retailer",
    ]


def test_six_months_of_a_lender_by_clicking(chromium: Any, tmp_path: Path, pictures: Path) -> None:
    """Tools, a note, tables and months: one design for all worlds."""
    with Server("enterprise_arena --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.click("[data-form='save_note'] [role='button']")
        note = "[data-form='save_note'] textarea[data-field='content']"
        chromium.until(lambda: chromium.find(note).is_displayed())
        chromium.find(note).send_keys("raise before the winter")
        chromium.decide("[data-act='save_note']")
        assert "raise before the winter" in chromium.text()
        chromium.decide("[data-act='check_cash_in_bank']")
        while int(chromium.fact("current month")) < 6:
            chromium.decide()
        chromium.picture(pictures / "enterprise_arena.png")
    done = [step.action["do"] for step in kept(tmp_path).steps]
    assert done[:2] == ["save_note", "check_cash_in_bank"]
    assert len(done) >= 8
