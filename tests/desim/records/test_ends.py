"""The first and the last line of a record are read without those between."""

from pathlib import Path

import pytest

from desim import play
from desim.errors import BadRecord
from desim.jobs.keep.outcome import read_outcome, read_outcome_of_rules
from desim.records.record import read_ends
from models.beer_game import BeerGame


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize("weeks", [3, 400])
def test_ends_are_those_of_the_whole_record(tmp_path: Path, name: str, weeks: int) -> None:
    """Short and long, plain and zipped."""
    path = tmp_path / name
    episode = play(BeerGame(horizon=weeks), "sterman", 2, record=path)
    header, result = read_ends(path)
    assert (header.seed, result) == (2, episode.result)
    assert read_outcome_of_rules("job", path) == read_outcome("job", path)


def test_a_cut_record_has_no_result(tmp_path: Path) -> None:
    """Between two lines, or within one."""
    path = tmp_path / "a.jsonl"
    play(BeerGame(horizon=9), "sterman", 2, record=path)
    content = path.read_bytes()
    for end in (content.rindex(b"\n", 0, -1) + 1, len(content) - 9):
        path.write_bytes(content[:end])
        assert read_ends(path)[1] is None


@pytest.mark.parametrize("content", [b"", b"{}\n", b"no record\n", b"\n\n"])
def test_what_is_no_record_is_refused(tmp_path: Path, content: bytes) -> None:
    """An empty file too."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadRecord):
        read_ends(path)
