"""The bound on known luck: never beaten, attained where it is proved, and played as planned."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from support.cases import thinned
from support.examples import examples

from desim import Run, catalog, play
from desim.errors import UsageError
from models.beer_game import BeerGame
from models.enterprise_arena import (
    TREASURY,
    BookClosing,
    EnterpriseArena,
    FundRaisingRequest,
    Pass,
    SaveNote,
    VerifyCashPosition,
)
from models.enterprise_arena.officer.funding import debt_chance, equity_chance
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.state import Lender
from policies.informed.enterprise_arena.known_luck import known_plan, score_bound
from policies.informed.enterprise_arena.luck import Luck
from policies.informed.enterprise_arena.relaxation import Relaxation

#: Changes of parameters for tests of a few months: quick outcomes, small requests.
SHORT: dict[str, Any] = {"horizon": 4, "delay_range": (1, 2), "largest_request": 3e6}
#: Lenders always refuse.
NO_DEBT: dict[str, Any] = {"debt_range": (0.0, 0.0)}
#: Operating profit large enough that tax is paid.
TAXED: dict[str, Any] = {
    "gross_margin_range": (80.0, 80.0),
    "ebitda_margin_range": (60.0, 60.0),
    "opening_allowance": 5e6,
}


def played(model: EnterpriseArena, seed: int, commands: Iterable[Any]) -> Run[Lender]:
    """Play commands in their order, and pass once there are none left."""
    run, due = Run(model, seed), iter(commands)
    while decisions := run.advance():
        run.answer(decisions[0], next(due, Pass()))
    return run


def best_of_all(model: EnterpriseArena, seed: int, choices: Sequence[Any]) -> float:
    """Return the best score of all sequences of one choice a month."""
    sequences = product(choices, repeat=model.horizon)
    return max(played(model, seed, each).result().score for each in sequences)


def bound(model: ArenaParams, seed: int) -> float:
    """Return the value of a bound that exists."""
    known = score_bound(model, seed)
    assert known is not None
    return known.value


# -- small worlds, all sequences of requests -------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, {"round_decay": 0.4, "zero_noise": True}], ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_without_debt_the_bound_is_the_best_sequence(changes: dict[str, Any], seed: int) -> None:
    """To the cent, and it says that it is proved."""
    model = EnterpriseArena(**{**SHORT, **NO_DEBT, **changes})
    whole, half = (FundRaisingRequest("equity", amount) for amount in (3e6, 1.5e6))
    known = score_bound(model, seed)
    assert known is not None
    assert known.kind == "proved"
    assert known.value == best_of_all(model, seed, (Pass(), whole, half))


def test_with_debt_at_one_chance_the_bound_is_the_best_sequence() -> None:
    """To a dollar, the most that its allowance for rounding makes, where leverage costs nothing."""
    free = {"leverage_penalty": 0.0, "leverage_spread": 0.0}
    model = EnterpriseArena(**{**SHORT, **free})
    choices = [FundRaisingRequest(kind, 3e6) for kind in ("equity", "debt")]
    best = best_of_all(model, 1, (Pass(), *choices, FundRaisingRequest("debt", 2e6)))
    assert best <= bound(model, 1) <= best + 1


@pytest.mark.parametrize(
    "changes",
    [
        {"opening_shares": 500_000.0, "opening_loans": 0.0, "opening_allowance": 0.0},
        {**TAXED, "largest_request": 40e6},
        {**TREASURY, "overhead": 900_000.0},
    ],
    ids=["levered", "taxed", "nearly_bankrupt"],
)
def test_where_leverage_tax_or_solvency_matter_no_sequence_beats_it(
    changes: dict[str, Any],
) -> None:
    """These are the parts that the programme relaxes."""
    model = EnterpriseArena(**{**SHORT, **changes})
    largest = model.largest_request
    choices = [FundRaisingRequest(*each) for each in product(("equity", "debt"), (largest,))]
    assert best_of_all(model, 1, (Pass(), *choices)) <= bound(model, 1)


def test_a_company_that_cannot_survive_has_a_proved_bound_of_zero() -> None:
    """Nobody lends, nobody invests, and cash lasts for two of four months."""
    broke = {**TREASURY, "overhead": 900_000.0, "equity_midpoint": 0.0, "equity_scale": 0.5}
    known = score_bound(EnterpriseArena(**{**SHORT, **NO_DEBT, **broke}), 0)
    assert known is not None
    assert (known.value, known.kind) == (0.0, "proved")


def test_tax_is_bounded_where_it_is_paid() -> None:
    """Interest would save it, so that a bound for all policies is above one without debt."""
    model = EnterpriseArena(**{**SHORT, **TAXED})
    luck = Luck.of(model, 1)
    assert luck is not None
    assert luck.tax > 0
    assert bound(model, 1) > bound(evolve(model, tax_rate=0.0), 1) - luck.tax / 100


def test_forced_outcomes_are_known_to_it() -> None:
    """The one request that succeeds arrives in full after two months."""
    forced = [(0, False, 1.0, 1), (1, True, 1.0, 2), *((m, False, 1.0, 1) for m in (2, 3))]
    model = EnterpriseArena(**{**SHORT, "forced_funding": forced, **NO_DEBT})
    passed = played(model, 0, ()).result().score
    known = score_bound(model, 0)
    assert known is not None
    assert known.value == pytest.approx(passed + 3e6)
    assert known.kind == "proved"


# -- any policy in any world -----------------------------------------------------------------------

amounts = st.sampled_from([1e4, 1e6, 1e7, 5e7, 6e7]) | st.floats(0.001, 5e7)
requests = st.builds(
    FundRaisingRequest, st.sampled_from(["equity", "debt", "debt", "gift"]), amounts
)
other = st.sampled_from([Pass(), Pass(), BookClosing(), VerifyCashPosition(), SaveNote("n")])
commands = st.lists(requests | requests | other, max_size=60)
worlds = st.builds(
    EnterpriseArena,
    horizon=st.integers(1, 20),
    history=st.sampled_from(["table", "regimes"]),
    largest_request=st.sampled_from([1e4, 5e6, 5e7]),
    free_refusals=st.sampled_from([0, 20]),
    delay_range=st.sampled_from([(1, 1), (1, 3), (2, 6)]),
    note_term_months=st.sampled_from([1, 6, 24, 60, 400]),
    round_decay=st.sampled_from([0.0, 0.75, 1.0]),
    debt_range=st.sampled_from([(0.3, 0.97), (1.0, 1.0)]),
    leverage_threshold=st.sampled_from([0.0, 0.5, 3.0]),
    leverage_penalty=st.sampled_from([0.0, 1.5, 20.0]),
    leverage_spread=st.sampled_from([0.0, 0.05, 1.0]),
    max_raise_multiple=st.none() | st.floats(0.01, 1),
    opening_cash=st.sampled_from([1e6, 15e6, 1e9]),
    opening_shares=st.sampled_from([500_000.0, 10_500_000.0]),
    overhead=st.sampled_from([0.0, 1e6]),
    ebitda_margin_range=st.sampled_from([(0.0, 60.0), (60.0, 60.0)]),
    note_limit=st.none() | st.just(1),
    forced_funding=st.sampled_from([(), [(0, True, 0.9, 2), (3, False, 1.0, 1)]]),
)


def margin(model: EnterpriseArena, seed: int, given_commands: list[Any]) -> float:
    """Return by how much the bound is above the score of some commands, dollars."""
    plan = known_plan(model, seed, width=1)
    assert plan is not None
    return plan.bound - played(model, seed, given_commands).result().score


@examples(25)
@given(model=worlds, seed=st.integers(0, 50), given_commands=commands)
def test_no_commands_beat_the_bound(
    model: EnterpriseArena, seed: int, given_commands: list[Any]
) -> None:
    """Whatever is requested, whenever, of any size and type."""
    assert margin(model, seed, given_commands) >= 0


@pytest.mark.slow
@examples(200)
@given(model=worlds, seed=st.integers(51, 10_000), given_commands=commands)
def test_hundreds_of_policies_do_not_beat_the_bound(
    model: EnterpriseArena, seed: int, given_commands: list[Any]
) -> None:
    """The same with other seeds."""
    assert margin(model, seed, given_commands) >= 0


solvent = worlds.map(lambda model: evolve(model, opening_cash=1e9, ebitda_margin_range=(0, 10)))


@examples(15)
@given(model=solvent, seed=st.integers(0, 50), given_commands=commands, data=st.data())
def test_values_bound_what_is_added_after_any_beginning(
    model: EnterpriseArena, seed: int, given_commands: list[Any], data: st.DataObject
) -> None:
    """In any month without a request under way, with leverage that the programme understates."""
    luck = Luck.of(model, seed)
    assert luck is not None
    relaxation = Relaxation(luck)
    run, answered = Run(model, seed), 0
    states: list[tuple[int, int, int, int]] = []
    while decisions := run.advance():
        lender = run.state
        if lender.request is None:
            rounds = min(lender.counts["equity"], relaxation.limit)
            bucket = int(relaxation.bucket(closing_debt(lender)))
            leverage = relaxation.leverage(lender.month)[rounds][bucket]
            assert leverage <= lender.leverage
            states.append((answered, lender.month, rounds, bucket))
        answer = given_commands[answered] if answered < len(given_commands) else Pass()
        run.answer(decisions[0], answer)
        answered += 1
    prefix, month, rounds, bucket = data.draw(st.sampled_from(states))
    idle = played(model, seed, given_commands[:prefix]).state
    added = run.state.closing_cash - idle.closing_cash
    assert added <= relaxation.values[month, rounds, bucket] + luck.tax


def closing_debt(lender: Lender) -> Any:
    """Return what the present notes will owe at the horizon if no cent is rounded, cents."""
    term, horizon = lender.params.note_term_months, lender.params.horizon
    shares = [(loan.principal, max(0, term - horizon + loan.drawn)) for loan in lender.term_loans]
    return sum(principal * left / term for principal, left in shares)


def test_a_request_of_cents_is_covered() -> None:
    """Interest and instalments of a note of 29 cents are rounded to 0, so that it stays in cash."""
    changes: dict[str, Any] = {"leverage_penalty": 0.0, "debt_range": (1.0, 1.0)}
    changes |= {"largest_request": 0.29, "delay_range": (1, 1), "opening_cash": 1e9}
    model = EnterpriseArena(**changes, horizon=59, equity_midpoint=0.0, equity_scale=0.5)
    requests_of_cents = [FundRaisingRequest("debt", 0.29)] * 59
    passed, borrowed = (played(model, 0, each).state for each in ((), requests_of_cents))
    luck = Luck.of(model, 0)
    assert luck is not None
    assert 0 < borrowed.closing_cash - passed.closing_cash <= Relaxation(luck).bound


@pytest.mark.parametrize("preset", ["capped", "regime"])
def test_chances_are_those_of_the_model(preset: str) -> None:
    """The heuristics may not import the model's funding, so the formulas are written twice."""
    model = EnterpriseArena.preset(preset)
    luck, macro = Luck.of(model, 3), Run(model, 3).state.macro
    assert luck is not None
    for month, known in enumerate(luck.months):
        assert known.equity_chance == equity_chance(model, macro.vix_avg[month])
        spread = macro.baa_10y_spread[month]
        assert known.debt_chance == debt_chance(model, macro.sofr[month], spread)


