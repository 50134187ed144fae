"""Redrawn futures: noise, requests and macro figures that nobody knows yet."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from attrs import asdict
from support.arena import EQUITY

from desim import Run
from desim.core.streams import generator
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import Pass
from models.enterprise_arena.lender import Lender
from models.enterprise_arena.regimes import fit

RICH: dict[str, Any] = {"opening_cash": 1e9, "horizon": 24}


def opened(month: int, *, actions: dict[int, Any] | None = None, **changes: Any) -> Run[Lender]:
    """Return a run whose decision of a month is open."""
    run = Run(EnterpriseArena(**{**RICH, **changes}), 1)
    while run.advance() and run.world.now < month:
        run.answer(run.open[0], (actions or {}).get(run.world.now, Pass()))
    return run


def test_noise_is_drawn_again_from_the_present_month_on() -> None:
    """The months that were operated keep theirs; the present one has had no effect."""
    run = opened(7)
    before, luck = list(run.state.noise), list(run.state.draws)
    run.redraw(1)
    assert run.state.noise[:7] == before[:7]
    assert run.state.draws[:7] == luck[:7]
    for month in range(7, 24):
        assert not {*run.state.noise[month]} & {*before[month]}
        assert not {*run.state.draws[month]} & {*luck[month]}
    assert len(run.state.noise) == len(run.state.draws) == 24


@pytest.mark.parametrize("month", [0, 1, 5, 40, 100, 131])
def test_a_history_is_the_same_up_to_a_month(month: int) -> None:
    """All columns, among them those of quarters and years; a surge that has begun goes on."""
    model = EnterpriseArena.preset("regime")
    fitted = fit(model.table, model.growth_column)
    for seed in range(8):
        path = fitted.draw(generator(seed, "regimes"), 132)
        again = fitted.draw_again(generator(seed + 100, "regimes"), path, month)
        assert len(again.macro) == 132
        for name, column in asdict(path.macro, recurse=False).items():
            assert getattr(again.macro, name)[: month + 1] == column[: month + 1]
        begun = [surge for surge in path.surges if surge.start <= month]
        assert again.surges[: len(begun)] == begun
        assert all(surge.start > month for surge in again.surges[len(begun) :])
        assert all(left.next_start <= right.start for left, right in pairwise(again.surges))
        if month < 100:
            later = slice(month + 1, None)
            assert again.macro.vix_avg[later] != path.macro.vix_avg[later]
        assert fitted.draw_again(generator(seed + 100, "regimes"), path, month) == again


def test_later_months_are_drawn_as_at_first() -> None:
    """Drawn again from month 0 on, surges are as frequent as in new histories."""
    model = EnterpriseArena.preset("regime")
    fitted = fit(model.table, model.growth_column)
    path = fitted.draw(generator(0, "regimes"), 132)
    new = [len(fitted.draw(generator(seed, "a"), 132).surges) for seed in range(60)]
    again = [len(fitted.draw_again(generator(seed, "b"), path, 0).surges) for seed in range(60)]
    assert abs(sum(new) - sum(again)) < 3 * (sum(new) + sum(again)) ** 0.5


def test_the_lender_follows_the_new_history() -> None:
    """Its growth is the new one's, in all profiles."""
    run = opened(6, history="regimes")
    before = run.state.macro
    run.redraw(1)
    macro = run.state.macro
    assert macro.sofr[:7] == before.sofr[:7]
    assert macro.sofr[7:] != before.sofr[7:]
    assert run.state.growth == getattr(macro, run.state.params.growth_column)


def test_the_outcome_of_a_request_is_drawn_again() -> None:
    """By its odds, in the months that are left; the observation of the month does not change."""
    run = opened(3, actions={1: EQUITY}, delay_range=(3, 6))
    request = run.state.request
    assert request is not None
    found: Counter[bool] = Counter()
    delays: Counter[int] = Counter()
    for future in range(400):
        run.redraw(future)
        drawn = run.state.request
        assert drawn is not None
        assert (drawn.type, drawn.amount, drawn.month) == ("equity", request.amount, 1)
        assert 0.7 * EQUITY.amount <= drawn.received / 100 <= EQUITY.amount
        found[drawn.succeeds] += 1
        delays[drawn.delay] += 1
    assert set(delays) == {3, 4, 5, 6}
    assert abs(found[True] / 400 - request.chance) < 0.08
    assert max(delays.values()) < 150


def test_a_redrawn_outcome_is_later_than_now() -> None:
    """Of a request of month 1 that has not settled in month 6."""
    run = opened(6, actions={1: EQUITY}, delay_range=(4, 8))
    delays = set()
    for future in range(40):
        run.redraw(future)
        assert run.state.request is not None
        delays.add(run.state.request.delay)
    assert delays == {6, 7, 8}


def test_the_redrawn_outcome_is_the_one_that_arrives() -> None:
    """When it is due and not before, and the next request may follow."""
    for future in range(12):
        run = opened(2, actions={1: EQUITY}, delay_range=(3, 6))
        run.redraw(future)
        request = run.state.request
        assert request is not None
        while run.world.now < request.month + request.delay:
            assert run.state.request is request
            run.answer(run.open[0], Pass())
            run.advance()
        assert run.state.request is None
        assert run.state.slot.count == 0
        (notice,) = run.state.notifications
        assert notice["event"] == ("equity_delivered" if request.succeeds else "declined")
        if request.succeeds:
            assert notice["amount"] == request.received / 100


def test_a_request_whose_duration_is_known_keeps_it() -> None:
    """With one month to go at most, only success and amount are open."""
    run = opened(3, actions={1: EQUITY}, delay_range=(3, 3))
    outcomes = set()
    for future in range(40):
        run.redraw(future)
        assert run.state.request is not None
        assert run.state.request.delay == 3
        outcomes.add(run.state.request.succeeds)
    assert outcomes == {True, False}


def test_forced_outcomes_stay() -> None:
    """They are parameters, and the model says that it keeps them."""
    run = opened(3, actions={1: EQUITY}, forced_funding={1: (True, 0.5, 4)})
    request = run.state.request
    run.redraw(1)
    assert run.state.request == request
    assert len(run.model.kept) == 2  # type: ignore[attr-defined]
    assert EnterpriseArena.preset("regime").kept == (
        "the rest of a surge of borrower growth under way",
    )
