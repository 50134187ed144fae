"""The page in a real browser."""

import signal
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from support import pages
from support.failing_world import MILL

from desim import Episode, play, replay

Server = pages.Server

#: Windows of a phone, a tablet and a desktop.
SIZES = ((390, 844), (1024, 768), (1600, 900))


LACK = pages.missing()
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(LACK), reason=LACK or "all is there")]


def kept(tmp_path: Path, *, whole: bool = False) -> Episode:
    """Read the record of a game."""
    return Episode.read(tmp_path / "game.jsonl", whole=whole)


def quantities(tmp_path: Path) -> list[Any]:
    """What was ordered, as recorded."""
    return [step.action["quantity"] for step in kept(tmp_path).steps]


@pytest.mark.slow
def test_a_full_game_by_clicking(chromium: Any, tmp_path: Path, pictures: Path) -> None:
    """Reloading loses nothing; the end is compared with the baselines; the record replays."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        assert [size for size in SIZES if not chromium.fits(*size)] == []
        for _ in range(10):
            chromium.decide()
        chromium.open(server.address)
        assert (chromium.fact("decision"), chromium.fact("week")) == ("11", "10")
        chromium.picture(pictures / "beer_game.png")
        for _ in range(15):
            chromium.decide()
        greedy = f"{play('beer_game', 'greedy').score:,.0f}"
        chromium.until(lambda: greedy in chromium.read("[data-score]"))
        chromium.until(lambda: "perfect" in chromium.text() and "typical" in chromium.text())
        chromium.until(lambda: "baselines have played" not in chromium.text())
        assert [size for size in SIZES if not chromium.fits(*size)] == []
        chromium.picture(pictures / "end.png")
        # Nothing is fetched from elsewhere; only the record and its lock are written.
        origin = server.address.rsplit("/", 1)[0]
        loaded = chromium.resources()
        assert loaded
        assert [name for name in loaded if not name.startswith((origin, "data:"))] == []
        assert sorted(p.name for p in tmp_path.iterdir() if p.name != "pictures") == [
            "game.jsonl",
            "game.jsonl.address",
            "game.jsonl.lock",
            "server.log",
        ]
    assert replay(tmp_path / "game.jsonl").header.policies == {"retailer": "person"}
    mine = f"replay,file={tmp_path / 'game.jsonl'}"
    assert play("beer_game", mine, 0).ledger_digest == play("beer_game", "greedy", 0).ledger_digest


def test_a_second_tab_shows_what_the_first_answers(chromium: Any, tmp_path: Path) -> None:
    """So that nobody answers a decision twice: there is one game, whatever tab is used."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        first = chromium.driver.current_window_handle
        chromium.driver.switch_to.new_window("tab")
        chromium.open(server.address)
        second = chromium.driver.current_window_handle
        chromium.driver.switch_to.window(first)
        chromium.decide()
        chromium.driver.switch_to.window(second)
        chromium.until(lambda: chromium.fact("decision") == "2")
        assert len(kept(tmp_path).steps) == 1
        chromium.decide()
        chromium.driver.close()
        chromium.driver.switch_to.window(first)
        chromium.until(lambda: chromium.fact("decision") == "3")
        assert len(kept(tmp_path).steps) == 2


