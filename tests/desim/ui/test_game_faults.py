"""A game that fails says what failed, keeps every decision, has no result, and can go on."""

from pathlib import Path
from typing import Any

import pytest
from support.failing_world import BadCarter, Grind, Mill
from support.recorded import played_lines

from desim import Episode, replay
from desim.episodes import session
from desim.errors import BadRecord, UsageError
from desim.ui.game import Game, Stale
from desim.ui.game_faults import Fault


def mill(file: Path, model: Mill | None = None, **more: Any) -> Game:
    """Open a game of the miller."""
    return Game(model or Mill(), 0, file, **more)


def grind(game: Game, *sacks: int) -> None:
    """Answer as the miller."""
    for each in sacks:
        game.answer(game.view.turn, Grind(each))


def stopped(game: Game) -> Fault:
    """Return the fault of a game that cannot go on; it offers no decision and refuses all."""
    fault = game.view.fault
    assert fault is not None
    assert not fault.again
    assert (game.view.role, game.view.episode) == ("", None)
    for attempt in (lambda: grind(game, 1), lambda: game.go_on(game.view.turn)):
        with pytest.raises((Stale, UsageError)):
            attempt()
    return fault


def cut_record(file: Path) -> Episode:
    """Read a record that has no result."""
    episode = Episode.read(file, whole=False)
    assert episode.result is None
    return episode


# -- faults of a model -----------------------------------------------------------------------------


def test_a_fault_of_the_model_ends_the_game_without_a_result(tmp_path: Path) -> None:
    """It names tick, place and answer; a resume leads to the same fault, in the same place."""
    file = tmp_path / "mill.jsonl"
    with mill(file) as game:
        grind(game, 1, 2, 13)
        first = stopped(game)
        assert "model Mill failed at t=2 in Mill.grind" in first.text
        assert first.text.endswith("KeyError: 'stone'")
        assert "The fault came after decision 3 on record." in first.way
        assert first.way.endswith(f"desim branch {file} --at 3 --policy miller=greedy")
    before, record = played_lines(file), cut_record(file)
    assert len(record.steps) == 3
    failure = record.failure
    assert failure is not None
    assert (failure.t, failure.decisions, failure.before) == (2, 3, 2)
    assert failure.error == first.text
    for _ in range(2):
        with mill(file) as game:
            assert stopped(game) == first
            assert len(game.view.steps) == 3
    assert played_lines(file) == before
    assert cut_record(file).resumed == (3, 3)


def test_practice_takes_back_the_answer_that_broke_the_model(tmp_path: Path) -> None:
    """Also in a game that was not started as practice; the record then replays to its end."""
    file = tmp_path / "mill.jsonl"
    with mill(file) as game:
        grind(game, 1, 13)
    with mill(file, practice=True) as game:
        stopped(game)
        game.undo(game.view.turn)
        assert (game.view.fault, game.view.role, len(game.view.steps)) == (None, "miller", 1)
        grind(game, 4, 5, 6, 7)
        assert game.view.episode is not None
    assert replay(file).score == 23


def test_a_model_that_exits_does_not_end_the_process(tmp_path: Path) -> None:
    """SystemExit is a fault like any other, with tick and place."""
    with mill(tmp_path / "mill.jsonl") as game:
        grind(game, 1, 99)
        assert "failed at t=1 in " in stopped(game).text
        assert "SystemExit: 4" in stopped(game).text


# -- faults of policies of other roles -------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "text"),
    [("raise", "ConnectionError: the line is dead"), ("wrong", "fly"), ("exit", "SystemExit: 6")],
)
def test_only_a_policy_that_failed_is_asked_again(how: str, text: str, tmp_path: Path) -> None:
    """Its exception and its wrong action change nothing, and the record replays."""
    file = tmp_path / "mill.jsonl"
    with mill(file, others={"carter": BadCarter(how)}) as game:
        grind(game, 1)
        assert game.view.fault is not None
        assert game.view.fault.again
        assert text in game.view.fault.text
        game.go_on(game.view.turn)
        assert game.view.fault is None
        with pytest.raises(UsageError, match="the game has stopped"):
            game.go_on(game.view.turn)
        grind(game, 1, 1, 1, 1)
        assert game.view.episode is not None
    assert replay(file).score == 5


