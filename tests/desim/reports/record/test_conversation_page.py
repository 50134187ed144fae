"""The conversation of a report in a real browser, from a file."""

from collections.abc import Iterator

import pytest
from support import pages
from support.conversations import RULES, call, decided, echo, user, write_conversation
from support.pages import Browser

from desim.reports.report import write_report

LACK = pages.missing()
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(LACK), reason=LACK or "all is there")]

BUY = {"do": "buy", "papers": 3}

#: Whether the first element is seen by a reader, who scrolls.
SEEN = "return document.querySelector(arguments[0]).checkVisibility({contentVisibilityAuto: true})"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The report on a record with nine decisions."""
    folder = tmp_path_factory.mktemp("page")
    said, lines = [RULES], []
    for day in range(9):
        said = [*said, user(f"Day {day}.")]
        lines += [call(said, f"Answer {day}"), decided(BUY, day)]
        said = [*said, echo(f"Answer {day}")]
    lines += [call([RULES, user("</script><script>document.title = 'taken'</script>")], "x")]
    report = write_report([write_conversation(folder / "a.jsonl", *lines)])
    with Browser.started(folder / "profile") as browser:
        browser.driver.get(report.as_uri())
        yield browser


def test_the_search_shows_the_decisions_that_match(page: Browser) -> None:
    """From the keyboard; Enter unfolds a match, Escape shows all decisions again."""
    page.find("body").send_keys("/")
    box = page.find(".find input")
    assert page.driver.switch_to.active_element == box
    box.send_keys("day 7.")
    page.until(lambda: page.read("output") == "1 of 11")
    assert len(page.driver.find_elements("css selector", ".unit:not([hidden])")) == 1
    box.send_keys("\ue007")
    assert page.read("output") == "1 of 1 that match"
    assert page.find(".unit:not([hidden]) .user").is_displayed()
    assert page.driver.execute_script("return CSS.highlights.get('found').size") == 1
    box.send_keys("\ue00c")
    page.until(lambda: not page.driver.find_elements("css selector", ".unit[hidden]"))


def test_a_whole_request_is_joined_from_the_texts_of_the_page(page: Browser) -> None:
    """In the order in which they were sent, replies that it repeats included."""
    page.driver.execute_script(
        "const unit = document.querySelectorAll('details.unit')[3];"
        "unit.open = true; unit.querySelector('.request').open = true"
    )
    request = "details.unit:nth-of-type(4) .request pre"
    page.until(lambda: len(page.driver.find_elements("css selector", request)) == 9)
    texts = page.driver.execute_script(
        f"return [...document.querySelectorAll('{request}')].map(e => e.textContent)"
    )
    days = [text for day in range(3) for text in (f"Day {day}.", f"Answer {day}")]
    assert texts == ['{\n  "model": "m"\n}', "You run a kiosk.", *days, "Day 3."]


def test_a_link_unfolds_where_it_leads(page: Browser) -> None:
    """From the table of decisions to the calls, and back to the row in a folded table."""
    link = page.driver.execute_script("return document.querySelectorAll('td a')[5]")
    href = link.get_attribute("href").partition("#")[2]
    page.driver.execute_script("arguments[0].closest('details').open = true", link)
    link.click()
    page.until(lambda: page.driver.execute_script(SEEN, f"#{href} pre"))
    page.driver.execute_script("arguments[0].closest('details').open = false", link)
    page.find(f"#{href} p a").click()
    page.until(link.is_displayed)


def test_no_script_of_a_record_is_run(page: Browser) -> None:
    """It is text, and the page allows its own script alone."""
    assert page.driver.title == "Recorded episodes of kiosk"
    ran = "const s = document.createElement('script'); s.text = 'document.title = 1'; "
    page.driver.execute_script(f"{ran} document.body.append(s)")
    assert page.driver.title == "Recorded episodes of kiosk"


@pytest.mark.parametrize("size", [(390, 844), (768, 1024), (1280, 900)])
def test_the_conversation_fits_on_a_screen(page: Browser, size: tuple[int, int]) -> None:
    """Unfolded, no line is wider than a phone."""
    page.driver.execute_script("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert page.fits(*size)
