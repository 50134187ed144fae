"""Regimes: the labels of the table, the chain fitted to it, and the histories drawn."""

from itertools import groupby, pairwise
from math import sqrt

import pytest
from support.arena import opened, played

from desim.core.streams import generator
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.macro import COLUMNS, Macro, builtin
from models.enterprise_arena.regimes import (
    REGIMES,
    THRESHOLD,
    Switching,
    fit,
    labels,
    observe,
    runs,
    transitions,
)

GROWTH = "ind_user_growth_monthly"
SEEDS = 200


@pytest.fixture(scope="module")
def fitted() -> Switching:
    """The model of the built-in table."""
    return fit(builtin(), GROWTH)


@pytest.fixture(scope="module")
def histories(fitted: Switching) -> list[Macro]:
    """Histories of many seeds."""
    return [fitted.draw(generator(seed, "regimes"), 132).macro for seed in range(SEEDS)]


def test_labels_of_the_table_follow_the_spec() -> None:
    """Recession from April 2020 on until a year later; month by month by the definition."""
    table, regimes = builtin(), labels(builtin())
    for month in range(132):
        year = table.unrate[max(0, month - 12) : month]
        if year and round(table.unrate[month] - min(year), 2) >= 0.5:
            assert regimes[month] == "recession"
        elif table.gdp_growth_yoy[month] >= 2:
            assert regimes[month] == "expansion"
        else:
            assert regimes[month] == "neutral"
    spells = [(label, len(list(spell))) for label, spell in groupby(regimes)]
    assert spells[:9] == [
        ("expansion", 12),
        ("neutral", 9),
        ("expansion", 27),
        ("neutral", 3),
        ("expansion", 9),
        ("neutral", 2),
        ("recession", 13),
        ("expansion", 18),
        ("neutral", 3),
    ]
    assert [regimes.count(regime) for regime in REGIMES] == [22, 91, 19]


def test_transitions_are_counts_with_half_a_month_added() -> None:
    """By hand: 0 0 1 1 1 2, where the last month is followed by none."""
    matrix = transitions([0, 0, 1, 1, 1, 2])
    assert matrix[0] == pytest.approx((1.5 / 3.5, 1.5 / 3.5, 0.5 / 3.5))
    assert matrix[1] == pytest.approx((0.5 / 4.5, 2.5 / 4.5, 1.5 / 4.5))
    assert matrix[2] == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_the_table_s_own_path_solves_the_equations(fitted: Switching) -> None:
    """With its own regimes and residuals every state is what the table shows."""
    states = fitted.states
    rows = list(range(132))
    path = states["fedfunds"].path(fitted.labels, rows)
    assert path == pytest.approx(list(builtin().fedfunds))
    assert states["gross"].path(fitted.labels, rows) == pytest.approx(
        list(builtin().ind_gross_margin)
    )


def test_transitions_drawn_are_near_the_matrix(fitted: Switching) -> None:
    """Each frequency within four standard errors of its chance.

    Given how often a regime was left, the moves out of it are binomial: a frequency has the
    standard error sqrt(p (1 - p) / n).
    """
    seen = [
        pair
        for seed in range(SEEDS)
        for pair in pairwise(fitted.regimes(generator(seed, "regimes").random(131).tolist()))
    ]
    for one in range(3):
        moves = [after for before, after in seen if before == one]
        for other in range(3):
            chance = fitted.matrix[one][other]
            error = sqrt(chance * (1 - chance) / len(moves))
            assert abs(moves.count(other) / len(moves) - chance) < 4 * error


def test_the_seed_fixes_the_history_and_decisions_do_not() -> None:
    """The same for two episodes of a seed, another for another seed."""
    model = EnterpriseArena.preset("regime")
    one = opened(0, model, seed=1).macro
    assert played(model, seed=1).macro == one
    assert opened(0, model, seed=2).macro != one
    assert opened(0, model, seed=1).noise == opened(0, EnterpriseArena(), seed=1).noise


def test_the_columns_of_a_history_agree(histories: list[Macro]) -> None:
    """Spreads, yearly inflation, yearly growth and quarters agree with what they are made of."""
    history = histories[0]
    for month in range(12, 132):
        past = history.cpi_index[month - 12]
        assert history.cpi_yoy[month] == pytest.approx(
            100 * (history.cpi_index[month] / past - 1), abs=0.011
        )
        factor = 1.0
        for growth in history.ind_user_growth_monthly[month - 11 : month + 1]:
            factor *= 1 + growth / 100
        assert history.ind_user_growth_annual[month] == pytest.approx(100 * (factor - 1), abs=0.01)
    for quarter in range(0, 132, 3):
        assert len(set(history.gdp_growth_qoq_saar[quarter : quarter + 3])) == 1
    assert history.label == builtin().label


def test_surges_of_the_table_are_three() -> None:
    """In the windows of SPEC section 4, with the peaks listed there."""
    growth = builtin().ind_user_growth_monthly
    assert list(runs(growth)) == [(24, 35), (52, 64), (104, 115)]
    surges = observe(growth)
    assert surges.peaks == (9.84, 6.25, 3.2)
    assert surges.chance == pytest.approx(3.5 / (132 - 34 + 1))


def test_histories_have_surges_of_the_size_and_length_observed(histories: list[Macro]) -> None:
    """As many as their chance says, none longer than 5/4 of the longest, peaks within bounds."""
    lengths, peaks = [], []
    for history in histories:
        growth = history.ind_user_growth_monthly
        for start, end in runs(growth):
            lengths.append(end - start)
            peaks.append(max(growth[start:end]))
    assert max(lengths) <= 1.25 * 12
    assert 9.84 < max(peaks) <= 1.25 * 9.84 + 0.01
    assert THRESHOLD < min(peaks) < 3.2
    # A cycle lasts 1 / chance quiet months and about a dozen of surge: 3.2 of them fit in 132.
    assert 2.5 < len(lengths) / SEEDS < 4


def test_a_table_of_a_year_is_too_short_for_regimes() -> None:
    """It is refused when the model is made."""
    short = Macro(**{name: getattr(builtin(), name)[:12] for name in COLUMNS})
    with pytest.raises(ValueError, match="more than 12 months"):
        EnterpriseArena(macro=short, horizon=12, history="regimes")
