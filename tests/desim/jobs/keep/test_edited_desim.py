"""A sweep's folder after edits of desim itself: it continues, unless a rule has changed."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.paths import ROOT

EPISODES = 600
SWEEP = (
    "sweep beer_game --preset poisson --policy base_stock,target=20 "
    f"--seeds 0:{EPISODES} --jobs 1 --out out --digests"
)

#: Harmless edits, by file: what is replaced and by what.
SAME = {
    "desim/ui/browser/widgets.py": ("_PAGE_ROWS = ", "# A comment.\n_PAGE_ROWS = "),
    "desim/core/world.py": ('"""', '"""Another docstring. '),
    "desim/jobs/run/play_episode.py": ("_MAX_ERROR = ", "# A comment.\n_MAX_ERROR = "),
    "desim/reports/elements/page.py": ("MOST_LINES = ", "WIDTH = 9\nMOST_LINES = "),
    "models/beer_game/processes.py": ("\nfrom ", "\nimport sys\nfrom "),
    "models/beer_game/rules.py": ("\ndef ", "\ndef added(): return 1\n\n\ndef "),
}

#: Edits that may change a row, and what is named.
OTHER = (
    ("models/beer_game/score.py", "return -cont", "return 1 - cont", "score"),
    ("models/beer_game/lanes/games.py", 'return ["horizon"', 'return ["end"', "BeerGameLanes"),
    ("desim/collector.py", "50_000", "50_001", "THRESHOLD of desim.collector"),
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of desim, in which files may be edited."""
    for room in ("desim", "ledgers", "models", "policies"):
        shutil.copytree(
            ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "*.md")
        )
    return tmp_path


def started(tree: Path) -> "subprocess.Popen[str]":
    """Start the sweep with the copy."""
    return subprocess.Popen(
        [sys.executable, "-m", "desim", *SWEEP.split()],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "XDG_CACHE_HOME": str(tree / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(tree: Path) -> tuple[int, str]:
    """Run the sweep to its end; return its code and its errors."""
    process = started(tree)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


def edit(file: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text in a file."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def kept(tree: Path) -> int:
    """Return how many rows are kept; 0 as long as there is no table of rows."""
    file, copy = tree / "out" / "sweep.sqlite", tree / "copy.sqlite"  # the sweep locks its file
    if not file.exists():
        return 0
    shutil.copyfile(file, copy)
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        try:
            count: int = connection.execute("SELECT count(*) FROM rows").fetchone()[0]
        except sqlite3.DatabaseError:
            return 0
        return count


@pytest.mark.slow
def test_a_killed_sweep_goes_on_after_harmless_edits(tree: Path) -> None:
    """A comment anywhere, a docstring, an import line, a page; not after a changed rule."""
    process = started(tree)
    while process.poll() is None and not kept(tree):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert 0 < kept(tree) < EPISODES
    for name, (old, new) in SAME.items():
        edit(tree / name, old, new)
    assert finished(tree)[0] == 0
    assert kept(tree) == EPISODES
    for name, old, new, named in OTHER:
        edit(tree / name, old, new)
        code, errors = finished(tree)
        assert code == 2
        assert f"holds rows of other code or data ({named}" in errors
        edit(tree / name, new, old)
