"""The server of the page prints an address that others can use, and no traceback."""

import logging
from pathlib import Path
from typing import Any

import pytest
from support import pages
from support.pages import Server

LACK = pages.missing()
needs_browser = pytest.mark.skipif(bool(LACK), reason=LACK or "all is there")


def test_a_fault_in_the_page_library_is_one_line() -> None:
    """Without its traceback, and without characters that a terminal obeys."""
    pytest.importorskip("nicegui")
    from desim.ui.browser.page_server import OneLine

    fault = (KeyError, KeyError("client_id"), None)
    record = logging.LogRecord("asyncio", 40, "f", 1, "never\x1b[2J\nfuture: x", (), fault)
    assert OneLine().format(record) == "the page: never?[2J: KeyError: 'client_id'"


@pytest.mark.browser
@needs_browser
@pytest.mark.slow
def test_bad_events_of_a_tab_leave_the_game_and_the_terminal_in_order(
    chromium: Any, tmp_path: Path
) -> None:
    """Whoever has the address may send anything; a tab that is closed in a click does no harm."""
    with Server("beer_game --record game.jsonl", tmp_path) as server:
        chromium.open(server.address)
        chromium.driver.execute_script(
            "for (const name of ['event', 'javascript_response', 'nonsense', 'handshake'])"
            " for (const data of [{}, null, 7, 'x', {client_id: window.clientId, id: 'x'}])"
            " window.socket.emit(name, data)"
        )
        server.until_logged("the page: ")
        first = chromium.driver.current_window_handle
        chromium.driver.switch_to.new_window("tab")
        chromium.open(server.address)
        chromium.driver.execute_script("document.querySelector('[data-option]').click()")
        chromium.driver.close()
        chromium.driver.switch_to.window(first)
        chromium.until(lambda: chromium.turn() >= 0 and chromium.is_connected())
        turn = chromium.turn()
        chromium.click("[data-option]")
        chromium.until(lambda: chromium.turn() > turn)
        assert "Traceback" not in server.log.read_text()
