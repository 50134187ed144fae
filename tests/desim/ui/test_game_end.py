"""The facts about the end of a game, and the games that follow it."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from desim import Episode, catalog, play
from desim.episodes.lineup import resolve
from desim.errors import BadRecord, UsageError
from desim.ui.end_texts import course_table, rank_sentence
from desim.ui.game import Game
from desim.ui.game_end import GameEnd, Sitting
from desim.ui.terminal_end import obey_end, print_end

MODEL = catalog.model("beer_game/classic")


def ended(file: Path, rule: str, model: Any = MODEL, *, seed: int = 0, **options: Any) -> Game:
    """Play a person's game with the answers of a rule."""
    game = Game(model, seed, file, **options)
    policies = resolve(model, dict.fromkeys(game.seats, rule), seed).policies
    while game.view.episode is None:
        game.answer(game.view.turn, policies[game.view.role].decide(game.view.observation))
    game.close()
    return game


def end_of(file: Path, rule: str, **options: Any) -> GameEnd:
    """Return the end of a game."""
    ended(file, rule, **options)
    end = GameEnd.of_record(file)
    end.work()
    return end


def test_the_course_of_a_game_is_drawn_over_those_of_two_rules(tmp_path: Path) -> None:
    """The best and the one in the middle of those that play from observations."""
    end = end_of(tmp_path / "game.jsonl", "fallback")
    courses = dict(end.courses())
    names = [*courses]
    assert names[0] == "you"
    assert names[1].startswith("best rule (")
    assert names[2].startswith("median rule (")
    assert all(len(trail.values) == 36 for trail in courses.values())
    assert courses["you"].values[-1] == pytest.approx(-end.episode.score)
    best, *_, worst = end.comparison.rivals
    assert best.score >= worst.score  # type: ignore[operator]
    assert courses[names[1]].values[-1] == pytest.approx(-(best.score or 0))
    table = course_table(end)
    assert table is not None
    assert [line[0] for line in table.lines] == names


def test_a_score_that_a_rule_has_too_shares_its_rank(tmp_path: Path) -> None:
    """As that of a person who answers as it does."""
    end = end_of(tmp_path / "game.jsonl", "last_demand")
    equal = next(row for row in end.comparison.rivals if row.policy == "last_demand")
    assert equal.score == end.episode.score
    assert "(shared)" in rank_sentence(end)


def test_a_record_of_no_person_or_without_an_end_is_refused(tmp_path: Path) -> None:
    """The text says who played."""
    play(MODEL, "greedy", 0, record=tmp_path / "rule.jsonl")
    with pytest.raises(UsageError, match="is no person's game; its players are greedy"):
        GameEnd.of_record(tmp_path / "rule.jsonl")
    with Game(MODEL, 0, tmp_path / "cut.jsonl") as game:
        game.answer(0, {"do": "order", "quantity": 4})
    with pytest.raises(BadRecord):
        GameEnd.of_record(tmp_path / "cut.jsonl")


def test_another_game_has_a_record_of_its_own(tmp_path: Path) -> None:
    """A second tab that asks for it as well begins no third game."""
    first = tmp_path / "game.jsonl"
    ended(first, "base_stock")
    sitting = Sitting(Game(MODEL, 0, first))
    assert sitting.end is sitting.end
    sitting.again(first, 1)
    sitting.again(first, 2)
    sitting.branch(first, 3)
    assert (sitting.game.file.name, sitting.game.seed) == ("game-2.jsonl", 1)
    sitting.close()
    sitting = Sitting(Game(MODEL, 0, first))
    sitting.branch(first, 3)
    assert sitting.game.file.name == "game-3.jsonl"
    sitting.close()
    branch = Episode.read(tmp_path / "game-3.jsonl", whole=False)
    assert branch.steps == Episode.read(first).steps[:3]


@pytest.mark.parametrize(
    ("name", "rule"), [("beer_game/classic", "base_stock"), ("yc_bench", "published_greedy")]
)
def test_the_terminal_shows_the_end_in_25_lines_of_80_columns(
    tmp_path: Path, name: str, rule: str
) -> None:
    """With the course, the place and the rank."""
    ended(tmp_path / "game.jsonl", rule, catalog.model(name))
    out = Console(width=80, file=io.StringIO(), force_terminal=True, no_color=True)
    sitting = Sitting(Game(catalog.model(name), 0, tmp_path / "game.jsonl"))
    print_end(sitting, out)
    shown = out.file.getvalue()  # type: ignore[attr-defined]
    assert len(shown.splitlines()) <= 25
    for part in ("The game has ended", "Best rule", "floor", "Your rank", "you"):
        assert part in shown
    assert not obey_end(sitting, out, "ranking", "")
    with pytest.raises(UsageError, match="type the number of a decision"):
        obey_end(sitting, out, "otherwise", "x")
    assert obey_end(sitting, out, "otherwise", "3")
    assert len(sitting.game.view.steps) == 2
    sitting.close()
