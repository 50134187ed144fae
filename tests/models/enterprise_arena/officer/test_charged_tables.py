"""A person who is charged for tables pays what a language model pays for the same facts."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.arena import Seat

from desim import Episode, replay
from desim.cli.main import main
from desim.core.reported import ChargedTable
from desim.errors import UsageError
from desim.ui.game import Game
from models.beer_game import BeerGame
from models.enterprise_arena import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    BookClosing,
    CheckMarketData,
    EnterpriseArena,
)

MODEL = EnterpriseArena(horizon=14)


def charged(seat: Seat) -> dict[str, ChargedTable]:
    """The tables of the officer."""
    return MODEL.charged_tables(seat.lender, "cfo")


def pay(game: Game, table: str, label: str) -> None:
    """Take an offer of a table."""
    game.answer(game.view.turn, game.view.charged[table].offers[label])


def test_a_table_holds_what_tools_have_returned() -> None:
    """Whatever the name of the tool; a later month is paid for again."""
    seat = Seat(MODEL).to(3)
    assert not any(table.rows for table in charged(seat).values())
    assert [*charged(seat)] == ["bank", "loan tape", "vendors", "market", "cap table"]
    seat.say(CheckMarketData("VIX", 1, 2))
    seat.say(AccessFinancialDocs("retrieve", "raw/2xx0_02/bank_statement"))
    tables = charged(seat)
    assert [row["month"] for row in tables["market"].rows] == ["Feb 2xx0", "Mar 2xx0"]
    assert "VIX" in tables["market"].offers
    assert [row["month"] for row in tables["bank"].rows] == ["Feb 2xx0"]
    seat.say(AnalyzeMarketConditions("VIX"))
    assert "VIX" not in charged(seat)["market"].offers
    assert len(charged(seat)["market"].rows) == 4
    assert "VIX" in charged(seat.to(4))["market"].offers


def test_every_offer_returns_rows_of_the_free_table() -> None:
    """An offer that was taken is gone, and its rows are those that are free without charges."""
    seat = Seat(MODEL).to(4, {2: BookClosing()})
    free = MODEL.tables(seat.lender, "cfo")
    for name, table in charged(seat).items():
        for action in [*table.offers.values()][-1:]:
            assert seat.ask(action).ok
        bought = charged(seat)[name]
        assert len(bought.offers) == max(0, len(table.offers) - 1)
        assert bought.rows
        for row in bought.rows:
            assert any(row.items() <= shown.items() for shown in free[name])


def test_a_call_that_is_refused_shows_nothing() -> None:
    """As beyond the month's budget; the price says how many calls are left."""
    seat = Seat(EnterpriseArena(horizon=14, tool_budget=1))
    assert seat.ask(AnalyzeMarketConditions("GDP")).ok
    assert not seat.ask(AnalyzeMarketConditions("VIX")).ok
    table = charged(seat)["market"]
    assert [[*row] for row in table.rows] == [["month", "GDP"]]
    assert table.price == (
        "One call of a tool takes $5,000 off your score and counts against the month's budget: "
        "0 of 1 calls are left."
    )


def test_a_person_pays_as_a_model_does(tmp_path: Path) -> None:
    """The call is a decision on record, so the game replays, and goes on with what was paid for."""
    file = tmp_path / "game.jsonl"
    with Game(MODEL, 0, file, charge_tables=True) as game:
        assert game.view.tables["market"] == []
        pay(game, "market", "VIX")
        assert [[*row] for row in game.view.tables["market"]] == [["month", "VIX"]]
    with Game(MODEL, 0, file, charge_tables=True) as game:
        assert [[*row] for row in game.view.tables["market"]] == [["month", "VIX"]]
        while game.view.episode is None:
            game.answer(game.view.turn, {"do": "pass"})
        episode = game.view.episode
    assert episode.metrics["tool_calls"] == 1
    assert replay(file).ledger_digest == episode.ledger_digest
    with Game(MODEL, 0, tmp_path / "free.jsonl") as game:
        while game.view.episode is None:
            game.answer(game.view.turn, {"do": "pass"})
        assert game.view.episode.score - episode.score == pytest.approx(MODEL.tool_charge)


def test_a_world_that_charges_nobody_is_refused(tmp_path: Path) -> None:
    """Before anything is recorded."""
    with pytest.raises(UsageError, match=r"^BeerGame charges nobody for tables; they are free$"):
        Game(BeerGame(), 0, tmp_path / "game.jsonl", charge_tables=True)
    assert [*tmp_path.iterdir()] == []


def test_the_terminal_says_the_price_and_the_line_that_pays(tmp_path: Path) -> None:
    """The line works as it is printed."""
    command = ["play", "enterprise_arena", "--terminal", "--charge-tables", "--record"]
    line = "review_financial_records action=retrieve filename=raw/2xx0_01/bank_statement"
    typed = ["pass", "look bank", line, "look bank"]
    done: Any = CliRunner().invoke(
        main, [*command, str(tmp_path / "game.jsonl")], input="\n".join([*typed, ""])
    )
    assert done.exit_code == 0, done.output
    assert "takes $5,000 off your score" in done.output
    assert f"  {line}    (Jan 2xx0)" in done.output
    assert done.output.count("Closing balance") == 2
    kept = Episode.read(tmp_path / "game.jsonl", whole=False)
    assert [step.action["do"] for step in kept.steps] == ["pass", "review_financial_records"]
