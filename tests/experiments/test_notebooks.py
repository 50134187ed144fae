"""The notebooks run without an error, as scripts and in marimo's own kernel."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

from desim import Rows

FOLDER = ROOT / "experiments" / "notebooks"
NAMES = sorted(file.stem for file in FOLDER.glob("*.py"))

pytest.importorskip("marimo")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def values(name: str) -> dict[str, Any]:
    """Run a notebook as a script does; return what its cells define."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, Any] = dict(module.app.run()[1])
    return found


def test_a_first_policy_beats_greedy() -> None:
    """By its mean on the seeds of the notebook."""
    rows = values("first_policy")["rows"]
    greedy, mine = (sum(each.values("score")) for each in rows.groups("policy").values())
    assert mine > greedy


@pytest.mark.parametrize("name", ["a_sweep", "own_world"])
def test_a_class_of_a_cell_is_swept_by_two_workers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With arguments that vary, and without pandas, which the extra does not install."""
    monkeypatch.delattr(Rows, "to_pandas")
    rows = values(name)["rows"]
    assert len(rows) == 60
    assert not rows.failed
    assert len(set(rows.column("policy"))) == 3


def test_a_language_model_orders_what_the_endpoint_replies() -> None:
    """Every reply is read."""
    episode = values("language_model")["episode"]
    assert set(episode.columns("decisions")["action.quantity"]) == {4}


def test_regret_judges_the_decisions_of_the_notebook() -> None:
    """Those where the other policy decides otherwise have an interval."""
    judged = values("regret")["judged"]
    assert len(judged.lines) == 4


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_exported_without_an_error(name: str, tmp_path: Path) -> None:
    """The export fails if a cell does."""
    page = tmp_path / "page.html"
    command = ["-m", "marimo", "-y", "export", "html", str(FOLDER / f"{name}.py"), "-o", str(page)]
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size > 0
