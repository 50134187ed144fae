"""Files about the project, beside its code, agree with it."""

import re
import tomllib
from pathlib import Path

import pytest
from support.paths import ROOT

from desim.cli.main import COMMANDS
from desim.version import __version__

PAGES = [*sorted((ROOT / ".github").glob("*.md")), ROOT / "desim" / "CHANGELOG.md"]
README = ROOT / "README.md"
PAGES_OF_TASKS = sorted((ROOT / "desim" / "docs").glob("*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_is_of_this_version_and_these_authors() -> None:
    """As the distribution states them."""
    citation = (ROOT / ".github" / "CITATION.cff").read_text(encoding="utf-8")
    (author,) = PROJECT["authors"]
    assert f"\nversion: {__version__}\n" in citation
    assert f"\n  - name: {author['name']}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation
    assert author["name"] in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_the_changes_name_this_version() -> None:
    """A version without an entry would leave its users to read commits."""
    assert __version__ in (ROOT / "desim" / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_paths_lead_to_files(page: Path) -> None:
    """Links, and code that names a file of the repository."""
    text = page.read_text(encoding="utf-8")
    links = [page.parent / link for link in re.findall(r"\]\(([^)#:]+)\)", text)]
    named = re.findall(r"`(?:python )?((?:desim|experiments|tests|\.ci)/[\w./]+)", text)
    assert [
        str(one) for one in [*links, *(ROOT / name for name in named)] if not one.exists()
    ] == []


@pytest.mark.parametrize("page", [*PAGES, README, *PAGES_OF_TASKS], ids=lambda page: page.name)
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    """In a sentence or in a block."""
    named = re.findall(
        r"(?:`|^\$ )desim ([a-z][a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {*named} <= {*COMMANDS}


def test_ci_plays_on_every_python_that_the_distribution_names() -> None:
    """That of the tests, and the others where they are installed."""
    text = " ".join(PROJECT["classifiers"])
    named = sorted(map(int, re.findall(r"Python :: 3\.(\d+)", text)))
    others = re.search(r"for minor in ([\d ]+);", (ROOT / ".ci" / "run").read_text("utf-8"))
    lowest = int(PROJECT["requires-python"].removeprefix(">=3."))
    assert others
    assert named == [lowest, *map(int, others[1].split())]
