"""The script that makes the known scores: floors, best runs, and the file."""

import json
from pathlib import Path

import pytest
from golden.known_scores import (
    known_score,
    update,
)
from support.known_worlds import SHORT, Measured, known
from support.sweep_rows import row

from desim.catalog.known_scores import FILE_NAME
from desim.rows.rows import Rows

ROWS = Rows([row("seer", 0, 8), row("a", 0, 8), row("b", 0, 8), row("c", 0, 2)])


def test_a_run_above_a_bound_is_no_data() -> None:
    """The bound or the world is wrong."""
    with pytest.raises(ValueError, match="floor 2, best 8 and bound 7 were given"):
        known_score(ROWS, 2, (7, "proved"), {})


def test_a_preset_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    """The file is written whole."""
    short = known(Measured, "short", SHORT)
    update(tmp_path / "model.py", "a", short)
    update(tmp_path / "model.py", "b", short)
    update(tmp_path / "model.py", "a", known(Measured, "short", {0: SHORT[3]}))
    file = json.loads((tmp_path / FILE_NAME).read_text(encoding="utf-8"))
    assert {name: [*of["scores"]] for name, of in file["presets"].items()} == {
        "a": ["0"],
        "b": ["0", "1", "2", "3"],
    }
