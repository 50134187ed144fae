"""The README tells the truth: its code runs and its commands print what it says they print."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.forked import desim_process, ended
from support.paths import PYTHONPATH, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)

#: The README's first command, which plays every world and so belongs to the slow tests.
FIRST = "desim baselines"

#: What differs from run to run.
SPEED = re.compile(r"[\d,]+ episodes a second")


def blocks(kind: str) -> list[str]:
    """The fenced blocks of one kind."""
    return [text for found, text in FENCE.findall(README) if found == kind]


def dialogues() -> list[tuple[str, str]]:
    """Every `$ command` with the text printed under it."""
    parts = [
        p for block in blocks("console") for p in re.split(r"^\$ ", block, flags=re.MULTILINE) if p
    ]
    return [(p.split("\n", 1)[0], p.split("\n", 1)[1].rstrip()) for p in parts]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder with the README's files and a `policies` folder of its own."""
    (tmp_path / "policies").mkdir()
    for text in [*blocks("python"), *blocks("toml")]:
        if name := re.match(r"# (\w+\.(py|toml))", text):
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
    return tmp_path


def python(*arguments: str, cwd: Path, env: dict[str, str]) -> "subprocess.Popen[str]":
    """Start a new Python."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("first", [pytest.param(True, marks=pytest.mark.slow), False])
def test_every_command_prints_what_the_readme_says(folder: Path, *, first: bool) -> None:
    """In order, in one folder outside the repository, as a reader would type them."""
    env = {"PYTHONPATH": PYTHONPATH, "PYTHONWARNINGS": "default"}
    programs = {"desim": desim_process, "python": python}
    commands = [each for each in dialogues() if (each[0] == FIRST) is first]
    assert commands
    for command, printed in commands:
        program, *arguments = command.split()
        done = ended(programs[program](*arguments, cwd=folder, env=env))
        assert done.code == 0, done.err
        lines = "\n".join(line.rstrip() for line in done.out.rstrip().splitlines())
        assert SPEED.sub("N", lines) == SPEED.sub("N", printed), command


def test_the_fifth_world_is_short_and_runs_from_the_command_line() -> None:
    """The README promises a whole world in under sixty lines."""
    kiosk = next(text for text in blocks("python") if text.startswith("# kiosk.py"))
    assert len(kiosk.splitlines()) <= 60


def test_ci_runs_the_commands_of_the_readme() -> None:
    """The two commands stand in `.ci/run` letter for letter."""
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = [line for block in blocks("sh") for line in block.strip().splitlines()]
    assert len(commands) == 2
    assert [c for c in commands if c not in ci] == []


def test_every_folder_the_readme_draws_exists() -> None:
    """And every room there is is drawn."""
    drawn = re.findall(r"^(\w+)/ ", README, flags=re.MULTILINE)
    assert sorted(drawn) == sorted(d for d in drawn if (ROOT / d).is_dir())
    rooms = {p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith((".", "_"))}
    assert rooms - set(drawn) == set()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_ci_script_is_well_formed() -> None:
    """Bash can read it to its end."""
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)
