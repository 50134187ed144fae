"""A record states where it was resumed."""

import json
from pathlib import Path

from support.recorded import GAME, lines_of, played_lines

from desim import Episode, play, replay, resume
from desim.records.lines import FORMAT
from desim.records.writer import cut


def test_every_resume_is_on_record(tmp_path: Path) -> None:
    """Once for each process that has added lines, with the decisions before them."""
    file = tmp_path / "a"
    whole = play(GAME, "typical", record=file)
    lines = played_lines(file)
    raw = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(raw[:3]))
    resume(file)
    resumed = file.read_bytes().splitlines(keepends=True)
    assert json.loads(resumed[3]) == {"line": "resumed", "decisions": 2}
    file.write_bytes(b"".join(resumed[:6]))
    resume(file)
    assert Episode.read(file).resumed == (2, 4)
    assert played_lines(file) == lines
    assert [line["line"] for line in lines_of(file)].count("resumed") == 2
    assert lines_of(file)[0]["format"] == FORMAT
    assert replay(file).result == whole.result
    assert Episode.read(file).resumed == (2, 4)


def test_a_resume_that_adds_nothing_is_not_on_record(tmp_path: Path) -> None:
    """Neither a whole record nor one that is cut by its owner gets a line."""
    file = tmp_path / "a"
    play(GAME, "typical", record=file)
    before = file.read_bytes()
    resume(file)
    assert file.read_bytes() == before
    cut(file, 3)
    assert file.read_bytes() == b"".join(before.splitlines(keepends=True)[:4])
