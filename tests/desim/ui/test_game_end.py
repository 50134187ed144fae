"""The facts about the end of a game, and the games that follow it."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from desim import Episode, catalog, play
from desim.episodes.lineup import resolve
from desim.errors import UsageError
from desim.records.lines import Header
from desim.ui.ending import (
    GameEnd,
    ScoreCourses,
    Sitting,
    branched,
    course_table,
    next_file,
    place_sentence,
)
from desim.ui.game import Game
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
    end = GameEnd(ended(file, rule, **options))
    end.work()
    return end


def test_the_course_of_a_game_is_drawn_over_those_of_two_rules(tmp_path: Path) -> None:
    """The best and the one in the middle of those that play from observations."""
    end = end_of(tmp_path / "game.jsonl", "fallback")
    courses = end.shown_courses
    names = [*courses]
    assert names[0] == "you"
    assert names[1].startswith("best rule (")
    assert names[2].startswith("median rule (")
    assert all(len(course) == 36 for course in courses.values())
    assert courses["you"][-1] == pytest.approx(-end.episode.score)
    best, *_, worst = end.comparison.rivals
    assert best.score >= worst.score  # type: ignore[operator]
    assert courses[names[1]][-1] == pytest.approx(-(best.score or 0))
    table = course_table(end)
    assert table is not None
    assert [line[0] for line in table.lines] == names


def test_a_score_that_a_rule_has_too_shares_its_rank(tmp_path: Path) -> None:
    """As that of a person who answers as it does."""
    end = end_of(tmp_path / "game.jsonl", "last_demand")
    equal = next(row for row in end.comparison.rivals if row.policy == "last_demand")
    assert equal.score == end.episode.score
    assert "(shared)" in end.rank


def test_costs_of_periods_are_added_up_to_the_score() -> None:
    """For one stage and for several, whose costs are summed."""
    every = tuple(MODEL.roles)
    for seats in (("retailer",), every):
        episode = play(MODEL, dict.fromkeys(seats, "base_stock"), 0)
        course = ScoreCourses(MODEL, seats).of(episode.series())
        assert course[-1] == pytest.approx(-episode.score)
        assert course == sorted(course)
    assert ScoreCourses(MODEL, every).column.title("") == "Cost so far (money)"


def place(name: str, score: float, *, seed: int = 0, **policies: str) -> str:
    """Return the place of a score of a game."""
    model = catalog.model(name)
    seats = tuple(role for role, label in policies.items() if label == "person")
    return place_sentence(model, Header.of(model, seed, policies), seats, score)


def test_a_score_lies_between_the_floor_and_the_bound_of_its_seed() -> None:
    """The sentence names both, and of what kind the bound is."""
    assert place("beer_game", -20_000.0, retailer="person") == (
        "You went 13 % of the way from the floor, -21,932.5 (random), to the bound, -7,600 "
        "(proved)."
    )
    below = place("yc_bench", -10_000.0, founder="person")
    assert "below the floor" in below
    assert below.endswith("(perhaps out of reach).")
    above = place("yc_bench", 1e9, founder="person")
    assert above.startswith("Your score is above the bound")


def test_where_no_scale_is_known_a_sentence_says_so() -> None:
    """Of changed parameters, of a seed, and of a game with other players."""
    changed = catalog.model("beer_game", changes={"horizon": "8"})
    header = Header.of(changed, 0, {"retailer": "person"})
    assert place_sentence(changed, header, ("retailer",), 0.0) == (
        "No floor and no bound are known for these parameters."
    )
    assert "seed 999999" in place("yc_bench", 0.0, seed=999_999, founder="person")
    others = place("beer_game", 0.0, retailer="person", wholesaler="greedy")
    assert others.startswith("Floor and bound are known only for games in which you play all")


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


@pytest.mark.parametrize(
    ("name", "following"),
    [
        ("game.jsonl", "game-2.jsonl"),
        ("game-2.jsonl", "game-3.jsonl"),
        ("a-b.jsonl.gz", "a-b-2.jsonl.gz"),
        ("beer-seed0.play.jsonl", "beer-seed0.play-2.jsonl"),
        ("7.jsonl", "7-2.jsonl"),
        ("game", "game-2"),
    ],
)
def test_the_next_record_has_the_next_number(tmp_path: Path, name: str, following: str) -> None:
    """A name that is taken is passed over."""
    (tmp_path / "game-2.jsonl").touch()
    wanted = "game-3.jsonl" if following == "game-2.jsonl" else following
    assert next_file(tmp_path / name).name == wanted


def test_a_branch_has_the_first_decisions_and_goes_on_as_a_game(tmp_path: Path) -> None:
    """The old record stays as it is; of a decision that is not there nothing is written."""
    old = tmp_path / "game.jsonl"
    ended(old, "base_stock")
    before = old.read_bytes()
    for at in (-1, 10**9):
        with pytest.raises(UsageError, match="possible: 1 to"):
            branched(old, at)
    assert not (tmp_path / "game-2.jsonl").exists()
    new = branched(old, 2)
    assert new.name == "game-2.jsonl"
    ended(new, "order_up_to")
    steps, first = Episode.read(new).steps, Episode.read(old).steps
    assert list(steps[:2]) == list(first[:2])
    assert list(steps) != list(first)
    assert old.read_bytes() == before
