"""The revision of a world rises when its golden digests change; `golden/write.py` writes both."""

from pathlib import Path

import pytest
from attrs import evolve
from golden import write as writer
from golden.write import Table, on_file, present, unrevised, write, written

#: A golden line of one world, changed below.
CASE = ("beer_game/poisson", "sterman")


@pytest.fixture(scope="module")
def now() -> Table:
    """The golden lines at the present revisions."""
    return present(on_file())


def test_golden_lines_change_with_the_revision_alone(now: Table) -> None:
    """Otherwise the text says which revision to raise."""
    assert unrevised(written(), now) == []
    assert written() == now, "run python tests/golden/write.py"


def test_the_files_are_those_of_the_writer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """To the byte; changed lines of one revision are refused, and nothing is written then."""
    files = {"DIGESTS": tmp_path / "digests.tsv", "TABLE": tmp_path / "revisions.tsv"}
    before = {name: getattr(writer, name).read_bytes() for name in files}
    for name, file in files.items():
        file.write_bytes(before[name])
        monkeypatch.setattr(writer, name, file)
    write(on_file())
    assert {name: file.read_bytes() for name, file in files.items()} == before
    changed = files["DIGESTS"].read_text().replace("\t0\t-342.0\t", "\t0\t-342.5\t", 1)
    with pytest.raises(SystemExit) as refused:
        write(changed.splitlines())
    assert str(refused.value) == (
        "the golden lines of beer_game/poisson last_demand are not those of revision 1: raise "
        "beer_game's revision to 2 (models/beer_game/model.py and README.md)"
    )
    assert {name: file.read_bytes() for name, file in files.items()} == before


def test_a_changed_line_of_a_new_revision_and_a_new_baseline_are_accepted(now: Table) -> None:
    """A rule that is added changes no world."""
    changed = evolve(now[CASE], digest="0", revision="2")
    assert unrevised(now, {**now, CASE: changed}) == []
    assert unrevised({one: now[one] for one in now if one != CASE}, now) == []
    assert len(unrevised(now, {**now, CASE: evolve(changed, revision="1")})) == 1
