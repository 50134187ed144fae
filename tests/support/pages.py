"""Pages: the HTML of a report, read as a browser would, and a browser that plays a person's game.

The game's server is a process of its own.
"""

import base64
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from xml.etree import ElementTree as ET

from attrs import define, field
from support.command_line import interruptible
from support.paths import PYTHONPATH

from desim import Policy

#: Elements without an end tag.
_VOID = {"meta", "img", "br", "link", "input"}

#: Attributes whose value a browser fetches, sends to or runs.
_FETCHED = {"src", "href", "srcset", "action", "data", "poster", "background"}


@define
class Picture:
    """A figure: its alternative text, its caption, its table, and its picture."""

    alt: str = ""
    caption: str = ""
    tables: list[list[list[str]]] = field(factory=list)
    svg: bytes = b""


@define
class Read:
    """A page.

    Attributes:
        tags: Every element, in order.
        fetched: The addresses that it names, without those inside itself.
        handlers: Attributes that are programs.
        text: All texts, joined.
        tables: The cells of each table.
        pictures: The figures.
        heads: The heads of the sections.
    """

    tags: list[str] = field(factory=list)
    fetched: list[str] = field(factory=list)
    handlers: list[str] = field(factory=list)
    text: str = ""
    tables: list[list[list[str]]] = field(factory=list)
    pictures: list[Picture] = field(factory=list)
    heads: list[str] = field(factory=list)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Read()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        page, given = self.page, dict(attrs)
        page.tags.append(tag)
        if tag not in _VOID:
            self.open.append(tag)
        page.handlers += [name for name in given if name.startswith("on")]
        page.fetched += [
            value or ""
            for name, value in given.items()
            if name in _FETCHED
            and not (value or "").startswith(("#", "data:image/svg+xml;base64,"))
        ]
        match tag:
            case "figure":
                page.pictures.append(Picture())
            case "img":
                page.pictures[-1].alt = given.get("alt") or ""
                _, _, data = (given["src"] or "").partition(",")
                page.pictures[-1].svg = base64.b64decode(data, validate=True)
            case "table":
                page.tables.append([])
                if "figure" in self.open:
                    page.pictures[-1].tables.append(page.tables[-1])
            case "tr":
                page.tables[-1].append([])
            case "td" | "th":
                page.tables[-1][-1].append("")
            case "h2":
                page.heads.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.page.text += data
        where = self.open[-1] if self.open else ""
        if where in {"td", "th"}:
            self.page.tables[-1][-1][-1] += data
        if where == "figcaption":
            self.page.pictures[-1].caption += data
        if where == "h2":
            self.page.heads[-1] += data


def read(content: bytes) -> Read:
    """Parse a report, and check what holds for every report."""
    parser = _Parser()
    parser.feed(content.decode("utf-8"))
    parser.close()
    page = parser.page
    assert parser.open == []
    assert (page.fetched, page.handlers) == ([], [])
    scripts = re.findall(rb"<script>(.*?)</script>", content, re.DOTALL)
    allowed = [f"'sha256-{base64.b64encode(sha256(one).digest()).decode()}'" for one in scripts]
    assert page.tags.count("script") == len(allowed) == ("script" in page.tags)
    assert all(one.encode() in content.partition(b"<title>")[0] for one in allowed)
    assert not {"iframe", "object", "embed", "link", "form", "base"} & set(page.tags)
    assert not re.search(r"@import|url\(", content.decode())
    for picture in page.pictures:
        assert picture.alt
        assert picture.caption
        assert [len(table) > 1 for table in picture.tables] == [True]
        assert ET.fromstring(picture.svg).tag.endswith("svg")  # noqa: S314 (ours)
    for table in page.tables:
        assert len({len(line) for line in table}) == 1
    return page


#: Seconds after which a test gives up waiting, also on a slow machine.
TIMEOUT_SECONDS = 20

#: A folder for screenshots; without it none are taken, because drawing them takes seconds.
SCREENSHOTS = os.environ.get("DESIM_SCREENSHOTS", "")

