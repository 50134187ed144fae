"""The page of the adapters tells the truth: its Python blocks run and print what it says."""

import contextlib
import io
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.paths import ROOT

PAGE = (ROOT / "desim" / "adapters" / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize(("code", "printed"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_a_block_prints_what_the_page_says(
    code: str, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the package that it imports is installed; files are written to a new folder."""
    monkeypatch.chdir(tmp_path)
    imported = r"^(?:import|from) (?:desim\.adapters\.(?!seat))?(\w+)"
    for package in re.findall(imported, code, re.MULTILINE):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        exec(compile(code, "desim/adapters/README.md", "exec"), {})  # noqa: S102 (our own page)
    assert out.getvalue() == printed


def test_every_block_is_an_example() -> None:
    """Each is followed by what it prints."""
    assert PAGE.count("```python") == len(EXAMPLES) > 3
