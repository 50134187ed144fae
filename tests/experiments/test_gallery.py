"""The pictures of the pages: few bytes, all of them shown, and drawn anew by one script."""

import re
from pathlib import Path

import gallery
import pytest
from support.paths import ROOT

DOCS = ROOT / "desim" / "docs"
PICTURES = sorted((DOCS / "images").iterdir())


def test_the_pictures_take_less_than_650_kilobytes() -> None:
    """A clone of the repository stays small."""
    assert 0 < sum(picture.stat().st_size for picture in PICTURES) < 650_000


def test_every_picture_is_shown_by_a_page() -> None:
    """No file of the folder is left over."""
    pages = [ROOT / "README.md", *DOCS.glob("*.md")]
    shown = re.findall(r"images/([\w.]+)\)", "".join(p.read_text(encoding="utf-8") for p in pages))
    assert {picture.name for picture in PICTURES} == set(shown)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_loads_nothing_and_runs_nothing(picture: Path) -> None:
    """A browser shows it without a network."""
    text = picture.read_text(encoding="utf-8")
    assert re.findall(r"<script|@import|(?:href|src)=\"(?!#)", text) == []


def test_the_picture_of_the_readme_has_its_units(tmp_path: Path) -> None:
    """It is drawn from an episode, and equal pictures are equal files."""
    for name in ("one.svg", "two.svg"):
        gallery.draw_game(tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    text = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert [
        unit for unit in ("units", "units a week", "week") if f"<!-- {unit} -->" not in text
    ] == []


def test_a_report_whose_figure_is_missing_is_named() -> None:
    """A picture is not left as it was in silence."""
    with pytest.raises(ValueError, match="leaderboard"):
        gallery.figures("<p>no picture</p>")
