"""The pages tell the truth: their blocks run in order and print what the pages show."""

import re
from pathlib import Path

import pytest
from support.page_blocks import blocks_of, check_python, importable, write_files
from support.paths import ROOT

from desim.studies.designs.kinds import planned
from desim.studies.sweep_file import read_config

DOCS = ROOT / "desim" / "docs"
PAGES = sorted(DOCS.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_run_in_order_and_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All `python` blocks of a page share one module, in a folder with the files of the pages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")  # draws without a screen
    write_files([DOCS / "first_world.md"], tmp_path)
    with importable(tmp_path):
        check_python(page)


def test_the_sweep_files_of_the_pages_are_read(tmp_path: Path) -> None:
    """The TOML blocks are sweeps that the command line accepts."""
    plans = {}
    for page in (DOCS / "sweep.md", DOCS / "designs.md"):
        (text,) = (block.text for block in blocks_of(page) if block.kind == "toml")
        (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
        plans[page.stem] = read_config(str(tmp_path / "plan.toml"), "", {}, (), "")
    grid, designed = plans["sweep"], plans["designs"]
    assert (grid.model, grid.preset, grid.seeds) == ("beer_game", "poisson", "0:500")
    assert designed.design
    design, fixed = planned(designed.design, designed.set)
    assert (len(design), fixed) == (64 * (3 + 2), {})


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


def test_the_index_names_every_page() -> None:
    """`desim/README.md` leads to each page of `desim/docs`."""
    named = {Path(target).stem for target in links(ROOT / "desim" / "README.md")}
    assert {page.stem for page in PAGES} - named == set()
