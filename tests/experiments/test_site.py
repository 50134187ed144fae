"""The site is built of all pages, and a fault of a page or of a link fails the build."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import site_pages
from site_links import SiteFault, check_site, page_faults, with_plain_links
from support.paths import ROOT

from experiments.site import build, listed_pages

NEEDS_ZENSICAL = pytest.mark.skipif(
    find_spec("zensical") is None, reason="the extra `docs` is not installed"
)
CONFIGURATION = Path("desim/docs/site/zensical.toml")


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A repository of two pages, and no generated ones."""
    root = tmp_path / "repository"
    (root / CONFIGURATION).parent.mkdir(parents=True)
    configuration = (ROOT / CONFIGURATION).read_text(encoding="utf-8")
    before, _, after = configuration.partition("nav = [")
    rest = after.partition("\n]\n")[2]
    nav = 'nav = [{ Start = ["README.md", "desim/docs/play.md"] }]\n'
    (root / CONFIGURATION).write_text(before + nav + rest, encoding="utf-8")
    for asset in (ROOT / CONFIGURATION).parent.glob("*.[jc]s*"):
        shutil.copy(asset, root / CONFIGURATION.parent)
    (root / "README.md").write_text("# A\n\nSee [play](desim/docs/play.md#b).\n", "utf-8")
    (root / "desim/docs/play.md").write_text("# Play\n\n## B\n\n[top](../../README.md)\n", "utf-8")
    return root


