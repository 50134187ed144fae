"""The record book: which runs are entered, what is kept of them, and which are refused."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from attrs import evolve
from support.known_worlds import MEASURED, SHORT, Measured, known
from support.small_worlds import Go, Spot

from desim.catalog.known_scores import (
    FILE_NAME,
    KnownBound,
    KnownScore,
    known_scores_text,
    parsed_known_scores,
)
from desim.episodes.driver import play
from desim.episodes.episode_options import TrustOptions
from desim.episodes.replay import replay
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.recorder import Recorder
from desim.studies.boards.record_book import enter, headroom, with_best

#: The records name a class of the tests, which a stranger's record could not.
TRUSTED = TrustOptions(model=MEASURED)

#: The score of the furthest walk that a policy can make here.
BOUND = KnownBound(27, "proved")


def stride(_: Spot) -> Go:
    """Go further than any option."""
    return Go(9)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of the walk: on seed 0 the best known score is 5, and no policy has more than 27."""
    scores = {**SHORT, 0: KnownScore(0, 5, "random", BOUND)}
    path = tmp_path / FILE_NAME
    path.write_text(known_scores_text("make.py", {"short": known(Measured, "short", scores)}))
    return path


def recorded(tmp_path: Path, policy: Any, seed: int = 0, **changes: Any) -> Path:
    """Return the record of a walk."""
    path = tmp_path / f"{len([*tmp_path.iterdir()])}.jsonl"
    play(Measured(**changes), policy, seed, record=path)
    return path


def on_file(book: Path) -> Any:
    """Return what a book holds of the preset."""
    return parsed_known_scores(book.read_bytes(), "b")["short"]


def test_a_run_of_shipped_policies_is_entered_by_their_spec(tmp_path: Path, book: Path) -> None:
    """The spec plays it again, so no record is kept."""
    new = enter(recorded(tmp_path, "greedy"), book, TRUSTED)
    assert (new.world, new.seed, new.before) == (f"{MEASURED}/short", 0, 5)
    assert on_file(book).by_seed == {**SHORT, 0: KnownScore(0, 6, "greedy", BOUND)}
    assert json.loads(book.read_text())["script"] == "make.py"
    assert not (tmp_path / "best").exists()


def test_of_any_other_run_a_record_is_kept(tmp_path: Path, book: Path) -> None:
    """Without the notes of its policies; it replays, and the next best run replaces it."""
    new = enter(recorded(tmp_path, stride), book, TRUSTED)
    assert (new.now.best, new.now.record) == (27, "best/short-0.jsonl.gz")
    kept = tmp_path / new.now.record
    assert replay(kept, model=MEASURED).score == 27
    assert on_file(book).of(0) == new.now
    lower = evolve(new.now, best=5.0)
    scores = {**SHORT, 0: lower}
    book.write_text(known_scores_text("make.py", {"short": known(Measured, "short", scores)}))
    enter(recorded(tmp_path, "greedy"), book, TRUSTED)
    assert on_file(book).of(0).record == ""
    assert not kept.exists()


def test_what_a_policy_knows_is_entered() -> None:
    """With the number of seeds on which it is the best; a run on record counts for none."""
    seer, before = SHORT[1].policy, known(Measured, "short", SHORT, knows={})
    after = with_best(before, Measured(), 0, KnownScore(0, 7, seer))
    assert (after.knows, after.played[seer]) == ({seer: "state"}, 2)
    kept = with_best(before, Measured(), 0, KnownScore(0, 7, seer, record="best/a.jsonl.gz"))
    assert (kept.knows, kept.played) == ({}, before.played)


@pytest.mark.parametrize(
    ("policy", "seed", "changes", "text"),
    [
        ("random", 3, {}, "does not beat the best known score, 5.5 by random"),
        ("greedy", 1, {}, "score 6 does not beat the best known score, 6 by"),
        ("greedy", 4, {}, "nothing is known of the scores with seed 4"),
        ("greedy", 0, {"pace": 2}, "nothing is known of the scores with its parameters"),
        ("greedy", 0, {"steps": 9}, "nothing is known of the scores with its parameters"),
        ({"walker": "greedy", "helper": "greedy"}, 0, {}, "helper, walker played; the known sc"),
        (lambda _: Go(10), 0, {}, "score 30 is above the bound 27 (proved); the bound or the mod"),
    ],
)
def test_a_run_that_beats_nothing_is_refused(
    policy: Any, seed: int, changes: dict[str, int], text: str, tmp_path: Path, book: Path
) -> None:
    """One sentence, and the book stays as it was."""
    before = book.read_bytes()
    with pytest.raises(UsageError) as refused:
        enter(recorded(tmp_path, policy, seed, **changes), book, TRUSTED)
    assert text in str(refused.value)
    assert book.read_bytes() == before


