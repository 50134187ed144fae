"""A record states what it was played with, and a refused replay what has changed since."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from desim import Episode, play, replay
from desim.episodes.replay import branch
from desim.errors import BadRecord
from desim.records.lines import Header
from desim.records.provenance import Provenance, code_digest, versions
from models.beer_game import BeerGame


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record of a short game."""
    file = tmp_path / "run.jsonl"
    play(BeerGame(horizon=5), "typical", 1, record=file)
    return file


def rewritten(record: Path, **provenance: Any) -> Path:
    """Return a record without its last line, whose header states another provenance."""
    head, *lines = record.read_text().splitlines()[:-1]
    changed = {**json.loads(head), "provenance": provenance}
    lines[1] = lines[1].replace('"quantity":', '"quantity":9')
    record.write_text("\n".join([json.dumps(changed), *lines]) + "\n")
    return record


def refused(record: Path) -> str:
    """Return why the decisions of a record cannot be repeated."""
    with pytest.raises(BadRecord) as error:
        branch(Episode.read(record, whole=False))
    return str(error.value)


def test_a_header_states_revision_code_and_versions() -> None:
    """The versions are those of Python and of packages that may change an episode."""
    stated = Header.of(BeerGame(), 1, {}).provenance
    assert stated.revision == 1
    assert stated.code == code_digest(BeerGame()) != ""
    assert stated.versions.keys() == {"python", "numpy", "simpy"}
    assert stated.versions["python"] == sys.version.split()[0]


def test_the_digest_of_the_code_changes_with_a_source_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any module of the package counts; one file alone does if the world is no package."""
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for number, rule in enumerate(["a", "b", "b"]):
        folder = tmp_path / f"worldly{number}"
        (folder / "inside").mkdir(parents=True)
        (folder / "model.py").write_text("class World:\n    models = {}\n")
        (folder / "inside" / "rules.py").write_text(f"RULE = {rule!r}\n")
        module = __import__(f"worldly{number}.model", fromlist=["World"])
        found.append(code_digest(module.World()))
    assert found[0] != found[1] == found[2]


def test_the_refusal_of_an_older_revision_names_both(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the decisions differ, the reason may be that the world is another one."""
    monkeypatch.setattr(BeerGame, "revision", 2)
    text = refused(rewritten(record, revision=1))
    assert text.endswith("; recorded with revision 1 of beer_game, which has revision 2 here")


def test_a_result_of_an_older_revision_is_refused_with_both(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the decisions are the same and only the score differs."""
    monkeypatch.setattr(BeerGame, "revision", 2)
    monkeypatch.setattr(BeerGame, "score", lambda *_: 0.5)
    with pytest.raises(BadRecord, match=r"was .* now 0.5; recorded with revision 1 of beer_game, "):
        replay(record)


def test_code_that_has_changed_is_named_where_the_revision_has_not(record: Path) -> None:
    """As in a user's world that declares none."""
    text = refused(rewritten(record, revision=1, code="0123"))
    assert text.endswith("; the code of beer_game has changed since it was recorded")


def test_versions_that_have_changed_are_named_where_the_code_has_not(record: Path) -> None:
    """Only those that differ, with the present ones."""
    stated = {**versions(), "numpy": "1.0"}
    code = code_digest(BeerGame())
    text = refused(rewritten(record, revision=1, code=code, versions=stated))
    assert f"; recorded with numpy 1.0; here are python {versions()['python']}, " in text


def test_a_forged_difference_adds_nothing_to_the_error(record: Path) -> None:
    """If nothing has changed since, the record was altered."""
    stated = Provenance.of(BeerGame())
    text = refused(rewritten(record, revision=1, code=stated.code, versions=stated.versions))
    assert "recorded with" not in text
    assert "has changed since" not in text


def test_a_record_without_a_provenance_is_read(record: Path) -> None:
    """Records of an older desim state none."""
    head, *lines = record.read_text().splitlines()
    plain = json.loads(head)
    del plain["provenance"]
    record.write_text("\n".join([json.dumps(plain, separators=(",", ":")), *lines[:-1]]) + "\n")
    episode = Episode.read(record, whole=False)
    assert episode.header.provenance == Provenance()
    assert len(branch(episode).open) == 0


@pytest.mark.parametrize("revision", [0, -3, "1", [1], 1.5, {"plant": "x"}])
def test_a_revision_that_is_none_is_not_readable(record: Path, revision: Any) -> None:
    """A header may come from a stranger."""
    with pytest.raises(BadRecord, match="line 1 is not readable"):
        Episode.read(rewritten(record, revision=revision), whole=False)
