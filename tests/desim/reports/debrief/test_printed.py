"""A debrief on paper: at most two sheets, whatever the number of teams and the length of names."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from attrs import evolve

from desim import play, write_debrief
from desim.reports.debrief.teams import MOST_TEAMS
from models.beer_game import BeerGame

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium: Debian's chromium"),
]


def sheets(file: Path, folder: Path) -> int:
    """Print a page with a browser and return the number of sheets."""
    target = folder / "printed.pdf"
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'user'}"]
    command = ["chromium", *options, f"--print-to-pdf={target}", file.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return len(re.findall(rb"/Type /Page\b(?!s)", target.read_bytes()))


@pytest.mark.parametrize(
    "world", ["beer_game/classic", "edt", "enterprise_arena", "yc_bench", "consulting"]
)
def test_one_team_fits_on_two_sheets(world: str, tmp_path: Path) -> None:
    """In every world; one that states nothing fills a single sheet."""
    play(world, "greedy", 1, record=tmp_path / "team.jsonl")
    assert sheets(write_debrief([tmp_path / "team.jsonl"]), tmp_path) in {1, 2}


def test_as_many_teams_as_possible_fit_on_two_sheets(tmp_path: Path) -> None:
    """With more stages than are shown, long names, and a cut record as the first."""
    stages = tuple(f"a stage with a long name {number}" for number in range(12))
    game = evolve(BeerGame.preset("poisson"), stages=stages, controlled=stages[0])
    files = [tmp_path / f"a team with a very long name {n:02d}.jsonl" for n in range(MOST_TEAMS)]
    for number, file in enumerate(files):
        policy = ("last_demand", "sterman", "benchmark")[number % 3]
        play(game, dict.fromkeys(stages, policy), 1, record=file)
    lines = files[0].read_text().splitlines(keepends=True)
    files[0].write_text("".join(lines[:200]))
    assert sheets(write_debrief(files), tmp_path) == 2
