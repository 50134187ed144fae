"""The page of the adapters and the scripts that it names run, and print what they say."""

import asyncio
import contextlib
import importlib
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
    for package in re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        exec(compile(code, "desim/adapters/README.md", "exec"), {})  # noqa: S102 (our own page)
    assert out.getvalue() == printed


def test_every_block_is_an_example() -> None:
    """Each is followed by what it prints."""
    assert PAGE.count("```python") == len(EXAMPLES) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "needs", "printed"),
    [
        ("mcp_agent", "mcp", r"score -\d+"),
        ("optimisers", "optuna", r"Optuna +1\d "),
        ("inspect_eval", "inspect_ai", r"last demand: score -\d+\.\d+, normalised 0\.\d+"),
        ("ppo_beer_game", "stable_baselines3", r"PPO +-\d+ \["),
    ],
)
def test_a_script_prints_its_answer(
    script: str,
    needs: str,
    printed: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """PPO after the fewest steps alone."""
    pytest.importorskip(needs)
    module = importlib.import_module(f"experiments.adapters.{script}")
    monkeypatch.setattr(module, "STEPS", 64 * 52, raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        if (playing := module.main()) is not None:
            asyncio.run(playing)
    assert re.search(printed, capfd.readouterr().out)