# -- the boards ------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", thinned(["known_luck", "raise_when_free,amount=50_000_000"], 2))
@pytest.mark.parametrize("preset", ["capped", "regime"])
def test_a_board_is_below_its_bound(preset: str, spec: str) -> None:
    """On its first seeds."""
    model = EnterpriseArena.preset(preset)
    for seed in range(3):
        assert play(model, spec, seed).score <= bound(model, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 3))
@pytest.mark.parametrize("preset", ["capped", "regime"])
def test_no_baseline_beats_the_bound(preset: str, seed: int) -> None:
    """All of them; the plan attains it, as survival at no cost is all that adds value."""
    model = EnterpriseArena.preset(preset)
    scores = {spec: play(model, spec, seed).score for spec in catalog.baselines(model)}
    assert max(scores.values()) == scores["known_luck"] <= bound(model, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 3))
def test_no_baseline_beats_the_bound_of_the_published_score(seed: int) -> None:
    """Where raised money counts, the plan comes within 5 % of the bound."""
    model = EnterpriseArena.preset("capped", score_of="value")
    scores = {spec: play(model, spec, seed).score for spec in catalog.baselines(model)}
    assert max(scores.values()) == scores["known_luck"] <= bound(model, seed)
    assert scores["known_luck"] > 0.95 * bound(model, seed)


