"""A person's game stops at their decisions, records every answer, and refuses stale ones."""

import threading
from pathlib import Path
from typing import Any

import pytest
from support.recorded import played_lines

from desim import Episode, catalog, play, replay
from desim.errors import BadRecord, UsageError, WrongAction
from desim.ui.game import Game, Stale

MODEL = catalog.model("beer_game", changes={"horizon": "8"})


def game(file: Path, **more: Any) -> Game:
    """Start a short Beer Game."""
    return Game(more.pop("model", MODEL), more.pop("seed", 0), file, **more)


def take_best(played: Game, times: int = 100) -> None:
    """Answer with the best option until the end, or a number of times."""
    for _ in range(times):
        if played.view.episode is None:
            played.answer(played.view.turn, played.view.options[0].action)


def test_a_person_who_takes_the_best_option_plays_like_greedy(tmp_path: Path) -> None:
    """Options are sorted by value, and the episode is the same as one without a person."""
    with game(tmp_path / "mine.jsonl") as played:
        take_best(played)
        assert played.view.episode is not None
        mine = played.view.episode
    theirs = play(MODEL, "greedy", 0)
    assert (mine.score, mine.ledger_digest) == (theirs.score, theirs.ledger_digest)


def test_the_record_replays_and_serves_as_a_policy(tmp_path: Path) -> None:
    """A person's game is an episode like any other."""
    file = tmp_path / "mine.jsonl"
    with game(file) as played:
        take_best(played)
    assert replay(file).header.policies == {"retailer": "person"}
    again = play(MODEL, f"replay,file={file}", 0)
    assert again.ledger_digest == Episode.read(file).ledger_digest


def test_an_answer_is_on_disk_when_the_call_returns(tmp_path: Path) -> None:
    """A killed process loses nothing."""
    file = tmp_path / "mine.jsonl"
    with game(file) as played:
        played.answer(0, {"do": "order", "quantity": 7})
        assert [step.action for step in Episode.read(file, whole=False).steps] == [
            {"do": "order", "quantity": 7}
        ]


def test_the_same_file_goes_on_where_it_was(tmp_path: Path) -> None:
    """A game with the file of another continues at the first decision that is not on record."""
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    with game(whole) as played:
        take_best(played)
    with game(cut) as played:
        take_best(played, 3)
    with game(cut) as played:
        assert len(played.view.steps) == 3
        take_best(played)
    assert played_lines(cut) == played_lines(whole)
    assert Episode.read(cut).resumed == (3,)


def test_a_whole_record_shows_its_end(tmp_path: Path) -> None:
    """No decision is open."""
    file = tmp_path / "mine.jsonl"
    with game(file) as played:
        take_best(played)
    before = file.read_bytes()
    with game(file) as played:
        assert played.view.episode is not None
        assert played.view.role == ""
        with pytest.raises(Stale, match="no open decision"):
            played.answer(0, {"do": "order", "quantity": 1})
    assert file.read_bytes() == before


def test_a_stale_answer_changes_nothing(tmp_path: Path) -> None:
    """As from a second tab or a second click, to a decision that is not open any more."""
    with game(tmp_path / "mine.jsonl") as played:
        played.answer(0, {"do": "order", "quantity": 1})
        view = played.view
        with pytest.raises(Stale, match="moved on"):
            played.answer(0, {"do": "order", "quantity": 2})
        assert played.view is view


