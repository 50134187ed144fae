"""The pages tell the truth: their blocks run in order and print what the pages show."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.page_blocks import blocks_of, check_page, importable, write_files
from support.paths import ROOT

from desim.studies.options import SweepSpec
from desim.studies.sweep import read_config

DOCS = ROOT / "desim" / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


def name(page: Path) -> str:
    """The name of a page in a test's id."""
    return page.stem


SLOW = [page for page in PAGES if any(block.is_slow for block in blocks_of(page))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder with the files of all pages, and a `policies` folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")  # draws without a screen
    (tmp_path / "policies").mkdir()
    write_files(PAGES, tmp_path)
    with importable(tmp_path):
        yield tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_blocks_run_in_order_and_print_what_the_page_says(page: Path) -> None:
    """All blocks of a page are run in a folder that holds the files of the pages."""
    check_page(page)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", SLOW, ids=name)
def test_the_slow_blocks_print_what_the_page_says(page: Path) -> None:
    """Blocks that are marked as slow are run after those before them on the page."""
    check_page(page, slow=True)


def test_a_file_belongs_to_one_page() -> None:
    """Two pages do not write parts of one file."""
    files = [file for page in PAGES for file in {b.file for b in blocks_of(page)} - {""}]
    assert sorted(files) == sorted(set(files))


def test_the_sweep_file_of_the_page_is_read(tmp_path: Path) -> None:
    """The TOML block is a sweep that the command line accepts."""
    (text,) = (block.text for block in blocks_of(DOCS / "sweep.md") if block.kind == "toml")
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    how = read_config(SweepSpec(str(tmp_path / "plan.toml")))
    assert (how["model"], how["preset"], how["seeds"]) == ("beer_game", "poisson", range(500))


def links(page: Path) -> list[str]:
    """The targets of a page's links into the repository."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


MARKDOWN = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not any(part.startswith(".") for part in page.relative_to(ROOT).parts)
)


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    """Links of pages are relative paths that exist, and their anchors are headings there."""
    for target in links(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_the_readme_names_every_page() -> None:
    """The README leads to each page of `desim/docs`."""
    named = {Path(target).stem for target in links(ROOT / "README.md")}
    assert {page.stem for page in PAGES[1:]} - named == set()
