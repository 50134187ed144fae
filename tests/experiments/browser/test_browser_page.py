"""The page of a browser tab, built once: desim under node, and the page in a real browser."""

import contextlib
import functools
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support import pages
from support.cases import SEARCHES
from support.paths import ROOT, TESTS

from desim import play

GOLDEN = (TESTS / "golden" / "digests.tsv").read_text("utf-8").splitlines()

#: What cannot be built or tested without.
LACKING = [name for name in ("npm", "node") if shutil.which(name) is None]
LACKING += ["pip"] if find_spec("pip") is None else []

#: Worlds whose episodes need no numpy, and the rules of theirs that do.
WORLDS = ("beer_game/", "consulting/", "edt/", "yc_bench/")
NEED_NUMPY = {"perfect", "optimal", "retailer=echelon_base_stock"}

#: Windows of a desktop, a tablet and a phone.
SIZES = ((1280, 900), (768, 900), (390, 844))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}"),
]

chromium_only = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(pages.missing()), reason=pages.missing() or "all is there"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the page."""
    folder = tmp_path_factory.mktemp("browser") / "tab"
    script = ROOT / "experiments" / "browser_page.py"
    done = subprocess.run(
        [sys.executable, script, "--out", folder], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{folder}: ")
    return folder


def in_node(page: Path, cases: list[tuple[str, str]]) -> list[str]:
    """Play cases of a world and a policy with seed 0 under node; return their lines."""
    program = TESTS / "support" / "in_node.mjs"
    script = ROOT / "experiments" / "digests.py"
    done = subprocess.run(
        ["node", program, page, script, json.dumps(cases)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def test_digests_in_webassembly_are_the_golden_ones(page: Path) -> None:
    """Every baseline that needs no numpy plays to the same score and ledger digest."""
    rows = [row.split("\t") for row in GOLDEN]
    cases = [
        (world, spec)
        for world, spec, seed, *_ in rows
        if world.startswith(WORLDS) and seed == "0" and spec not in NEED_NUMPY | SEARCHES
    ]
    lines = in_node(page, cases)
    assert len(lines) == len(cases)
    assert set(lines) - set(GOLDEN) == set()
    assert len(cases) > 90


def test_what_needs_more_than_the_page_has_says_so(page: Path) -> None:
    """Rules that compute with numpy, and programs of strangers."""
    search, program = in_node(
        page, [("beer_game/classic", "perfect"), ("reasoning/small", "majority")]
    )
    assert search.endswith("No module named 'numpy'")
    assert program.endswith("run on Linux and macOS alone, by an interpreter")


def test_a_folder_that_exists_is_left_alone(page: Path) -> None:
    """The script refuses it."""
    done = subprocess.run(
        [sys.executable, ROOT / "experiments" / "browser_page.py", "--out", page],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr.endswith("exists; name a new folder\n")) == (2, True)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def chromium(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser that shows the page, from a server of its folder, and reaches no other host."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=page))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with pages.Browser.started(tmp_path_factory.mktemp("profile")) as browser:
            browser.driver.get(f"http://127.0.0.1:{server.server_port}/")
            yield browser
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def tab(chromium: Any) -> Any:
    """The page as soon as Python is loaded, which takes seconds: the tests share it."""
    ready = "return document.body.hasAttribute('data-ready')"
    for _ in range(3):  # longer than one wait on a busy machine
        with contextlib.suppress(AssertionError):
            chromium.until(lambda: chromium.driver.execute_script(ready))
            break
    return chromium


def write_policy(tab: Any, text: str) -> None:
    """Replace the text of the policy and run it."""
    script = "arguments[0].value = arguments[1]"
    tab.driver.execute_script(script, tab.find("#program"), text)
    tab.click("#run button")


def order(tab: Any, units: int) -> None:
    """Order with the keyboard and wait for the next week."""
    before = tab.read("#week")
    tab.find("#order input").clear()
    tab.find("#order input").send_keys(f"{units}\n")
    tab.until(lambda: tab.read("#week") != before)


class TestInChromium:
    """The page as a person uses it."""

    pytestmark = chromium_only

    def test_a_game_is_played_and_its_record_replays(
        self, tab: Any, tmp_path: Path, page: Path
    ) -> None:
        """Score and digest are those of the same policy, and the saved record replays."""
        tab.click("#begin select[name=preset] option:nth-child(3)")  # firmbench: 25 weeks
        tab.click("#begin button")
        tab.until(lambda: "Week 0 of 25" in tab.read("#week"))
        for _ in range(25):
            order(tab, 400)
        known = play("beer_game/firmbench", "constant,quantity=400", 1)
        tab.until(lambda: tab.read("#digest") == known.ledger_digest)
        tab.until(lambda: "smoothing" in tab.read("#board"))
        assert "perfect: this needs numpy" in tab.read("#without")
        assert [size for size in SIZES if not tab.fits(*size)] == []
        tab.picture(tmp_path / "end.png")
        where = {"behavior": "allow", "downloadPath": str(tmp_path)}
        tab.driver.execute_cdp_cmd("Browser.setDownloadBehavior", where)
        tab.click("#save")
        record = tmp_path / "beer_game-firmbench-1.jsonl"
        tab.until(record.exists)
        tab.find("#file").send_keys(str(record))
        same = f"{record.name}: 25 decisions replayed, all the same; score {known.score:,g}"
        tab.until(lambda: tab.read("#replayed").startswith(same))
        origin = tab.driver.current_url
        assert [name for name in tab.resources() if not name.startswith((origin, "blob:"))] == []

    def test_wrong_input_is_one_sentence(self, tab: Any, tmp_path: Path) -> None:
        """An order, a seed and a file that are none leave the page as it was."""
        tab.click("#begin select[name=preset] option:nth-child(1)")  # poisson
        tab.click("#begin button")
        tab.until(lambda: "Week 1 of 52" in tab.read("#week"))
        tab.find("#order input").send_keys("<b>4\n")
        tab.until(lambda: "'<b>4' was given" in tab.read("#game-error"))
        order(tab, 4)
        assert tab.read("#game-error") == ""
        tab.find("#begin input").clear()
        tab.find("#begin input").send_keys("1x")
        tab.click("#begin button")
        tab.until(lambda: "'1x' was given; a seed" in tab.read("#game-error"))
        tab.find("#begin input").clear()
        tab.find("#begin input").send_keys("1")
        (tmp_path / "a.jsonl").write_text("<img src=x>")
        tab.find("#file").send_keys(str(tmp_path / "a.jsonl"))
        tab.until(lambda: "is no episode record" in tab.read("#replay-error"))
        (tmp_path / "large.jsonl").write_bytes(b" " * 8_000_001)
        tab.find("#file").send_keys(str(tmp_path / "large.jsonl"))
        tab.until(lambda: "8,000,001 bytes" in tab.read("#replay-error"))

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("beer_game", "60 decisions replayed, all the same; score -372.5094806, ended horizon"),
            ("yc_bench", "115 decisions replayed, all the same; score -1,395.6, ended bankruptcy"),
            ("enterprise_arena", "the draw standard_normal() needs numpy, which is not installed"),
        ],
    )
    def test_a_record_is_dropped(self, tab: Any, name: str, said: str) -> None:
        """A record of any world is replayed, wherever on the page it is dropped."""
        dropped = (
            "const data = new DataTransfer();"
            "data.items.add(new File([arguments[0]], arguments[1]));"
            "const given = {dataTransfer: data, bubbles: true, cancelable: true};"
            "return document.querySelector('h1').dispatchEvent(new DragEvent('drop', given))"
        )
        record = (TESTS / "golden" / f"{name}.jsonl").read_text("utf-8")
        prevented = not tab.driver.execute_script(dropped, record, f"{name}.jsonl")
        sentence = f"{name}.jsonl: {said}"
        tab.until(lambda: sentence in tab.read("#replayed") + tab.read("#replay-error"))
        assert prevented

    def test_a_policy_is_run_and_its_errors_are_told(self, tab: Any) -> None:
        """The scores are those of the README; an error names its line."""
        write_policy(tab, (ROOT / "experiments" / "browser" / "policy.py").read_text("utf-8"))
        tab.until(lambda: "11.6 more" in tab.read("#summary"))
        assert "-171.5" in tab.read("#scores")
        write_policy(tab, "class A:\n def decide(self, s):\nreturn nothing\n")
        tab.until(lambda: tab.read("#policy-error").startswith("line 3 (return nothing)"))

    def test_every_field_has_a_label(self, tab: Any) -> None:
        """Fields have labels, tables heads, and the page one heading of the first level."""
        nameless = (
            "return [...document.querySelectorAll('input, select, textarea')]"
            ".filter((each) => !each.labels.length).map((each) => each.outerHTML)"
        )
        assert tab.driver.execute_script(nameless) == []
        assert len(tab.driver.find_elements("css selector", "h1")) == 1
        assert [one for one in tab.driver.get_log("browser") if one["level"] == "SEVERE"] == []

    def test_a_policy_that_never_ends_is_stopped(self, tab: Any) -> None:
        """The page stays responsive, and loads Python again."""
        write_policy(tab, "while True: pass")
        tab.click("#stop")
        tab.until(lambda: tab.read("#policy-error").startswith("stopped; "))
