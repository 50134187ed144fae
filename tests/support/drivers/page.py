"""The game that the page plays, without a browser."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.adapters import Case

from desim.ui.game import Game

#: What must be installed.
REQUIRES: tuple[str, ...] = ()


def carries(case: Case) -> bool:
    """Return whether the adapter can play a case."""
    return True


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers through the adapter; return the score and the ledger digest."""
    setup = case.setup()
    left = {seat: iter(each) for seat, each in answers.items()}
    with (
        tempfile.TemporaryDirectory() as folder,
        Game(
            setup.model, seed, Path(folder, "g.jsonl"), seats=setup.seats, others=setup.others
        ) as game,
    ):
        while game.view.role:
            game.answer(game.view.turn, next(left[game.view.role]))
        assert game.view.episode is not None
        result = game.view.episode.result
    assert result is not None
    return result.score, result.ledger_digest