#: Options of a browser without a display that contacts the server of the page alone.
_SWITCHES = (
    "headless",
    "no-sandbox",
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)


def missing() -> str:
    """Return what the browser tests lack on this machine; empty if nothing is missing."""
    for module in ("nicegui", "selenium"):
        if find_spec(module) is None:
            return f"no {module}: pip install '.[play,test]'"
    lacking = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"no {' and '.join(lacking)}: Debian's chromium and chromium-driver" if lacking else ""


def _environment() -> dict[str, str]:
    """Return the environment of a user: with pytest's variables NiceGUI would go into test mode."""
    free = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
    return {**free, "PYTHONPATH": PYTHONPATH}


class Server:
    """`desim play` as a user starts it; the options are shown unless *hints* is false.

    Attributes:
        address: The address of the page, with its token.
        process: The process of the server.
        log: The file with its standard error.
    """

    def __init__(self, arguments: str, folder: Path, *, hints: bool = True) -> None:
        arguments += " --hints" if hints else ""
        self.log = folder / "server.log"
        with self.log.open("a") as log:
            self.process = interruptible(
                [sys.executable, "-m", "desim", "play", *arguments.split()],
                cwd=folder,
                env=_environment(),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            self.address = self._first_line().rsplit(" ", 1)[-1].strip()
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def until_logged(self, text: str) -> str:
        """Return what is on standard error as soon as it holds a text."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while text not in (logged := self.log.read_text()):
            assert time.monotonic() < end, logged
            time.sleep(0.03)
        return logged

    def stop(self, signal_number: int) -> int:
        """Send a signal and return the exit code of the server, which must end."""
        self.process.send_signal(signal_number)
        return self.process.wait(TIMEOUT_SECONDS)

    def kill(self) -> None:
        """Kill the server, as a power cut would."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()

    def _first_line(self) -> str:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT_SECONDS)
        assert ready, self.log.read_text()
        return self.process.stdout.readline()


