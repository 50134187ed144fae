"""The seeds of a suite's report, and those on which its entries are tuned."""

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from desim.cli.main import main
from desim.errors import UsageError
from desim.suites.suite_plan import read_plan

SUITE = """
seeds = "0:3"
tuning_seeds = "100:102"

[worlds.game]
model = "beer_game/poisson"
set = { horizon = 6 }

[entries.order]
policy = "order_up_to"
tuned_on = "1:6"

[entries.sterman]
policy = "sterman"
tuned_on = "100:102"
"""


def run(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite with tuning seeds, of whose entries one was tuned on the report."""
    path = tmp_path / "suite.toml"
    path.write_text(SUITE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"100:102"', '"2:5"', "worlds.game: tuning_seeds and seeds share seed 2; they must"),
        ('"100:102"', '"x"', "worlds.game: seeds 'x' were given"),
        ('"100:102"', '"9:1e"', "worlds.game: seeds '9:1e' were given"),
        ("[worlds.game]", "[worlds.game]\ntuning_seeds = [-1]", "worlds.game: seeds"),
        (
            "[worlds.game]",
            "[worlds.game]\nepisodes = 2\nseeds = [99]\ntuning_seeds = [100]",
            "share seed 100",
        ),
        ('tuned_on = "1:6"', 'tuned_on = "6:1"', "entries.order.tuned_on: seeds '6:1' were given"),
    ],
)
def test_tuning_seeds_are_not_in_the_report(suite: Path, old: str, new: str, fault: str) -> None:
    """A fault names the world; episodes in a row count."""
    suite.write_text(SUITE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError, match=fault.replace("(", r"\(")):
        read_plan(suite)


def test_tuning_seeds_are_played_on_demand(suite: Path, tmp_path: Path) -> None:
    """They are no report; one may be played into their folder, and is shown then."""
    out = tmp_path / "tuning"
    assert run("bench", suite, "--tuning", "--out", out).exit_code == 0
    with (out / "rows.csv").open(encoding="utf-8") as rows:
        assert {row["seed"] for row in csv.DictReader(rows)} == {"100", "101"}
    shown = run("bench", out)
    assert shown.exit_code == 0
    assert "was tuned on" not in shown.output
    report = run("bench", suite, "--out", out)
    assert report.exit_code == 0
    assert "was tuned on" in run("bench", out).output


def test_a_suite_without_tuning_seeds_has_none_to_play(suite: Path, tmp_path: Path) -> None:
    """Nothing is played."""
    suite.write_text(SUITE.replace('tuning_seeds = "100:102"', ""), encoding="utf-8")
    done = run("bench", suite, "--tuning", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "worlds.game: it has no tuning_seeds" in done.output
    assert not (tmp_path / "out").exists()


def test_an_entry_that_was_tuned_on_the_report_is_marked(suite: Path, tmp_path: Path) -> None:
    """In the tables of results."""
    out = tmp_path / "out"
    shown = run("bench", suite, "--out", out).output
    assert "order was tuned on 2 seeds of the report: 1, 2." in " ".join(shown.split())
    assert "sterman was tuned" not in shown
