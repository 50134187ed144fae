"""The page of the Python API tells the truth: its blocks run in order and print what it says."""

import contextlib
import io
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.paths import ROOT

from desim.studies.designs.kinds import planned

PAGE = (ROOT / "desim" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|text|toml)\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_the_blocks_run_in_order_and_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All `python` blocks share one module; a `text` block is what the block before it printed."""
    page = ModuleType("api_page")
    monkeypatch.setitem(sys.modules, "api_page", page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")  # draws without a screen
    printed = ""
    for kind, text in BLOCKS:
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "desim/README.md", "exec"), page.__dict__)  # noqa: S102 (our own page)
            assert printed == "", "a block printed something that the page does not show"
            printed = out.getvalue().rstrip()
        elif kind == "text":
            assert printed == text.rstrip()
            printed = ""


def test_the_sweep_files_of_the_page_are_read(tmp_path: Path) -> None:
    """The TOML blocks are sweeps that the command line accepts."""
    from desim.studies.sweep_file import read_config

    plans = []
    for text in (text for kind, text in BLOCKS if kind == "toml"):
        (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
        plans.append(read_config(str(tmp_path / "plan.toml"), "", {}, (), ""))
    grid, designed = plans
    assert (grid.model, grid.preset, grid.seeds) == ("beer_game", "poisson", "0:500")
    assert designed.design
    design, fixed = planned(designed.design, designed.set)
    assert (len(design), fixed) == (64 * (3 + 2), {})
