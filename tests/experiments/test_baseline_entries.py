"""The shipped baselines become entries of a board."""

from pathlib import Path

from click.testing import CliRunner

from desim.suites.suite_plan import read_plan
from desim.verification.boards.entry_board import read_board
from desim.verification.verified_tables import board_tables
from experiments.baseline_entries import FirstEntries, main


def test_rules_of_one_episode_play_in_a_world_of_their_own(tmp_path: Path) -> None:
    """The others play all seeds; an entry has all worlds that list its policy."""
    first = FirstEntries(tmp_path, 1)
    first.write_suite(("beer_game/classic", "beer_game/poisson"), 3)
    plan = read_plan(first.suite)
    seeds = {name: len(world.seeds) for name, world in plan.worlds.items()}
    assert seeds == {"beer_game/classic, 1 seed": 1, "beer_game/classic": 3, "beer_game/poisson": 3}
    assert plan.entries["random"].table.worlds == ["beer_game/classic", "beer_game/poisson"]
    assert plan.entries["retailer=echelon_base_stock"].policies == {
        "retailer": "echelon_base_stock"
    }


def test_every_baseline_of_a_world_comes_on_the_board(tmp_path: Path) -> None:
    """Each is verified; the command goes on where it was stopped."""
    given = [str(tmp_path / "first"), "--preset", "reasoning/small", "--seeds", "2", "--jobs", "1"]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    board = read_board(tmp_path / "first" / "board")
    plan = read_plan(tmp_path / "first" / "suite.toml")
    assert {one.manifest.name for one in board.entries()} == plan.entries.keys()
    assert {key.world for key in board_tables(board)} == plan.worlds.keys()
    assert CliRunner().invoke(main, given).output == ""
