"""Writing a record: its lines, when each is on disk, and what a cut record still holds."""

import hashlib
from pathlib import Path

import pytest
from support.recorded import GAME, SEATS, Dies, Killed, lines_of, text_of

from desim import Episode, Policy, play
from desim.errors import BadRecord, PolicyFailed, UsageError
from desim.records.lines import FORMAT
from models.beer_game import BeerGame, Order, Stage


def test_a_record_holds_header_decisions_and_result(file: Path) -> None:
    """One JSON object a line; actions are tagged; the digest covers all before itself."""
    episode = play(GAME, SEATS, 3, record=file)
    head, *steps, last = lines_of(file)
    assert head["format"] == FORMAT
    assert (head["model"], head["preset"], head["seed"]) == ("beer_game", "firmbench", 3)
    assert head["policies"] == SEATS
    assert head["params"]["horizon"] == 6
    assert [(s["t"], s["role"]) for s in steps] == [(w, r) for w in range(6) for r in SEATS]
    assert steps[0]["action"] == {"do": "order", "quantity": 0}
    assert steps[0]["observation"]["inventory"] == 400
    assert "notes" not in steps[0]
    assert last["score"] == episode.score
    assert last["decisions"] == 12
    before, _, _ = text_of(file).partition(b',"record_digest"')
    assert last["record_digest"] == hashlib.sha256(before).hexdigest()


def test_what_was_played_can_be_read(file: Path) -> None:
    """Header, steps and result, with observations and actions as plain values."""
    played = play(GAME, SEATS, record=file)
    read = Episode.read(file)
    assert (read.header, read.result) == (played.header, played.result)
    assert read.summary() == played.summary()
    assert [(s.t, s.role) for s in read.steps] == [(s.t, s.role) for s in played.steps]
    assert [s.action for s in read.steps] == [
        {"do": "order", "quantity": s.action.quantity} for s in played.steps
    ]
    assert Episode.read(file, whole=False) == read


def test_an_episode_can_be_written_later(tmp_path: Path) -> None:
    """From memory or from a file, byte for byte the record that `play` writes."""
    played = play(GAME, SEATS, record=tmp_path / "first")
    played.write(tmp_path / "second")
    Episode.read(tmp_path / "first").write(tmp_path / "third.gz")
    assert (tmp_path / "second").read_bytes() == (tmp_path / "first").read_bytes()
    assert text_of(tmp_path / "third.gz") == (tmp_path / "first").read_bytes()


def test_a_gzipped_record_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    """It holds neither the name of the file nor the time."""
    for name in ("a.gz", "b.gz"):
        play(GAME, "typical", record=tmp_path / name)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("fault", [ValueError("no idea"), Killed()], ids=["failed", "killed"])
def test_a_record_is_on_disk_before_the_next_decision(file: Path, fault: BaseException) -> None:
    """However the run stops, the decisions before that can be read."""
    with pytest.raises((PolicyFailed, Killed)):
        play(GAME, Dies(4, fault), record=file)
    with pytest.raises(BadRecord, match="was cut after 4 decisions: it has no result"):
        Episode.read(file)
    cut = Episode.read(file, whole=False)
    assert [s.action["quantity"] for s in cut.steps] == [0, 1, 2, 3]
    assert cut.result is None
    assert cut.header.build() == GAME


def test_each_line_is_flushed(file: Path) -> None:
    """Another process can read the record while the episode is played."""
    seen: list[int] = []

    class Reads(Policy):
        def decide(self, stage: Stage) -> Order:
            seen.append(len(Episode.read(file, whole=False).steps))
            return Order(0)

    play(GAME, Reads(), record=file)
    assert seen == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("ask", ["score", "ended", "metrics", "ledger_digest"])
def test_a_cut_record_has_no_result(tmp_path: Path, ask: str) -> None:
    """Reading its score raises an error, and so does writing it."""
    file = tmp_path / "run"
    with pytest.raises(PolicyFailed):
        play(GAME, Dies(2, ValueError()), record=file)
    cut = Episode.read(file, whole=False)
    with pytest.raises(BadRecord, match="cut after 2 decisions"):
        getattr(cut, ask)
    with pytest.raises(BadRecord, match="cut after 2 decisions"):
        cut.write(tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_record_cut_anywhere_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    """In the middle of a line, after a line, in the result: no decision is read wrongly."""
    file, cut = tmp_path / "run", tmp_path / "cut"
    played = Episode.read(play_to(file))
    raw = file.read_bytes()
    head = raw.index(b"\n") + 1
    for end in range(head, len(raw), 7):
        cut.write_bytes(raw[:end])
        read = Episode.read(cut, whole=False)
        whole_lines = raw[:end].count(b"\n") - 1
        assert read.steps == played.steps[:whole_lines], end
        assert read.result is None, end
        with pytest.raises(BadRecord, match="was cut"):
            Episode.read(cut)


def test_a_gzip_cut_anywhere_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """Every decision that was flushed before the cut is read."""
    file, cut = tmp_path / "run.gz", tmp_path / "cut.gz"
    played = Episode.read(play_to(file))
    raw = file.read_bytes()
    counts = []
    for end in range(len(raw) // 2, len(raw), 11):
        cut.write_bytes(raw[:end])
        read = Episode.read(cut, whole=False)
        assert read.steps == played.steps[: len(read.steps)]
        counts.append(len(read.steps))
    assert counts == sorted(counts)
    assert counts[-1] == len(played.steps)


def play_to(file: Path) -> Path:
    """Record an episode of ten weeks."""
    play(BeerGame(horizon=10), "typical", record=file)
    return file


def test_a_decision_whose_notes_hold_a_digest_is_no_result(tmp_path: Path) -> None:
    """A cut record has no result, whatever its last observation or note holds."""

    class Notes(Policy):
        notes = {"record_digest": "record_digest"}  # noqa: RUF012 (as careless users write it)

        def decide(self, stage: Stage) -> Order:
            return Dies(2, ValueError()).decide(stage)

    with pytest.raises(PolicyFailed):
        play(GAME, Notes(), record=tmp_path / "run")
    assert len(Episode.read(tmp_path / "run", whole=False).steps) == 2


def test_an_existing_file_is_kept(file: Path) -> None:
    """The episode is not played and the file is not changed."""
    file.write_text("precious")
    with pytest.raises(UsageError, match=r"exists and is kept; choose another name"):
        play(GAME, Dies(0, AssertionError("it was played")), record=file)
    assert file.read_text() == "precious"


def test_a_record_needs_its_folder(tmp_path: Path) -> None:
    """A missing folder is an error; it is not created."""
    with pytest.raises(UsageError, match=r"cannot write .*run: No such file or directory"):
        play(GAME, "typical", record=tmp_path / "missing" / "run")
    with pytest.raises(UsageError, match=r"exists and is kept|Is a directory"):
        play(GAME, "typical", record=tmp_path)
