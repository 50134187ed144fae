"""`desim check`: a table of the promises of a world, and exit code 1 if it breaks one."""

from pathlib import Path

import pytest
from support.command_line import Desim, refused
from support.faulty_world import FAULTY, STALL


def test_a_sound_world_exits_with_0(desim: Desim) -> None:
    """The table has a line for each check."""
    done = desim("check", STALL)
    assert (done.code, done.err) == (0, "")
    assert "none of 13 checks failed" in done.out


def test_a_faulty_world_exits_with_1(desim: Desim) -> None:
    """The last line counts the checks that failed."""
    done = desim("check", FAULTY, "--seeds", "0:1")
    assert done.code == 1
    assert "4 checks failed in support.faulty_world:faulty" in done.err


def test_an_unknown_model_is_wrong_usage(desim: Desim) -> None:
    """With the near miss."""
    refused(desim("check", "beer_gam"), "did you mean 'beer_game'?")


def test_a_module_that_ends_python_is_wrong_usage(
    desim: Desim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sys.exit` at import does not end the command silently."""
    (tmp_path / "leaving.py").write_text("import sys\n\nsys.exit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    refused(
        desim("check", "leaving:World"), "leaving ends Python while it is imported (sys.exit(3))"
    )
