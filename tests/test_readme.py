"""The README is short, and CI runs its two commands; `tests/docs` runs its blocks."""

import re
import shutil
import subprocess

import pytest
from support.page_blocks import blocks_of
from support.paths import ROOT

README = ROOT / "README.md"


def test_the_readme_fits_in_two_hundred_lines() -> None:
    """Longer explanations have pages of their own."""
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 200


def test_the_world_of_the_readme_is_short() -> None:
    """A whole world has fewer than sixty lines."""
    (kiosk,) = (block.text for block in blocks_of(README) if block.file == "kiosk.py")
    assert len(kiosk.splitlines()) < 60


def test_ci_runs_the_commands_of_the_readme() -> None:
    """The two commands are in `.ci/run` letter for letter."""
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    shell = [block.text.strip() for block in blocks_of(README) if block.kind == "sh"]
    commands = [line for text in shell for line in text.splitlines()]
    assert len(commands) == 2
    assert [command for command in commands if command not in ci] == []


def test_the_architecture_names_every_top_folder() -> None:
    """Its table of the top level has a row for each folder, and no other."""
    page = (ROOT / "desim" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page.split("## The top level")[1].split("\n## ")[0]
    named = {name.split("/")[0] for name in re.findall(r"^\| `([\w/]+)", table, re.MULTILINE)}
    rooms = {p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith((".", "_"))}
    assert named == rooms


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_ci_script_is_well_formed() -> None:
    """Bash can read it to its end."""
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)