# -- options and tables ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("raise", "Mill.options failed in Mill.options (failing_world.py, line "),
        ("exit", "SystemExit: 3"),
        ("none", "TypeError"),
        ("text", "TypeError"),
        ("alien", "Day"),
    ],
)
def test_options_that_fail_cost_only_the_options(kind: str, text: str, tmp_path: Path) -> None:
    """One line says what failed; actions can be given; the other days and a resume are the same."""
    file = tmp_path / "mill.jsonl"
    model = Mill(options_fail=(1, 2), options_kind=kind)
    with mill(file, model) as game:
        assert (len(game.view.options), game.view.options_error) == (3, "")
        grind(game, 1)
        assert game.view.options == ()
        assert game.view.options_error.startswith("There are no options now: Mill.options failed")
        assert text in game.view.options_error
        game.answer(game.view.turn, {"do": "grind", "sacks": 2})
    with mill(file, model) as game:
        assert (game.view.role, game.view.options) == ("miller", ())
        assert text in game.view.options_error
        grind(game, 3)
        assert (len(game.view.options), game.view.options_error) == (3, "")
        grind(game, 4, 5)
    assert replay(file).score == 15


@pytest.mark.parametrize(("kind", "text"), [("raise", "no book for the miller"), ("exit", "5")])
def test_tables_that_fail_cost_only_the_tables(kind: str, text: str, tmp_path: Path) -> None:
    """During the game, at its end, after a fault, and again after a resume."""
    file = tmp_path / "mill.jsonl"
    model = Mill(tables_fail=kind)
    with mill(file, model) as game:
        grind(game, 1, 2)
    with mill(file, model) as game:
        assert game.view.tables == {}
        assert game.view.tables_error.startswith("There are no tables now: Mill.tables failed in")
        assert text in game.view.tables_error
        assert len(game.view.options) == 3
        grind(game, 3, 4, 5)
        assert game.view.episode is not None
        assert text in game.view.tables_error
    replay(file)


# -- records that cannot be written, or were changed -----------------------------------------------


def test_an_answer_that_cannot_be_recorded_stops_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is then ahead of its record, so nothing more is written; a restart continues."""
    file = tmp_path / "mill.jsonl"

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with mill(file) as game:
        grind(game, 1)
        with monkeypatch.context() as patched:
            patched.setattr(session.Recorder, "write", full)
            grind(game, 2)
        fault = stopped(game)
        assert f"{file}: OSError: [Errno 28] No space left on device" in fault.text
        assert "the same command continues" in fault.way
    with mill(file) as game:
        assert [step.action for step in game.view.steps] == [Grind(1)]
        grind(game, 3, 4, 5, 6)
    assert replay(file).score == 19


def test_a_result_that_cannot_be_recorded_is_written_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All decisions are on record, so the error names the model as the cause, not the disk."""
    file = tmp_path / "mill.jsonl"

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with mill(file, Mill(days=1)) as game:
        with monkeypatch.context() as patched:
            patched.setattr(session.Recorder, "end", full)
            grind(game, 2)
        assert "cannot be recorded" in stopped(game).heading
    with mill(file, Mill(days=1)) as game:
        assert game.view.episode is not None
    assert replay(file).score == 2


@pytest.mark.parametrize("how", ["appended", "replaced", "removed"])
def test_a_record_changed_by_another_program_is_not_written_to(how: str, tmp_path: Path) -> None:
    """The next answer is not taken, and what the other program wrote stays as it is."""
    file = tmp_path / "mill.jsonl"
    with mill(file, practice=True) as game:
        grind(game, 1)
        if how == "appended":
            with file.open("a") as more:
                more.write("remember the milk\n")
        else:
            file.rename(tmp_path / "old.jsonl")
        if how == "replaced":
            file.write_text("remember the milk\n")
        before = file.read_bytes() if file.exists() else None
        grind(game, 2)
        assert "was changed or removed by another program" in stopped(game).text
        game.undo(game.view.turn)
        assert "was changed or removed by another program" in stopped(game).text
    assert (file.read_bytes() if file.exists() else None) == before
    if how != "removed":
        with pytest.raises(BadRecord):
            mill(file)