def rewritten(path: Path, **changes: Any) -> Path:
    """Return a record with another header."""
    new, episode = path.with_name("new.jsonl"), Episode.read(path)
    assert episode.result is not None
    with Recorder(new) as recorder:
        recorder.head(msgspec.structs.replace(episode.header, **changes))
        for step in episode.steps:
            recorder.step(step)
        recorder.result(episode.result)
    return new


def test_a_redrawn_future_is_refused(tmp_path: Path, book: Path) -> None:
    """It is another episode than that of its seed."""
    path = rewritten(recorded(tmp_path, "greedy"), futures=((3, 7),))
    with pytest.raises(UsageError, match="its future was redrawn"):
        enter(path, book, TRUSTED)


def test_a_record_that_was_altered_is_refused(tmp_path: Path, book: Path) -> None:
    """As by `desim replay`."""
    path = recorded(tmp_path, "greedy")
    path.write_text(path.read_text().replace('"places":2', '"places":9', 1))
    with pytest.raises(BadRecord):
        enter(path, book, TRUSTED)


def test_nothing_that_a_record_names_is_imported(tmp_path: Path, book: Path) -> None:
    """Unless the caller names it."""
    path = rewritten(recorded(tmp_path, "greedy"), model="sneaky:Walk")
    with pytest.raises(UsageError, match="the record would import module 'sneaky'"):
        enter(path, book)


def test_the_headroom_is_a_share_of_the_scale(book: Path) -> None:
    """From the floor to the bound; without a bound of every seed it is not known."""
    bounded = {0: KnownScore(0, 5, "greedy", KnownBound(8, "relaxation")), 1: SHORT[1]}
    kinds = "2 proved, 2 best known"
    name, of = f"{MEASURED}/short", "random and 2 others"
    assert headroom([name], book).texts == [[name, "4", "5.625", of, "—", kinds, "—"]]
    book.write_text(known_scores_text("make.py", {"short": known(Measured, "short", bounded)}))
    table = headroom([f"{MEASURED}/short", f"{MEASURED}/long"], book)
    [(_, seeds, best, _, bound, kind, share)] = table.texts
    assert (seeds, best, bound, kind) == ("2", "5.5", "7", "1 relaxation, 1 proved")
    assert share == "25.0%"  # 1.5 of 6


def test_a_book_of_another_model_has_no_headroom(book: Path) -> None:
    """Nor one of earlier parameters."""
    other = evolve(on_file(book), fingerprint="0" * 16)
    book.write_text(known_scores_text("make.py", {"short": other}))
    with pytest.raises(UsageError, match=r"scores of preset 'short' with other parameters than"):
        headroom([f"{MEASURED}/short"], book)


def test_a_name_that_steers_a_terminal_is_entered_as_text(tmp_path: Path, book: Path) -> None:
    """The name of a policy on record comes from whoever has written the record."""
    path = rewritten(recorded(tmp_path, stride), policies={"walker": "\x1b[31mbest\n\u202e"})
    assert enter(path, book, TRUSTED).now.policy == r"\x1b[31mbest \u202e"


def test_a_record_that_cannot_be_kept_changes_nothing(tmp_path: Path, book: Path) -> None:
    """As where a file has the name of the folder."""
    before, path = book.read_bytes(), recorded(tmp_path, stride)
    (tmp_path / "best").write_text("mine")
    with pytest.raises(UsageError, match=r"cannot write .*short-0.jsonl.gz: File exists"):
        enter(path, book, TRUSTED)
    assert (book.read_bytes(), (tmp_path / "best").read_text()) == (before, "mine")


def test_a_book_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """With the reason."""
    with pytest.raises(UsageError, match=r"cannot read .*: No such file"):
        headroom([f"{MEASURED}/short"], tmp_path / "none.json")
