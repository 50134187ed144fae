"""The conversation of a report in a real browser, from a file."""

from pathlib import Path

import pytest
from support import pages
from support.conversations import RULES, call, decided, user, write_conversation
from support.pages import Browser

from desim.reports.report import write_report

LACK = pages.missing()
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(LACK), reason=LACK or "all is there")]


def test_a_conversation_fits_on_a_screen_and_runs_no_script(tmp_path: Path) -> None:
    """Unfolded, no line is wider than a phone; a script of a record is text."""
    hostile = "</script><script>document.title = 'taken'</script>" + "wide" * 200
    lines = [call([RULES, user(hostile)], "x" * 500), decided({"do": "buy", "papers": 3})]
    report = write_report([write_conversation(tmp_path / "a.jsonl", *lines)])
    with Browser.started(tmp_path / "profile") as page:
        page.driver.get(report.as_uri())
        ran = "const s = document.createElement('script'); s.text = 'document.title = 1'; "
        page.driver.execute_script(f"{ran} document.body.append(s)")
        assert page.driver.title == "Recorded episodes of kiosk"
        unfold = "document.querySelectorAll('details').forEach(e => e.open = true)"
        page.driver.execute_script(unfold)
        for size in ((390, 844), (768, 1024), (1280, 900)):
            assert page.fits(*size)
