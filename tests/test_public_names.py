"""The public names of desim: those of its top level, and those that the pages import from below."""

import re
import subprocess
import sys
from importlib import import_module

import pytest
from support.paths import ROOT

import desim

#: By module the public names, one module a line.
LISTED = {
    module: names.split()
    for module, names in (
        line.split(": ")
        for line in (ROOT / "tests" / "golden" / "public_names.txt").read_text().splitlines()
    )
}

#: A line that imports from desim, in its two parts.
_FROM = re.compile(r"^from (desim[\w.]*) import (.+)$", re.MULTILINE)

PAGES = sorted(
    page
    for top in ("*.md", "desim/**/*.md", "models/*/*.md", "ledgers/*.md", "policies/**/*.md")
    for page in ROOT.glob(top)
)


def imported() -> set[tuple[str, str]]:
    """Return the module and the name of every import from desim in the code of the pages."""
    found = set()
    for page in PAGES:
        for block in re.findall(
            r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE
        ):
            for module, names in _FROM.findall(block):
                found |= {(module, name) for name in re.findall(r"\w+", names)}
            found |= {("desim", name) for name in re.findall(r"\bdesim\.(\w+)\(", block)}
    return found


def test_the_names_of_the_top_level_change_on_purpose() -> None:
    """A name that comes or goes changes `tests/golden/public_names.txt`, and what users may use."""
    assert sorted(desim.__all__) == LISTED["desim"]


@pytest.mark.parametrize("module", LISTED)
def test_public_names_are_there(module: str) -> None:
    """Also those that are imported when they are first used."""
    if module.startswith("desim.adapters.gymnasium"):
        pytest.importorskip("gymnasium")
    for name in LISTED[module]:
        assert hasattr(import_module(module), name)


def test_the_pages_import_public_names_alone() -> None:
    """The list holds the imports of pages from below the top level, and no other such name."""
    known = {(module, name) for module, names in LISTED.items() for name in names}
    below = {(module, name) for module, name in imported() if module != "desim"}
    assert imported() <= known
    assert {one for one in known if one[0] != "desim"} == below


def test_the_top_level_names_its_groups() -> None:
    """Every name is in the docstring, by task."""
    text = str(desim.__doc__)
    assert [
        name for name in desim.__all__ if name != "__version__" and f"`{name}`" not in text
    ] == []


def test_a_name_is_imported_when_it_is_first_used() -> None:
    """The import of desim alone imports no module of it but the version's; `play` no numpy."""
    code = (
        "import sys, desim;"
        "loaded = {m for m in sys.modules if m.startswith('desim.')};"
        "assert loaded == {'desim.joined_packages', 'desim.version'};"
        "from desim import play;"
        "assert vars(desim)['play'] is play and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
