"""After each answer a person reads what it did and when the rest of it will show."""

import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from desim import catalog
from desim.ui.game import Game

BEER = catalog.model("beer_game")


def game(tmp_path: Path, model: Any, *seats: str) -> Game:
    """A new game."""
    return Game(model, 1, tmp_path / "game.jsonl", seats=seats)


@pytest.mark.parametrize(
    ("preset", "stage"),
    [("poisson", "retailer"), ("poisson", "factory"), ("firmbench", "retailer"), ("classic", "")],
)
def test_an_order_arrives_no_sooner_than_the_game_said(
    tmp_path: Path, preset: str, stage: str
) -> None:
    """The named week is the first that brings more than the flow of the start."""
    model = BEER.preset(preset, demand="constant:4", initial_flow=4, forced_weeks=0, horizon=12)
    with game(tmp_path, model, *filter(None, [stage])) as played:
        played.answer(played.view.turn, {"do": "order", "quantity": 400})
        effect = played.view.effect
        assert effect is not None
        assert effect.answer == "Order: quantity 400 units"
        found = re.search(r"The 400 units .* arrive in week (\d+) or later", effect.sentence)
        assert found, effect.sentence
        while played.view.observation.incoming_delivery <= 4:
            played.answer(played.view.turn, {"do": "order", "quantity": 0})
        assert played.view.effect
        paid = re.match(r"Week (\d+) cost", played.view.effect.sentence)
        # Players of blind presets order before the week in which the goods come.
        assert paid
        assert int(found[1]) == int(paid[1]) + (not model.blind)


def test_figures_that_differ_are_named_with_both_values(tmp_path: Path) -> None:
    """In the order of the observation, in the units of its fields."""
    with game(tmp_path, catalog.model("edt").preset("interactive")) as played:
        played.answer(played.view.turn, {"do": "release", "consultants": 2})
        effect = played.view.effect
        assert effect is not None
        assert effect.answer == "Release: consultants 2"
        assert effect.sentence == "The consultants released cost nothing from the next step on."
        changed = {one.label: (one.before, one.after) for one in effect.changes}
        assert changed["Consultants hired"] == ("12", "10")
        assert "Horizon" not in changed


class Silent(type(BEER)):  # type: ignore[misc]
    """A Beer Game whose sentence fails."""

    def after(self, state: Any, role: str, action: Any, observation: Any) -> str:
        """Raise."""
        raise KeyError(role)


def test_a_sentence_that_fails_does_not_stop_the_game(tmp_path: Path) -> None:
    """The figures are shown without it."""
    with game(tmp_path, Silent(horizon=3)) as played:
        played.answer(played.view.turn, {"do": "order", "quantity": 7})
        assert played.view.effect is not None
        assert played.view.effect.sentence == ""
        assert played.view.effect.changes


def test_the_effect_is_that_of_the_role_that_decides(tmp_path: Path) -> None:
    """With two seats each sees its own last order."""
    with game(tmp_path, evolve(BEER, horizon=3), "retailer", "wholesaler") as played:
        for quantity in (3, 5):
            played.answer(played.view.turn, {"do": "order", "quantity": quantity})
        for quantity in (3, 5):
            assert played.view.effect is not None
            assert played.view.effect.answer == f"Order: quantity {quantity} units"
            played.answer(played.view.turn, {"do": "order", "quantity": quantity})


@pytest.mark.parametrize(
    ("model", "actions", "sentences"),
    [
        (
            "enterprise_arena",
            [
                {"do": "fund_raising_request", "type": "equity", "amount": 2e7},
                {"do": "fund_raising_request", "type": "equity", "amount": 2e7},
                {"do": "check_market_data", "data_type": "VIX"},
                {"do": "check_market_data", "data_type": "gold"},
                {"do": "save_note", "content": "wait"},
                {"do": "book_closing"},
            ],
            [
                r"Cash (rose|fell) by .* Jan 2xx0. \$20,000,000 of equity .* 1 to 6 months .*",
                r"Refused: .*; the month goes on",
                r"The call took \$5,000 off your score.",
                r"Refused: there is no data_type 'gold'.*",
                r"",
                r"Cash .* in Feb 2xx0. The statements of Feb 2xx0 can be read from now on.",
            ],
        ),
        (
            "yc_bench",
            [
                {"do": "market_browse"},
                {"do": "task_accept", "task_id": "Task-10"},
                {"do": "task_dispatch", "task_id": "Task-10"},
                {"do": "task_assign", "task_id": "Task-10", "employees": ["Emp_1", "Emp_2"]},
                {"do": "task_dispatch", "task_id": "Task-10"},
                {"do": "sim_resume"},
                {"do": "sim_resume"},
                {"do": "run_command", "command": "yc-bench nonsense"},
            ],
            [
                r"",
                r"Task-10 is due on 2025-[-\d]+ [:\d]+. Put people on it, then dispatch it.",
                r"Refused: No employees assigned. .*",
                r"2 people are on Task-10 now.",
                r"Work on Task-10 begins, with 2 people, when you resume the clock.",
                r"It is 2025-02-03 09:00:00 now. Salaries were paid.",
                r"It is .* now. Task-10 was done (in time|too late): -?\$[\d,.]+.*",
                r"Refused: No such command 'nonsense'.",
            ],
        ),
        (
            "reasoning",
            [{"do": "answer", "text": "1"}],
            [r"Your answer counts; whether answers are right is told at the end."],
        ),
        (
            "consulting",
            [{"do": "reply", "text": "How large is the market?"}],
            [r"The interviewer has answered. 9 of 12 messages of both sides are left."],
        ),
        (
            "edt/interactive",
            [
                {"do": "accept", "project": 99},
                {"do": "accept", "project": 1},
                {"do": "staff", "project": 1, "seats": 2},
                {"do": "decline", "project": 2},
                {"do": "wait"},
            ],
            [
                r"Refused: .*",
                r"Consultants may work on Project 2 from time [\d.]+ to [\d.]+.",
                r"Project 2 may have 2 consultants; 0 work on it.",
                r"Project 3 is given away for good.",
                r"It is time [\d.]+ now: .+.",
            ],
        ),
    ],
)
def test_worlds_say_what_a_command_did_or_why_it_was_refused(
    tmp_path: Path, model: str, actions: list[Any], sentences: list[str]
) -> None:
    """Without braces, names of classes and what the role may not know."""
    with game(tmp_path, catalog.model(model)) as played:
        for action, sentence in zip(actions, sentences, strict=True):
            played.answer(played.view.turn, action)
            assert played.view.effect
            assert re.fullmatch(sentence, played.view.effect.sentence), played.view.effect.sentence
            assert not re.search(r"[{}]|\$\.", played.view.effect.sentence)