class Browser(Policy):
    """A headless Chromium; its methods wait until the page shows what they need."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    @classmethod
    @contextmanager
    def started(cls, profile: Path) -> Iterator["Browser"]:
        """Start a browser with an empty profile."""
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for argument in (*_SWITCHES, "window-size=1400,1500"):
            options.add_argument(f"--{argument}")
        options.add_argument(f"--user-data-dir={profile}")
        service = Service(shutil.which("chromedriver"))
        driver = webdriver.Chrome(options=options, service=service)
        driver.set_page_load_timeout(TIMEOUT_SECONDS)
        driver.set_script_timeout(TIMEOUT_SECONDS)
        try:
            yield cls(driver)
        finally:
            driver.quit()

    def open(self, address: str) -> None:
        """Go to a page and wait until it can be used."""
        self.driver.get(address)
        self.until(lambda: self.turn() >= 0 and self.is_connected())

    def is_connected(self) -> bool:
        """Return whether the page can reach its server."""
        return bool(
            self.driver.execute_script("return !!(window.socket && window.socket.connected)")
        )

    def until(self, holds: Callable[[], bool], seconds: float = TIMEOUT_SECONDS) -> None:
        """Wait for a condition; an element that disappears while it is read counts as not yet."""
        from selenium.common.exceptions import WebDriverException

        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if holds():
                    return
            except WebDriverException:
                pass
            time.sleep(0.03)
        raise AssertionError(f"timed out; the text of the page: {self.text()[:2000]}")

    def find(self, selector: str) -> Any:
        """Return the first element."""
        return self.driver.find_element("css selector", selector)

    def read(self, selector: str) -> str:
        """Return the text of the first element, in one step: the page may draw it anew any time."""
        script = "return document.querySelector(arguments[0]).innerText.trim()"
        return str(self.driver.execute_script(script, selector))

    def click(self, selector: str) -> None:
        """Click an element as soon as it can be clicked."""
        self._click("css selector", selector)

    def click_path(self, path: str) -> None:
        """Click the first visible element of an XPath as soon as it can be clicked."""
        self._click("xpath", path)

    def _click(self, kind: str, where: str) -> None:
        def clicked() -> bool:
            shown = [each for each in self.driver.find_elements(kind, where) if each.is_displayed()]
            for each in shown[:1]:
                each.click()
            return bool(shown)

        self.until(clicked)

    def decide(self, selector: str = "[data-option='0']") -> None:
        """Click and wait until the game has moved on."""
        turn = self.turn()
        self.click(selector)
        self.until(lambda: self.turn() > turn)

    def open_form(self, tag: str) -> None:
        """Choose an action from the list and wait until its button is there."""
        self.click("[data-actions]")
        label = tag.replace("_", " ").capitalize()
        role = f"//*[@role='option'][normalize-space()='{label}']"
        self.click_path(f"//*[contains(@class, 'q-menu')]{role}")
        self.until(lambda: self.find(f"[data-act='{tag}']").is_displayed())

    def choose(self, field: str, *texts: str) -> None:
        """Choose the values that begin with some texts in the visible list of a field."""
        self.click_path(f"//*[@data-field='{field}']")
        for text in texts:
            role = f"//*[@role='option'][contains(., '{text}')]"
            self.click_path(f"//*[contains(@class, 'q-menu')]{role}")
        self.press("\ue00c")

    def decide_again(self, selector: str) -> None:
        """Click what begins another game, and wait until the end of this one is gone."""
        self.click(selector)
        self.until(lambda: not self.driver.find_elements("css selector", "[data-score]"))

    def course(self) -> str:
        """Return what the chart at the end of a game shows, as screen readers say it."""
        script = "return document.querySelector('[data-course]')?.getAttribute('aria-label') ?? ''"
        return str(self.driver.execute_script(script))

    def focus(self) -> str:
        """Return the id of the element that has the focus."""
        return str(self.driver.execute_script("return document.activeElement.id"))

    def press(self, key: str) -> None:
        """Press a key where the focus is."""
        self.driver.switch_to.active_element.send_keys(key)

    def turn(self) -> int:
        """Return the turn that the page shows; -1 where it shows none."""
        script = "const g = document.querySelector('#game'); return g ? +g.dataset.turn : -1"
        return int(self.driver.execute_script(script))

    def fact(self, name: str) -> str:
        """Return a fact of the header."""
        return self.read(f"[data-fact='{name}']")

    def text(self) -> str:
        """Return all that is written on the page."""
        return str(self.driver.execute_script("return document.body.innerText"))

    def fits(self, width: int, height: int) -> bool:
        """Return whether a window of this size shows the page without scrolling sideways."""
        script = "document.documentElement.scrollWidth <= window.innerWidth"
        return bool(self.at_size(width, height, script))

    def at_size(self, width: int, height: int, script: str) -> Any:
        """Return the value of a script's expression in a window of this size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        time.sleep(0.4)  # charts draw themselves anew
        value = self.driver.execute_script(f"return {script}")
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        return value

    def resources(self) -> list[str]:
        """Return the addresses of everything the page has loaded."""
        script = "return performance.getEntriesByType('resource').map(e => e.name)"
        return [str(name) for name in self.driver.execute_script(script)]

    def pictures(self, file: Path, sizes: Iterable[tuple[int, int]]) -> None:
        """Save a screenshot of the whole page for windows of several sizes, if somebody asks."""
        if not SCREENSHOTS:
            return
        for width, height in sizes:
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            time.sleep(0.4)  # charts draw themselves anew
            shot = self.driver.execute_cdp_cmd(
                "Page.captureScreenshot", {"captureBeyondViewport": True}
            )
            target = file.with_name(f"{file.stem}-{width}x{height}.png")
            target.write_bytes(base64.b64decode(shot["data"]))
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def picture(self, file: Path) -> None:
        """Save a screenshot of the whole page, if somebody asks for it."""
        if not SCREENSHOTS:
            return
        script = "return document.documentElement.scrollHeight"
        self.driver.set_window_size(1400, int(self.driver.execute_script(script)) + 150)
        time.sleep(0.4)  # charts draw themselves anew
        self.driver.save_screenshot(str(file))
        self.driver.set_window_size(1400, 1500)
