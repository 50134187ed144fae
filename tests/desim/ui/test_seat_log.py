"""The log of a person's game: the time of each decision, without that of a closed tab."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.recorded import played_lines

from desim import Episode, catalog
from desim.cli.main import main
from desim.errors import UsageError, WrongAction
from desim.ui.game import Game
from desim.ui.seat_log import SeatLog

MODEL = catalog.model("beer_game", changes={"horizon": "8"})


class Watch:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now


def lines(tmp_path: Path) -> list[dict[str, Any]]:
    """The lines of the log."""
    file = tmp_path / "game.seat.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()]


def game(tmp_path: Path, watch: Watch, surface: Any = "browser", **more: Any) -> Game:
    """A game with a log."""
    record = tmp_path / "game.jsonl"
    return Game(MODEL, 0, record, log=SeatLog(record, surface, "Ann", watch), **more)


def order(played: Game, quantity: int = 4) -> None:
    """Answer the open decision."""
    played.answer(played.view.turn, {"do": "order", "quantity": quantity})


def test_seconds_count_while_a_tab_shows_the_decision(tmp_path: Path) -> None:
    """From the first sign of a tab on; a gap of more than five seconds counts as away."""
    watch = Watch()
    with game(tmp_path, watch) as played:
        for watch.now in (160.0, 162.0, 166.5, 1000.0, 1001.0):
            played.seen()
        watch.now = 1001.5
        order(played)
        played.seen()
        watch.now += 3
        order(played)
    assert [(line["seconds"], line["away_seconds"]) for line in lines(tmp_path)] == [
        (8.0, 833.5),
        (3.0, 0.0),
    ]


def test_a_terminal_counts_the_whole_time(tmp_path: Path) -> None:
    """It gives no sign before the answer."""
    watch = Watch()
    with game(tmp_path, watch, "terminal") as played:
        played.seen()
        watch.now += 600
        order(played)
    assert [(line["seconds"], line["away_seconds"]) for line in lines(tmp_path)] == [(600.0, 0.0)]


def test_hints_and_tables_belong_to_the_decision_before_which_they_were_opened(
    tmp_path: Path,
) -> None:
    """Tables once each, in their order."""
    with game(tmp_path, Watch()) as played:
        played.hint_opened(played.view.turn)
        for name in ("orders", "shipments", "orders"):
            played.table_opened(name)
        played.hint_opened(played.view.turn)
        order(played)
        order(played)
    assert [(line["hints"], line["tables"]) for line in lines(tmp_path)] == [
        (2, ["orders", "shipments"]),
        (0, []),
    ]


def test_a_hint_that_is_shown_from_the_start_is_counted(tmp_path: Path) -> None:
    """A person who sees the options at every decision has not decided without them."""
    with game(tmp_path, Watch(), hints=True) as played:
        order(played)
        order(played)
    assert [line["hints"] for line in lines(tmp_path)] == [1, 1]


def test_a_continued_game_continues_the_log(tmp_path: Path) -> None:
    """The first decision is marked; the record is the same as without a log."""
    for _ in range(2):
        with game(tmp_path, Watch()) as played:
            order(played)
            order(played)
    assert [line["resumed"] for line in lines(tmp_path)] == [False, False, True, False]
    assert {line["alias"] for line in lines(tmp_path)} == {"Ann"}
    with Game(MODEL, 0, tmp_path / "other.jsonl") as played:
        for _ in range(4):
            order(played)
    assert played_lines(tmp_path / "game.jsonl") == played_lines(tmp_path / "other.jsonl")
    assert not (tmp_path / "other.seat.jsonl").exists()


def test_an_answer_that_is_refused_leaves_no_line(tmp_path: Path) -> None:
    """The time goes on until the answer that is taken."""
    watch = Watch()
    with game(tmp_path, watch) as played:
        played.seen()
        watch.now += 2
        with pytest.raises(WrongAction):
            played.answer(played.view.turn, {"do": "order", "quantity": "many"})
        watch.now += 2
        order(played)
    assert [line["seconds"] for line in lines(tmp_path)] == [4.0]


def test_a_log_that_cannot_be_written_any_more_stops_no_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence on standard error says so; the record is whole."""
    with game(tmp_path, Watch()) as played:
        (tmp_path / "game.seat.jsonl").chmod(0o644)
        order(played)
        order(played)
    warning = capsys.readouterr().err
    assert warning.count("\n") == 1
    assert "others may read it; the game goes on without it" in warning
    assert len(Episode.read(tmp_path / "game.jsonl", whole=False).steps) == 2


@pytest.mark.parametrize("alias", ["=1+1", "-x", " ", "a\nb", "a" * 41, "<b>", "\u202ename", "a,b"])
def test_an_alias_is_plain_text(alias: str, tmp_path: Path) -> None:
    """Nothing that a page or a spreadsheet would take for more than a name."""
    with pytest.raises(UsageError, match="is not 1 to 40 letters"):
        SeatLog(tmp_path / "game.jsonl", "browser", alias)


def played(tmp_path: Path, *options: str) -> Any:
    """Play two weeks in the terminal."""
    command = ["play", "beer_game", "--terminal", "--record", str(tmp_path / "game.jsonl")]
    return CliRunner().invoke(main, [*command, *options], input="4\nlook orders\n5\n")


def test_play_keeps_a_log_with_an_alias(tmp_path: Path) -> None:
    """Beside the record."""
    done = played(tmp_path, "--alias", "Zoë B. 2")
    assert done.exit_code == 0, done.output
    assert [line["alias"] for line in lines(tmp_path)] == ["Zoë B. 2"] * 2
    assert {line["surface"] for line in lines(tmp_path)} == {"terminal"}


def test_no_log_keeps_nothing(tmp_path: Path) -> None:
    """And an alias, which would be kept there, is refused."""
    done = played(tmp_path, "--no-log")
    assert (done.exit_code, (tmp_path / "game.seat.jsonl").exists()) == (0, False)
    refused = played(tmp_path, "--no-log", "--alias", "Ann")
    assert refused.exit_code == 2
    assert "--alias names the player in the log, which --no-log leaves out" in refused.output


def test_a_log_that_cannot_be_made_is_refused_before_the_game(tmp_path: Path) -> None:
    """With the option that plays without one."""
    (tmp_path / "game.seat.jsonl").mkdir()
    done = played(tmp_path)
    assert done.exit_code == 2
    assert "--no-log keeps nothing beside the record" in done.output
