"""Worlds and policies that can do without numpy are played where it is not installed."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import PYTHONPATH, TESTS

from desim.late_import import LateModule

GOLDEN = (TESTS / "golden" / "digests.tsv").read_text(encoding="utf-8").splitlines()

#: Plays episodes in an interpreter that finds neither numpy nor scipy, and prints their lines.
PROGRAM = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "scipy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from experiments.digests import line

for case in sys.argv[1:]:
    print(line(*case.split(" "), 3))
"""

CASES = (
    "beer_game/poisson order_up_to",
    "beer_game/poisson random",
    "beer_game/classic sterman",
    "consulting/drawn framework",
    "edt/interactive simple",
    "edt/interactive greedy",
    "yc_bench/default published_random",
)


def test_episodes_without_numpy_are_the_same(tmp_path: Path) -> None:
    """Scores and ledger digests equal the golden ones, with draws of the world and of a policy."""
    command = [sys.executable, "-c", PROGRAM, *CASES]
    variables = {"PYTHONPATH": PYTHONPATH}
    played = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=tmp_path, env=variables
    )
    assert played.stderr == ""
    lines = played.stdout.splitlines()
    assert (len(lines), set(lines) - set(GOLDEN)) == (len(CASES), set())


def test_a_late_module_is_imported_at_its_first_use() -> None:
    """A module that is missing raises the interpreter's own error, when a name of it is used."""
    late = LateModule("no_such_module_anywhere")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        late.zeros  # noqa: B018 (the use is the claim)
    assert LateModule("math").pi == pytest.approx(3.14159, abs=1e-5)
