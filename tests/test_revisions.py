"""The revision of a world rises when its golden digests change; an archive has records of each.

`experiments/world_revisions.py` writes what is compared here.
"""

import hashlib
from pathlib import Path

import pytest
from attrs import evolve

from desim import Episode, catalog, replay
from desim.core.model_protocols import revision_of, revision_text
from desim.errors import BadRecord
from experiments import world_revisions
from experiments.world_revisions import (
    ARCHIVE,
    SUMS,
    Table,
    archive,
    present,
    unrevised,
    written,
)

RECORDS = sorted(ARCHIVE.glob("*.jsonl.gz"))

#: A golden line of one world, changed below.
CASE = ("beer_game/poisson", "sterman")


@pytest.fixture(scope="module")
def now() -> Table:
    """The golden lines at the present revisions."""
    return present()


def test_golden_lines_change_with_the_revision_alone(now: Table) -> None:
    """Otherwise the text says which revision to raise, and what to run."""
    assert unrevised(written(), now) == []
    assert written() == now, "run python experiments/world_revisions.py"


def test_a_changed_line_of_one_revision_is_refused(
    now: Table, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By the test above, and by the command, which then writes nothing."""
    lines = world_revisions.DIGESTS.read_text().replace("\t0\t-342.0\t", "\t0\t-342.5\t", 1)
    (tmp_path / "digests.tsv").write_text(lines)
    monkeypatch.setattr(world_revisions, "DIGESTS", tmp_path / "digests.tsv")
    table = world_revisions.TABLE.read_bytes()
    with pytest.raises(SystemExit) as refused:
        world_revisions.main()
    assert str(refused.value) == (
        "the golden lines of beer_game/poisson last_demand are not those of revision 1: raise "
        "beer_game's revision to 2 (models/beer_game/model.py and README.md) and run "
        "python experiments/world_revisions.py"
    )
    assert world_revisions.TABLE.read_bytes() == table


def test_a_changed_line_of_a_new_revision_and_a_new_baseline_are_accepted(now: Table) -> None:
    """A rule that is added changes no world."""
    changed = evolve(now[CASE], digest="0", revision="2")
    assert unrevised(now, {**now, CASE: changed}) == []
    assert unrevised({one: now[one] for one in now if one != CASE}, now) == []
    assert len(unrevised(now, {**now, CASE: evolve(changed, revision="1")})) == 1


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_an_archived_record_replays_as_long_as_its_revision_does(record: Path) -> None:
    """One of an older revision replays too, or is refused with both revisions."""
    header = Episode.read(record).header
    try:
        assert replay(record).header == header
    except BadRecord as fault:
        assert header.provenance.revision != revision_of(catalog.model(header.model))
        assert "; recorded with revision " in str(fault)  # noqa: PT017 (a replay that is refused)


def test_every_world_is_in_the_archive_at_its_present_revision() -> None:
    """Those of a model with parts are the revisions of all parts."""
    held = {(h.model, h.provenance.text) for h in (Episode.read(one).header for one in RECORDS)}
    stated = {(name, revision_text(revision_of(catalog.model(name)))) for name in catalog.models()}
    assert stated <= held


def test_the_archive_only_grows() -> None:
    """Each record has the digest that was listed when it was added."""
    listed = {
        name: digest
        for digest, name in (line.split() for line in (ARCHIVE / SUMS).read_text().splitlines())
    }
    assert listed == {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in RECORDS}
    assert sum(one.stat().st_size for one in RECORDS) < 300_000


def test_a_record_is_added_once_for_each_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there is kept as it is."""
    (first,) = archive(tmp_path, ["edt"])
    kept = first.read_bytes()
    assert [*archive(tmp_path, ["edt"])] == []
    monkeypatch.setattr(catalog.model_class("edt"), "revision", 2)
    (second,) = archive(tmp_path, ["edt"])
    assert [first.name, second.name] == ["edt-1.jsonl.gz", "edt-2.jsonl.gz"]
    assert first.read_bytes() == kept
    assert len((tmp_path / SUMS).read_text().splitlines()) == 2