def test_of_many_answers_at_once_one_is_taken(tmp_path: Path) -> None:
    """Only the first of several threads that answer the same view."""
    with game(tmp_path / "mine.jsonl") as played:
        refused: list[Stale] = []

        def answer(quantity: int) -> None:
            try:
                played.answer(0, {"do": "order", "quantity": quantity})
            except Stale as stale:
                refused.append(stale)

        threads = [threading.Thread(target=answer, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(refused), len(played.view.steps)) == (7, 1)


def test_a_hint_is_open_for_the_decision_at_which_it_was_opened(tmp_path: Path) -> None:
    """The next decision has its own hint; a stale view opens none."""
    with game(tmp_path / "mine.jsonl") as played:
        assert not played.hint_open
        played.hint_opened(0)
        assert played.hint_open
        played.answer(0, {"do": "order", "quantity": 4})
        assert not played.hint_open
        with pytest.raises(Stale):
            played.hint_opened(0)
    with game(tmp_path / "other.jsonl", hints=True) as played:
        assert played.hint_open


def test_a_wrong_answer_raises_and_changes_nothing(tmp_path: Path) -> None:
    """The form has refused it before, in its own words."""
    with game(tmp_path / "mine.jsonl") as played:
        with pytest.raises(WrongAction, match=r"at `\$.quantity`"):
            played.answer(0, {"do": "order", "quantity": "many"})
        assert played.view.turn == 0
        played.answer(0, {"do": "order", "quantity": 1})


def test_undo_rewrites_the_record(tmp_path: Path) -> None:
    """In practice a decision is taken back, also on record, which states where it went on."""
    straight, winding = tmp_path / "straight.jsonl", tmp_path / "winding.jsonl"
    with game(straight) as played:
        take_best(played)
    with game(winding, practice=True) as played:
        take_best(played, 2)
        turn = played.view.turn
        played.answer(turn, {"do": "order", "quantity": 999})
        played.undo(played.view.turn)
        assert len(played.view.steps) == 2
        with pytest.raises(Stale):
            played.answer(turn, {"do": "order", "quantity": 998})
        take_best(played)
        played.undo(played.view.turn)
        assert played.view.episode is None
        take_best(played)
    assert played_lines(winding) == played_lines(straight)
    assert Episode.read(winding).resumed == (2, 7)


def test_undo_needs_practice_and_something_to_undo(tmp_path: Path) -> None:
    """Without practice decisions are final."""
    with game(tmp_path / "final.jsonl") as played:
        take_best(played, 1)
        with pytest.raises(UsageError, match="--practice"):
            played.undo(played.view.turn)
    fresh = game(tmp_path / "practice.jsonl", practice=True)
    with fresh, pytest.raises(UsageError, match="nothing was decided yet"):
        fresh.undo(0)


def test_other_seats_are_played_by_policies(tmp_path: Path) -> None:
    """Undo also takes back what the policies of other roles have decided since."""
    file = tmp_path / "two.jsonl"
    seats: dict[str, Any] = {"seats": ["wholesaler"], "others": {"retailer": "typical"}}
    with game(file, practice=True, **seats) as played:
        take_best(played, 3)
        played.undo(played.view.turn)
        take_best(played)
        assert {step.role for step in played.view.steps} == {"wholesaler"}
    assert replay(file).header.policies == {"wholesaler": "person", "retailer": "typical"}
    with game(file, **seats) as played:
        assert played.view.episode is not None


def test_a_file_of_another_game_is_left_alone(tmp_path: Path) -> None:
    """Model, seed, parameters and policies must be those of the record."""
    file = tmp_path / "mine.jsonl"
    with game(file) as played:
        take_best(played, 1)
    before = file.read_bytes()
    with pytest.raises(UsageError, match="seed was 0, now 3"):
        game(file, seed=3)
    with pytest.raises(UsageError, match=r"params\.horizon was 8, now 9"):
        game(file, model=catalog.model("beer_game", changes={"horizon": "9"}))
    with pytest.raises(UsageError, match="another game"):
        game(file, seats=["wholesaler"])
    assert file.read_bytes() == before


def test_a_file_that_is_no_record_is_left_alone(tmp_path: Path) -> None:
    """Notes are not overwritten."""
    file = tmp_path / "notes.txt"
    file.write_text("remember the milk\n")
    with pytest.raises(BadRecord, match="no episode record"):
        game(file)
    assert file.read_text() == "remember the milk\n"


def test_two_processes_cannot_play_one_file(tmp_path: Path) -> None:
    """The second raises an error, and the first continues, also after an undo."""
    file = tmp_path / "mine.jsonl"
    with game(file, practice=True) as played:
        take_best(played, 2)
        with pytest.raises(UsageError, match="being played"):
            game(file)
        played.undo(played.view.turn)
        with pytest.raises(UsageError, match="being played"):
            game(file)
        take_best(played)
    replay(file)


def test_seats_must_exist_and_be_free(tmp_path: Path) -> None:
    """A role must be one of the model's, and has one player."""
    with pytest.raises(UsageError, match="did you mean 'retailer'"):
        game(tmp_path / "a.jsonl", seats=["retailr"])
    with pytest.raises(UsageError, match="the person's role"):
        game(tmp_path / "b.jsonl", others={"retailer": "greedy"})
    assert list(tmp_path.iterdir()) == []


def test_tables_are_those_of_the_role(tmp_path: Path) -> None:
    """A stage's manager sees the tables of that stage only."""
    with game(tmp_path / "mine.jsonl", seats=["wholesaler"]) as played:
        take_best(played, 3)
        tables = played.view.tables
        assert set(tables) == {"weeks", "stock_moves", "costs"}
        assert [row["week"] for row in tables["weeks"]] == [1, 2, 3]
        assert tables["costs"][-1]["total"] == sum(
            row["holding"] + row["backlog"] for row in tables["costs"]
        )
        assert tables["stock_moves"][-1]["on_hand"] == played.view.observation.inventory
