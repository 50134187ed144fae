"""Every file of questions and cases has the canary that the page of verification names."""

import re
from pathlib import Path

import pytest

from models.consulting import case_file
from models.consulting.drawn.templates import case, templates
from models.reasoning import item_file

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "desim" / "docs" / "verification.md"
FILES = sorted(
    file
    for folder in ("consulting/cases", "consulting/drawn/texts", "reasoning/items")
    for file in (ROOT / "models" / folder).iterdir()
    if file.suffix in (".json", ".jsonl")
)


def test_all_kinds_of_files_are_found() -> None:
    """Cases, templates of cases, and items."""
    assert len({file.parent for file in FILES}) == 3


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_has_the_canary(file: Path) -> None:
    """In its first lines, and once."""
    (canary,) = set(re.findall(r"desim canary [0-9a-f-]{36}", PAGE.read_text(encoding="utf-8")))
    text = file.read_text(encoding="utf-8")
    assert text.count(canary) == 1
    assert text.index(canary) < 50


def test_no_player_sees_the_canary() -> None:
    """It is in no case, drawn or not, and in no item."""
    shown = [*case_file.shipped(), *map(case, templates(), range(99)), *item_file.shipped()]
    assert not any("canary" in repr(one) for one in shown)


def test_a_line_with_more_than_a_canary_is_an_item(tmp_path: Path) -> None:
    """So that a misspelt item is not left out in silence."""
    file = tmp_path / "items.jsonl"
    file.write_text('{"canary": "x", "id": "a"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="there is no field 'canary'"):
        item_file.read(file)