@pytest.fixture
def nothing_generated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No page is generated."""
    monkeypatch.setattr("experiments.site.GENERATED", {})
    return


def test_every_page_of_the_repository_is_in_one_group() -> None:
    """Each page is listed once in the navigation, with the generated ones."""
    assert set(site_pages.GENERATED) <= set(listed_pages(ROOT))


@pytest.mark.usefixtures("nothing_generated")
def test_a_page_in_no_group_fails(pages: Path) -> None:
    """The text names the page."""
    (pages / "desim" / "docs" / "new.md").write_text("# New\n", encoding="utf-8")
    with pytest.raises(SiteFault, match=r"desim/docs/new.md: in no group of zensical.toml"):
        listed_pages(pages)


@pytest.mark.usefixtures("nothing_generated")
def test_a_listed_page_that_is_not_there_fails(pages: Path) -> None:
    """The text names the page."""
    (pages / "desim" / "docs" / "play.md").unlink()
    with pytest.raises(SiteFault, match=r"desim/docs/play.md: listed in zensical.toml, but there"):
        listed_pages(pages)


def test_a_link_to_no_file_is_named(pages: Path) -> None:
    """Links of other hosts, of the page itself and of code are left alone."""
    text = "[a](nowhere.md) [b](#b) [c](https://x.invalid) [d](../../../x)\n\n```\n[e](f)\n```\n"
    (pages / "desim/docs/play.md").write_text(text, encoding="utf-8")
    assert [fault.split(" leads")[0] for fault in page_faults(pages, "desim/docs/play.md")] == [
        "desim/docs/play.md: the link to nowhere.md",
        "desim/docs/play.md: the link to ../../../x",
    ]


def test_links_to_other_files_than_pages_become_code(pages: Path) -> None:
    """The path from the root is shown, unless the text of the link holds it."""
    text = "[top](../../README.md#a), [configuration](site/zensical.toml), [`desim/docs`](.)\n"
    (pages / "desim/docs/play.md").write_text(text, encoding="utf-8")
    assert with_plain_links(pages, "desim/docs/play.md", {"README.md"}) == (
        "[top](../../README.md#a), configuration (`desim/docs/site/zensical.toml`), `desim/docs`\n"
    )


def site(folder: Path, **pages: str) -> Path:
    """A built site: the bodies of pages by name, all in the navigation of the first."""
    links = "".join(f'<a href="{name}.html">{name}</a>' for name in pages)
    for name, body in pages.items():
        text = f'<h1 id="{name}">{name}</h1><nav>{links}</nav>{body}'
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


def test_a_site_without_faults_has_its_pages_counted(tmp_path: Path) -> None:
    """Links to pages, to anchors and to other hosts are correct."""
    body = '<a href="b.html#b">b</a><a href="#index">top</a><a href="https://x.invalid">x</a>'
    assert check_site(site(tmp_path, index=body, b="")) == 2


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="c.html">', "index.html: the link to c.html leads to no page"),
        ('<a href="b.html#c">', "index.html: the link to b.html#c leads to no heading of b.html"),
        ('<img src="c.png">', "index.html: the link to c.png leads to no page"),
        ('<a href="../">', "index.html: the link to ../ leads to no page"),
        ('<script src="https://x.invalid/a.js">', "loads https://x.invalid/a.js from another host"),
        ('<link rel="stylesheet" href="//x.invalid/a">', "loads //x.invalid/a from another host"),
        ("<p>These:\n- one\n- two</p>", "the list or table at '- one' is part of a paragraph"),
        ("<p>| <code>a</code> | b |</p>", "the list or table at '| ' is part of a paragraph"),
    ],
)
def test_a_fault_of_the_built_site_is_named(tmp_path: Path, body: str, fault: str) -> None:
    """The text names the page, the link and what is wrong with it."""
    with pytest.raises(SiteFault) as raised:
        check_site(site(tmp_path, index=body, b=""))
    assert fault in str(raised.value)


def test_a_page_that_the_navigation_does_not_lead_to_is_named(tmp_path: Path) -> None:
    """A link in the text is not enough."""
    site(tmp_path, index='<a href="lost.html">lost</a>')
    (tmp_path / "lost.html").write_text("<p>lost</p>", encoding="utf-8")
    with pytest.raises(SiteFault, match=r"lost.html: not in the navigation"):
        check_site(tmp_path)


def test_every_public_name_is_in_the_index() -> None:
    """The names that users import are all in the reference, and in the index of names."""
    listed = (ROOT / "tests" / "golden" / "public_names.txt").read_text(encoding="utf-8")
    paths = {f"{m}.{n}" for m, _, names in map(_parted, listed.splitlines()) for n in names.split()}
    found = {one.path for one in site_pages.public_names()}
    assert paths - found == {"desim.__version__"}
    index = site_pages.GENERATED["reference/index.md"]()
    assert [path for path in found if f"#{path})" not in index] == []


def _parted(line: str) -> tuple[str, str, str]:
    return line.partition(": ")


def test_the_table_of_members_has_each_member_of_a_model() -> None:
    """With its text and a folder that uses it."""
    page = site_pages.GENERATED["reference/members.md"]()
    (presets,) = (line for line in page.splitlines() if line.startswith("| `presets` |"))
    assert "Changes of parameters by the preset's name" in presets
    assert "`desim/catalog`" in presets
    assert "| `series()` | Return one number for each period" in page


def test_the_page_of_the_command_line_has_every_command() -> None:
    """With its own help, at most 80 columns wide; commands below others too."""
    page = site_pages.GENERATED["reference/commands.md"]()
    assert all(f"### desim {name}\n" in page for name in site_pages.COMMANDS)
    assert "### desim record-book add\n" in page
    assert "  --until TEXT" in page
    assert max(map(len, page.splitlines())) <= 80


def test_the_page_of_worlds_is_the_same_each_time() -> None:
    """Each world has its presets, and links to its page."""
    page = site_pages.GENERATED["reference/worlds.md"]()
    assert "[beer_game](../models/beer_game/README.md)" in page
    assert "| `poisson` |" in page
    assert page == site_pages.GENERATED["reference/worlds.md"]()


def test_a_folder_that_is_no_site_is_left_alone(tmp_path: Path) -> None:
    """Another folder of the user's is never replaced."""
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SiteFault, match=r"exists and is no site"):
        build(ROOT, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


@NEEDS_ZENSICAL
@pytest.mark.slow
@pytest.mark.usefixtures("nothing_generated")
def test_a_build_with_a_warning_fails(pages: Path, tmp_path: Path) -> None:
    """The site of an earlier build stays."""
    out = tmp_path / "site"
    assert build(pages, out, {}) == 2
    before = sorted(out.rglob("*"))
    (pages / "README.md").write_text("# A\n\n[undefined][no.such.name]\n", encoding="utf-8")
    with pytest.raises(SiteFault, match=r"no.such.name"):
        build(pages, out, {})
    assert sorted(out.rglob("*")) == before


@NEEDS_ZENSICAL
@pytest.mark.slow
def test_the_site_is_built_without_warnings_and_broken_links(tmp_path: Path) -> None:
    """With the reference of every public name, and nothing that other hosts serve."""
    done = subprocess.run(
        [sys.executable, "experiments/site.py", "--out", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "site" / "reference" / "world.html").read_text(encoding="utf-8")
    assert 'id="desim.World"' in text
    episode = (tmp_path / "site" / "reference" / "episode.html").read_text(encoding="utf-8")
    signature = re.sub(r"<[^>]+>", "", episode.partition('id="desim.play"')[2])[:600]
    assert "seed: int = 0" in " ".join(signature.split())
