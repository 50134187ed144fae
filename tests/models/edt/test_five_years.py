"""The firm of five years in the README, "In a group": its figures are measured here."""

from collections.abc import Callable
from typing import Any

import pytest
from support.edt_firms import answered, linked

from desim import Run, play
from models.edt import EnterpriseDigitalTwin
from policies.heuristics.edt.simple import Simple

YEARS = {"scenario.stoptime": 60}


@pytest.mark.parametrize(
    ("preset", "policy", "score", "years", "lowest"),
    [
        ("interactive", "simple", 5_154_000, [89, 1_447.5, 1_274, 1_436, 969], (8, -645)),
        ("interactive", "greedy", 5_471_000, [89, 1_471.5, 1_333, 1_486, 1_206], (8, -645)),
        ("published", "simple", 6_512_500, [1_121.5, 1_350, 1_350, 1_390, 1_185], (3, -348)),
        ("published", "greedy", 8_870_000, [1_633, 1_878, 1_878, 1_783, 1_582], (3, -348)),
    ],
)
def test_one_parameter_makes_a_firm_of_five_years(
    preset: str, policy: str, score: float, years: list[float], lowest: tuple[int, float]
) -> None:
    """Both rules earn in every year; earnings by year and the lowest cash, in thousands."""
    played = play(EnterpriseDigitalTwin.preset(preset, **YEARS), policy, series=True)
    assert played.result.score == score
    assert played.series()
    earned, cash = played.series()["earnings"], played.series()["cash"]
    assert [sum(earned[12 * year : 12 * year + 12]) / 1_000 for year in range(5)] == years
    assert (cash.index(min(cash)) + 1, min(cash) / 1_000) == lowest


def simple_run(act: Callable[[Run], object], at: set[int], **changes: Any) -> Run:
    """Play `simple` in the interactive game; act behind the steps given."""
    run = Run(EnterpriseDigitalTwin.preset("interactive", **YEARS, **changes))
    linked(run, lambda tick: tick in at and act(run))
    return answered(run, Simple().decide)


@pytest.mark.parametrize(
    ("opening", "months", "most"), [(645_000, 0, 0), (400_000, 8, 245), (0, 15, 645)]
)
def test_opening_cash_decides_how_long_costs_are_owed(opening: int, months: int, most: int) -> None:
    """Steps with payables behind them, and the most that is owed, in thousands."""
    run = simple_run(lambda _: None, set(), opening_cash=opening, pays_from_cash=True)
    book = run.state.controlling.book
    owed = [-book.balance("payables", step) // 10**15 for step in range(61)]
    assert (sum(amount > 0 for amount in owed), max(owed)) == (months, most)
    assert run.result().score == 5_154_000


def test_a_lost_client_changes_the_score() -> None:
    """By what the README says."""
    lost = simple_run(lambda run: run.model.lose_project(run.state), {24})
    assert lost.result().score - 5_154_000 == -1_452_000