# -- the policy ------------------------------------------------------------------------------------


def test_known_luck_scores_what_it_notes() -> None:
    """It plays its plan, which the notes compare with the bound."""
    model = EnterpriseArena.preset("capped", horizon=40)
    episode, plan = play(model, "known_luck", 2), known_plan(model, 2)
    assert plan is not None
    assert episode.score == plan.score
    assert episode.steps[0].notes == {"score": plan.score, "bound": plan.bound}


def test_a_wider_search_finds_no_worse_plan_here() -> None:
    """A width of one follows the programme's hope alone."""
    model = EnterpriseArena.preset("capped", horizon=60)
    narrow, wide = (known_plan(model, 0, width) for width in (1, 300))
    assert narrow is not None
    assert wide is not None
    assert narrow.score <= wide.score
    assert narrow.bound == wide.bound


@pytest.mark.parametrize("preset", ["paper", "snapshot"])
def test_uncapped_requests_have_no_bound(preset: str) -> None:
    """The policy plays no such world, and no board of one lists it."""
    model = EnterpriseArena.preset(preset)
    assert score_bound(model, 0) is None
    assert "known_luck" not in catalog.baselines(model)
    with pytest.raises(UsageError, match="this world has none"):
        play(model, "known_luck")


def test_a_world_beyond_saving_has_no_bound() -> None:
    """Half a trillion of payroll a month ends the episode without requests as well."""
    model = EnterpriseArena.preset("capped", horizon=6, overhead=1e12)
    assert score_bound(model, 0) is None


@pytest.mark.parametrize(
    ("model", "spec", "error"),
    [
        (EnterpriseArena.preset(), "known_luck,width=0", "width=0 was given; it is at least 1"),
        (BeerGame(), "policies.informed.enterprise_arena:KnownLuck", "plays no other world"),
    ],
    ids=["width", "world"],
)
def test_wrong_use_is_refused(model: Any, spec: str, error: str) -> None:
    """With the reason."""
    with pytest.raises(UsageError, match=error):
        play(model, spec)
