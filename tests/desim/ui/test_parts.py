"""A person in seats of several parts: dates, seats by part, and the baselines of each part."""

import datetime as dt
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.groups import TOWN, Inn, Town
from support.shop import Shop

from desim import Episode, play, replay
from desim.cli.main import main
from desim.composition import Composite, part_seed
from desim.core.run import Run
from desim.errors import UsageError
from desim.ui.comparison import BaselineComparison
from desim.ui.game import Game
from desim.ui.view import time_text
from models.enterprise_arena import EnterpriseArena

BOTH = ("mill.miller", "inn.landlord")


def typed(tmp_path: Path, *lines: str, options: str = "") -> Result:
    """Play the town in the terminal with these lines typed, into `game.jsonl`."""
    command = ["play", TOWN, "--terminal", "--record", str(tmp_path / "game.jsonl")]
    return CliRunner().invoke(main, [*command, *options.split()], input="\n".join([*lines, ""]))


def kept(tmp_path: Path, *, whole: bool = False) -> Episode:
    """Read what was played."""
    return Episode.read(tmp_path / "game.jsonl", whole=whole)


def take_best(game: Game) -> Episode:
    """Answer with the best option until the end."""
    while game.view.episode is None:
        game.answer(game.view.turn, game.view.options[0].action)
    return game.view.episode


# -- the game --------------------------------------------------------------------------------------


def test_a_person_in_two_parts_plays_like_greedy_in_both(tmp_path: Path) -> None:
    """Each part as it is alone, rules beside the person, and the record replays."""
    rules = {"mill.carter": "support.failing_world:Carter"}
    with Game(Town(), 3, tmp_path / "a.jsonl", seats=BOTH, others=rules) as game:
        mine = take_best(game)
    theirs = play(Town(), dict.fromkeys(BOTH, "greedy") | rules, 3)
    assert (mine.score, mine.ledger_digest) == (theirs.score, theirs.ledger_digest)
    alone = play(Inn(), "greedy", part_seed(3, "inn"))
    assert (mine.metrics["inn.score"], mine.metrics["inn.beds"]) == (
        alone.score,
        alone.metrics["beds"],
    )
    assert replay(tmp_path / "a.jsonl", trust=True).score == mine.score


def test_the_name_of_a_part_stands_for_its_default_roles(tmp_path: Path) -> None:
    """For the person's seats and for the policies of others; nobody sits twice."""
    with Game(Town(), 0, tmp_path / "a.jsonl", seats=["mill"], others={"inn": "greedy"}) as game:
        assert game.seats == ("mill.miller",)
        assert game.header.policies == {"mill.miller": "person", "inn.landlord": "greedy"}
    with pytest.raises(UsageError, match=r"'mill\.miller' is the person's role"):
        Game(Town(), 0, tmp_path / "b.jsonl", seats=["mill"], others={"mill": "greedy"})
    with pytest.raises(UsageError, match=r"did you mean 'mill\.miller'"):
        Game(Town(), 0, tmp_path / "c.jsonl", seats=["mill.milner"])


def test_the_view_has_the_date_and_the_tables_of_the_seat(tmp_path: Path) -> None:
    """The inn is asked every week, the mill every month, on one clock."""
    dates: dict[str, list[str]] = {role: [] for role in BOTH}
    with Game(Town(), 0, tmp_path / "a.jsonl", seats=BOTH) as game:
        while game.view.episode is None:
            dates[game.view.role].append(game.view.date)
            weeks, ground = game.view.tables.get("weeks"), game.view.tables.get("ground")
            assert (weeks is None, ground is None) == (
                game.view.role == "mill.miller",
                game.view.role == "inn.landlord",
            )
            game.answer(game.view.turn, game.view.options[0].action)
    assert dates == {
        "mill.miller": [f"2025-0{month}-01" for month in range(1, 6)],
        "inn.landlord": ["2025-01-01", "2025-01-08", "2025-01-15", "2025-01-22"],
    }


# -- texts -----------------------------------------------------------------------------------------


def test_times_are_those_that_a_role_knows() -> None:
    """A model's dates, or those of the common clock; empty where the model fails to give one."""
    week = 7 * 24 * 3600 * 10**6
    town = Run(Town(), 0, BOTH).state
    assert time_text(Town(), town, "inn.landlord", week) == "2025-01-08"
    assert time_text(Town(), town, "inn.landlord", 10**20) == ""
    assert time_text(Shop(), None, "keeper", 2) == "2024-03-03"
    assert time_text(Inn(), None, "landlord", 2) == ""


def test_a_part_that_hides_its_years_hides_them_on_a_common_clock() -> None:
    """The lender's months have names without a year, and its ticks are those months."""
    lender = EnterpriseArena.preset("capped", horizon=3)
    region = Composite({"lender": lender, "inn": Inn()}, start="2015-01-01")
    run = Run(region, 0, ("lender.cfo", "inn.landlord"))
    february = region.time.calendar.ticks(dt.datetime.fromisoformat("2015-02-28"))
    assert time_text(region, run.state, "lender.cfo", february) == "Jan 2xx0"
    assert time_text(region, run.state, "inn.landlord", february) == "2015-02-28"


# -- the comparison --------------------------------------------------------------------------------


def test_the_comparison_ranks_the_whole_model() -> None:
    """A person who plays like greedy is first of equals, also beside a rule elsewhere."""
    others = {"inn.landlord": "greedy"}
    comparison = BaselineComparison(Town(), 0, ("mill.miller",), others)
    comparison.play()
    rows = comparison.ranked(play(Town(), "greedy", 0)).lines
    assert [row[1] for row in rows] == ["you", "greedy", "random"]
    assert rows[0][2:] == rows[1][2:]


# -- the terminal ----------------------------------------------------------------------------------


def test_a_person_in_two_parts_in_the_terminal(tmp_path: Path) -> None:
    """Seats by part, dates, tables of the seat, undo, the decisions and the end."""
    seats = "--practice --seat mill --seat inn.landlord"
    lines = ("1", "invest 2", "look weeks", "1", "undo", "past", *"1" * 8, "figures", "ranking")
    done = typed(tmp_path, *lines, options=seats)
    assert done.exit_code == 0, done.output
    out = done.output
    assert "you are miller of mill; landlord of inn." in out
    assert "Decision 1, mill.miller, 2025-01-01" in out
    assert out.count("Decision 3, inn.landlord, 2025-01-08") == 2
    assert "Bought" in out
    assert "2  2025-01-01  Inn: landlord  Invest: beds 2" in out
    assert "t=" not in out
    assert "Inn: ended" in out
    assert "random" in out
    assert len(kept(tmp_path, whole=True).steps) == 9