@pytest.mark.slow
def test_an_open_tab_plays_on_after_the_server_was_killed(chromium: Any, tmp_path: Path) -> None:
    """SIGKILL loses no answer, and the tab needs no reload: the address stays the same."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        for _ in range(4):
            chromium.decide()
        server.kill()
    with Server("beer_game --record game.jsonl", tmp_path) as again:
        assert again.address == server.address
        chromium.until(lambda: chromium.is_connected() and chromium.fact("decision") == "5")
        chromium.decide()
        assert again.log.read_text() == ""
    assert len(kept(tmp_path).steps) == 5


def test_the_page_is_not_found_without_its_token(tmp_path: Path) -> None:
    """Any other path is not found, and shows nothing of the game."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        origin, token = server.address.rsplit("/", 1)
        assert len(token) >= 32
        assert origin.startswith("http://127.0.0.1:")
        for path in ("", "/", f"/{token[:-1]}", "/x" * 40, f"/{token}/more"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{origin}{path}", timeout=pages.TIMEOUT_SECONDS)  # noqa: S310
            assert refused.value.code == 404
            page = refused.value.read().decode()
            refused.value.close()
            assert "retailer" not in page.lower()
            assert token not in page


def test_forms_keep_what_was_typed_and_practice_takes_back(
    chromium: Any, tmp_path: Path, pictures: Path
) -> None:
    """A wrong input shows its error at the form; Enter sends the form; undo takes back."""
    with Server("beer_game --practice --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        field = "input[data-field='quantity']"
        chromium.find(field).send_keys("\b\b\bmany\n")
        chromium.until(lambda: "type a number of units" in chromium.text())
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
        # The page library logs a stack trace for a change of a form that an answer has replaced.
        assert server.log.read_text() == ""


@pytest.mark.slow
def test_a_keyboard_is_enough(chromium: Any, tmp_path: Path) -> None:
    """After an answer, the next press of Tab leads to the first option."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.decide()
        for turn in (1, 2):
            chromium.until(lambda: chromium.focus() == "actions")
            chromium.press("\ue004")
            chromium.press("\ue007")
            chromium.until(lambda turn=turn: chromium.turn() == turn + 1)
    greedy = play("beer_game", "greedy").steps
    assert quantities(tmp_path) == [step.action.quantity for step in greedy[:3]]


#: A policy that decides once the file `go` exists.
SLOW = """
import time
from desim import Policy
from pathlib import Path

class Slow(Policy):
    def decide(self, stage):
        while not Path("go").exists():
            time.sleep(0.02)
        return {"do": "order", "quantity": stage.incoming_order}
"""


@pytest.mark.slow
def test_a_person_who_waits_for_others_sees_that(chromium: Any, tmp_path: Path) -> None:
    """A page opened while others decide shows the next decision as soon as it is open."""
    (tmp_path / "slow.py").write_text(SLOW)
    seats = "--seat retailer --policy wholesaler=slow:Slow"
    with Server(f"beer_game {seats} --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.click("[data-option='0']")
        chromium.until(lambda: "The others are deciding" in chromium.text())
        chromium.open(server.address)
        chromium.until(lambda: "Your turn comes" in chromium.text())
        (tmp_path / "go").touch()
        chromium.until(lambda: chromium.turn() == 1)
        assert chromium.fact("decision") == "2"
        chromium.decide("[data-option='1']")
    assert [step.role for step in kept(tmp_path).steps[:3]] == [
        "retailer",
        "wholesaler",
        "retailer",
    ]


SIZES_OF_FORMS = ((1280, 900), (768, 1024), (390, 844))


def test_options_wait_behind_a_hint_and_an_unusual_number_is_confirmed(
    chromium: Any, tmp_path: Path, pictures: Path
) -> None:
    """The key or the button opens the options; the same number twice is taken."""
    with Server("beer_game/classic --record game.jsonl", tmp_path, hints=False) as server:
        chromium.open(server.address)
        assert chromium.driver.find_elements("css selector", "[data-option]") == []
        assert "benchmark" not in chromium.text()
        field = "input[data-field='quantity']"
        chromium.find(field).send_keys("1e3\n")
        asked = "1,000 units is outside the usual 0 to 60"
        chromium.until(lambda: asked in chromium.text())
        chromium.pictures(pictures / "unusual.png", SIZES_OF_FORMS)
        chromium.find(field).send_keys("\n")
        chromium.until(lambda: chromium.turn() == 1)
        chromium.click("[data-act='hint']")
        chromium.until(lambda: chromium.driver.find_elements("css selector", "[data-option='0']"))
        chromium.pictures(pictures / "hint.png", SIZES_OF_FORMS)
        chromium.decide()
        assert chromium.driver.find_elements("css selector", "[data-option]") == []
        chromium.find("body").send_keys("h")
        chromium.until(lambda: chromium.driver.find_elements("css selector", "[data-option='0']"))
    assert quantities(tmp_path)[0] == 1000


@pytest.mark.slow
def test_identifiers_are_chosen_from_lists(chromium: Any, tmp_path: Path, pictures: Path) -> None:
    """A task of the market and people of the staff; nothing of them is typed."""
    with Server("yc_bench --record game.jsonl", tmp_path, hints=False) as server:
        chromium.open(server.address)
        chromium.open_form("market_browse")
        chromium.decide("[data-act='market_browse']")
        chromium.open_form("task_accept")
        chromium.choose("task_id", "Task-47")
        chromium.pictures(pictures / "task_accept.png", SIZES_OF_FORMS)
        chromium.decide("[data-act='task_accept']")
        chromium.open_form("employee_list")
        chromium.decide("[data-act='employee_list']")
        chromium.open_form("task_assign")
        chromium.choose("task_id", "Task-47")
        chromium.choose("employees", "Emp_1", "Emp_3")
        chromium.pictures(pictures / "task_assign.png", SIZES_OF_FORMS)
        chromium.decide("[data-act='task_assign']")
    accept, _, assign = [step.action for step in kept(tmp_path).steps[1:]]
    assert accept["task_id"] == assign["task_id"] == "Task-47"
    assert assign["employees"] == ["Emp_1", "Emp_3"]


# -- games that fail -------------------------------------------------------------------------------


def grind(chromium: Any, sacks: int) -> None:
    """Send the mill's form."""
    field = "input[data-field='sacks']"
    if not chromium.driver.find_elements("css selector", field):
        chromium.open_form("grind")
    chromium.until(lambda: chromium.find(field).is_displayed())
    chromium.find(field).send_keys("\b" * 3 + str(sacks))
    chromium.decide("[data-act='grind']")


@pytest.mark.slow
def test_a_fault_of_the_model_is_shown_and_is_no_finished_game(
    chromium: Any, tmp_path: Path, pictures: Path
) -> None:
    """After a reload and after a restart as well; in practice undo goes on to a real end."""
    expected = (
        "model Mill failed at t=2 in Mill.grind",
        "The fault came after decision 3 on record",
        "desim branch game.jsonl --at 3",
    )

    def shown() -> bool:
        text = chromium.text()
        return all(part in text for part in expected) and "Score" not in text

    with Server(f"{MILL} --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        for sacks in (4, 5, 13):
            grind(chromium, sacks)
        assert shown()
        assert chromium.focus() == "actions"
        assert chromium.driver.find_elements("css selector", ".act [data-act]") == []
        assert [size for size in SIZES if not chromium.fits(*size)] == []
        chromium.pictures(pictures / "fault.png", SIZES)
        chromium.open(server.address)
        assert shown()
        server.stop(signal.SIGTERM)
    assert kept(tmp_path).result is None
    with Server(f"{MILL} --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        assert shown()
    with Server(f"{MILL} --practice --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        assert shown()
        chromium.pictures(pictures / "fault_practice.png", SIZES)
        chromium.decide("[data-act='undo']")
        for _ in range(3):
            chromium.decide()
        chromium.until(lambda: chromium.read("[data-score]") == "18")
    assert replay(tmp_path / "game.jsonl").score == 18
