"""The baselines play where the person sat, and one that fails is told."""

from typing import Any

import pytest

from desim import catalog, play
from desim.doors.beside import Beside

MODEL = catalog.model("beer_game", changes={"horizon": "8"})


def test_baselines_sit_where_the_person_sat() -> None:
    """Beside the same others, on the same seed."""
    beside = Beside(MODEL, 0, ("wholesaler",), {"retailer": "typical"})
    beside.play()
    assert beside.done
    scores = {one.policy: one.score for one in beside.played}
    seats = {"wholesaler": "greedy", "retailer": "typical"}
    assert scores["greedy"] == play(MODEL, seats, 0).score


def test_the_table_ranks_the_person_among_them() -> None:
    """Higher is better, and the first of equals is the person."""
    beside = Beside(MODEL, 0, ("retailer",), {})
    episode = play(MODEL, "greedy", 0)
    beside.play()
    rows = beside.ranked(episode).rows
    policies = [row[1] for row in rows]
    assert policies.index("you") < policies.index("greedy")
    assert len(rows) == len(catalog.baselines(MODEL)) + 1
    scores = [float(row[2].replace(",", "")) for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_a_baseline_that_fails_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands last, with the reason."""
    names: Any = lambda _: ("nobody", "greedy")  # noqa: E731
    monkeypatch.setattr("desim.catalog.baselines", names)
    beside = Beside(MODEL, 0, ("retailer",), {})
    beside.play()
    last = beside.ranked(play(MODEL, "random", 0)).rows[-1]
    assert last[1] == "nobody"
    assert "there is no policy 'nobody'" in last[3]
