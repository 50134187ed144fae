"""Fixtures that run the command line."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import MINE, Desim, Ended
from support.forked import desim_process, ended
from support.paths import PYTHONPATH


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's own folder, which is the current one."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shell(folder: Path) -> Desim:
    """Run desim as a new Python, with warnings as errors, in the user's folder."""

    def run(*arguments: str) -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", "desim", *arguments],
            cwd=folder,
            env={"PYTHONPATH": PYTHONPATH, "PATH": "", "PYTHONWARNINGS": "error"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def process(folder: Path) -> Desim:
    """Run desim as a process of its own that is forked, which is faster than a new Python."""
    return lambda *arguments: ended(desim_process(*arguments, cwd=folder))


@pytest.fixture
def desim(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desim]:
    """Run desim in this process, which is faster."""
    from click.testing import CliRunner

    from desim.cli.main import main

    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments: str) -> Ended:
        done = CliRunner().invoke(main, [*arguments], prog_name="desim")
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Ended(done.exit_code, done.stdout, done.stderr)

    yield run
    sys.modules.pop("mine", None)
