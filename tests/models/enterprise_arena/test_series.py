"""The monthly series of an episode, and whether a model depends on its seed."""

from typing import Any

import pytest
from support.arena import DEBT, EQUITY, MILLION, played
from support.series import series_of

from desim import play
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import BookClosing, FundRaisingRequest
from models.enterprise_arena.report import series

FORCED = {0: (True, 0.5, 2), 3: (True, 1, 1)}


def test_series_hold_a_value_for_every_month() -> None:
    """Ten months with two rounds, three closings and a refused request, by hand."""
    model = EnterpriseArena(horizon=10, forced_funding=FORCED)
    actions: dict[int, Any] = {
        0: EQUITY,
        1: FundRaisingRequest("debt", -1.0),
        2: BookClosing(),
        3: DEBT,
        4: BookClosing(),
        9: BookClosing(),
    }
    lender = played(model, actions, seed=2)
    columns = series(lender)
    assert {len(column) for column in columns.values()} == {10}
    assert columns["requests"] == [1, 1, 0, 1, 0, 0, 0, 0, 0, 0]
    assert columns["cumulative_requests"] == [1, 2, 2, 3, 3, 3, 3, 3, 3, 3]
    assert columns["closings"] == [0, 0, 1, 0, 1, 0, 0, 0, 0, 1]
    assert columns["cumulative_closings"][-1] == 3
    assert columns["equity_raised"] == [0.0, 0.0] + [10.0 * MILLION] * 8
    owed = [round(20e6 - 20e6 / 60 * paid, 2) for paid in range(1, 7)]
    assert columns["debt"] == pytest.approx([0.0] * 4 + owed, abs=0.05)
    assert columns["users"][-1] == lender.users
    book = lender.books.book
    assert columns["cash"] == [book.balance("1000", at=month) / 100 for month in range(10)]


def test_series_of_a_bankruptcy_end_with_its_month() -> None:
    """The last value is the closing cash that ended the episode."""
    lender = played(EnterpriseArena(zero_noise=True))
    cash = series_of(EnterpriseArena(), lender)["cash"]
    assert len(cash) == 34
    assert cash[-1] == -1_005_760.81
    assert min(cash[:-1]) >= 0


def test_a_world_without_draws_is_the_same_for_every_seed() -> None:
    """Without noise, and with the outcomes of all months given."""
    forced = dict.fromkeys(range(20), (True, 0.85, 3))
    model = EnterpriseArena(horizon=20, zero_noise=True, forced_funding=forced)
    assert model.deterministic
    one, other = (play(model, "raise_when_free", seed).result for seed in (0, 1))
    assert one is not None
    assert other is not None
    assert one.ledger_digest == other.ledger_digest
