"""The game in plain text, through the command line, in a pipe."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from desim import Episode, play
from desim.cli import main


def typed(tmp_path: Path, *lines: str, options: str = "", model: str = "beer_game") -> Result:
    """Play with these lines typed, into `game.jsonl`."""
    command = ["play", model, "--terminal", "--record", str(tmp_path / "game.jsonl")]
    return CliRunner().invoke(main, [*command, *options.split()], input="\n".join([*lines, ""]))


def kept(tmp_path: Path, *, whole: bool = False) -> Episode:
    """Read what was played."""
    return Episode.read(tmp_path / "game.jsonl", whole=whole)


def actions(tmp_path: Path) -> list[Any]:
    """The quantities ordered."""
    return [step.action["quantity"] for step in kept(tmp_path).steps]


def test_a_whole_game_in_a_pipe(tmp_path: Path) -> None:
    """Option 1 every week is greedy; the end stands beside the baselines; the record replays."""
    told = typed(tmp_path, *["1"] * 25)
    assert told.exit_code == 0, told.output
    assert "The game has ended: horizon. Score -43,150" in told.output
    assert "perfect" in told.output
    greedy = play("beer_game", "greedy", 0)
    assert kept(tmp_path, whole=True).ledger_digest == greedy.ledger_digest
    replayed = CliRunner().invoke(main, ["replay", str(tmp_path / "game.jsonl")])
    assert (replayed.exit_code, "25 decisions replayed" in replayed.output) == (0, True)
    spec = f"replay,file={tmp_path / 'game.jsonl'}"
    assert play("beer_game", spec, 0).score == greedy.score


def test_answers_can_be_written_in_three_ways(tmp_path: Path) -> None:
    """An option's number, an action with values, or a tagged object."""
    told = typed(tmp_path, "1", "order quantity=5", "order 6", '{"do": "order", "quantity": 7}')
    assert told.exit_code == 0, told.output
    assert actions(tmp_path) == [0, 5, 6, 7]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("9", "there is no option 9; there are 1"),
        ("odrer 5", "did you mean 'order'"),
        ("order quantity=many", "got `str` - at `$.quantity`"),
        ("order pounds=3", "order has no 'pounds'"),
        ("order 3 4", None),
        ('order "3', "cannot be read"),
        ('{"do": "order"', "that is no JSON"),
        ('{"do": "fly"}', "fly"),
        ("undo", "start with --practice"),
        ("look money", "there is no table 'money'"),
    ],
)
def test_a_wrong_line_is_told_and_changes_nothing(
    line: str, error: str | None, tmp_path: Path
) -> None:
    """The game asks again."""
    told = typed(tmp_path, line, "order 3")
    assert told.exit_code == 0, told.output
    assert (error or "") in told.output
    assert actions(tmp_path)[-1] in {3, 4}
    assert len(actions(tmp_path)) == (1 if error else 2)


def test_help_past_and_tables(tmp_path: Path) -> None:
    """The actions, what was decided, and what the seat may look up."""
    told = typed(tmp_path, "?", "order 17", "past", "look", "look weeks", "look costs")
    assert "Units to order this week; 0 orders nothing. (number)" in told.output
    assert "Order: quantity 17" in told.output
    assert "Tables: weeks, stock_moves, costs" in told.output
    assert "Incoming delivery" in told.output
    assert "Holding" in told.output


def test_quit_keeps_the_game_and_the_next_start_goes_on(tmp_path: Path) -> None:
    """Nothing is asked twice."""
    told = typed(tmp_path, "order 1", "quit", "order 9")
    assert "Your game is kept in" in told.output
    told = typed(tmp_path, "order 2")
    assert "Decision 2, retailer" in told.output
    assert actions(tmp_path) == [1, 2]


def test_undo_in_practice(tmp_path: Path) -> None:
    """Also after the end, where the game would otherwise be over."""
    told = typed(tmp_path, "order 1", "order 2", "undo", "order 3", options="--practice")
    assert told.exit_code == 0, told.output
    assert actions(tmp_path) == [1, 3]
    typed(tmp_path, *["1"] * 23, "undo", "order 4", options="--practice")
    assert actions(tmp_path)[-1] == 4
    assert kept(tmp_path, whole=True).result is not None


def test_a_seat_beside_policies(tmp_path: Path) -> None:
    """Other seats are named with their policies."""
    told = typed(tmp_path, "order 1", options="--seat wholesaler --policy retailer=typical")
    assert "you are wholesaler" in told.output
    assert kept(tmp_path).header.policies == {"wholesaler": "person", "retailer": "typical"}
    told = typed(tmp_path, "order 1", options="--policy typical")
    assert (told.exit_code, "write ROLE=typical" in told.output) == (2, True)


@pytest.mark.parametrize("model", ["edt", "edt/interactive", "yc_bench", "enterprise_arena"])
def test_every_world_is_played_by_numbers_alone(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One design for all of them."""
    monkeypatch.setattr("desim.catalog.baselines", lambda _: ())  # some search for seconds
    told = typed(tmp_path, *["1"] * 12, model=model)
    assert told.exit_code == 0, told.output
    assert len(kept(tmp_path).steps) in {1, 12}


def test_the_file_is_named_by_the_game_where_none_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies in the folder one works in."""
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(
        main, ["play", "beer_game/classic", "--terminal", "--seed", "3"], input="1\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["beer_game-classic-seed3.play.jsonl"]


def test_nothing_loads_the_page_that_does_not_show_it() -> None:
    """Neither desim nor the terminal imports NiceGUI."""
    code = "import sys, desim.cli, desim.doors.terminal; print('nicegui' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_nicegui_the_page_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, and the way out."""
    monkeypatch.setitem(sys.modules, "nicegui", None)
    monkeypatch.delitem(sys.modules, "desim.doors.page", raising=False)
    told = CliRunner().invoke(main, ["play", "beer_game", "--record", str(tmp_path / "g.jsonl")])
    assert told.exit_code == 2
    assert "pip install 'desim[play]', or play with --terminal" in told.output
