"""A person in the role of the officer reads months without a year and cannot foresee 2020."""

import re
from pathlib import Path

from click.testing import CliRunner

from desim import Run
from desim.cli.main import main
from models.enterprise_arena import EnterpriseArena

_YEAR = re.compile(r"20\d\d")

_LOOKED_UP = ("market", "bank", "loan tape", "vendors", "equity rounds", "cap table")


def test_the_time_of_the_officer_is_the_name_of_the_month() -> None:
    """As in the observation; a month that the macro table does not have has no name."""
    model = EnterpriseArena()
    run = Run(model, 0)
    (decision,) = run.advance()
    assert model.role_time(run.state, "cfo", 0) == decision.observation.date == "Jan 2xx0"
    assert model.role_time(run.state, "cfo", 14) == "Mar 2xx1"
    assert [model.role_time(run.state, "cfo", tick) for tick in (-1, 10_000)] == ["", ""]


def test_the_terminal_shows_no_year(tmp_path: Path) -> None:
    """Decisions, tables, help, an error and the end name months as the officer's header does."""
    looked_up = [f"look {name}" for name in _LOOKED_UP]
    lines = ["pass", "book_closing", "pass", "past", *looked_up, "?", "lend", *["pass"] * 11, ""]
    file = tmp_path / "game.jsonl"
    command = ["play", "enterprise_arena", "--terminal", "--record", str(file), "--set"]
    done = CliRunner().invoke(main, [*command, "horizon=14"], input="\n".join(lines))
    assert "The game has ended" in done.output
    assert "cfo, Feb 2xx1" in done.output
    assert [line for line in done.output.splitlines() if _YEAR.search(line)] == []
