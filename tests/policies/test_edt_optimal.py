"""The best decision of the consulting firm: found, and played as promised."""

import json
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from desim import play
from desim.core.policy import knows
from desim.errors import UsageError
from desim.schema import tag
from models.edt import Consultant, Decide, EnterpriseDigitalTwin, Project, Scenario, Window
from models.edt.planning import second_pass
from policies.heuristics.edt import LocalSearch, Optimal
from policies.heuristics.edt.search import Firm, best_found

GAME = EnterpriseDigitalTwin.preset()


def played(scenario: Scenario, plan: Decide, mode: str = "repair") -> float:
    """What a decision earns in the model."""
    decision = Decide(plan.consultants, plan.revenue_risk, plan.projects)
    return play(EnterpriseDigitalTwin(scenario=scenario, mode=mode), lambda _: decision).score


# -- random firms ----------------------------------------------------------------------------------

shares = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0])
efforts = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.5, 7.0, 12.3, 40.0])


@st.composite
def projects(draw: st.DrawFn, name: str) -> Project:
    """A project around the horizon of the random firms."""
    start = draw(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.0, 2.0, 5.0, 9.0]))
    return Project(
        name=name,
        contracted_effort=draw(efforts),
        contracted_probability=0.9,
        extension_probability=draw(shares),
        extension_effort=draw(efforts),
        follow_on_probability=draw(shares),
        deadline=start + draw(st.sampled_from([0.0, 1.0, 2.5, 4.0, 7.0, 30.0])),
        consultants=draw(st.integers(1, 4)),
        start_time=start,
        billing_rate=draw(st.sampled_from([0.0, 3.0, 5.5, 8.0, 13.0, 20.0])),
        is_follow_on=draw(st.sampled_from([False, False, False, True])),
    )


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A small firm; accounts stand before, between or behind the projects."""
    staff = draw(st.lists(st.sampled_from([0.0, 2.0, 6.0]), max_size=5))
    work = [draw(projects(f"P{at}")) for at in range(draw(st.integers(1, 4)))]
    before = draw(st.integers(0, len(work)))
    runs = [("project", before), ("controlling", 1), ("project", len(work) - before)]
    start = draw(st.sampled_from([0.0, 1.0, 1.0, 0.5]))
    return Scenario(
        starttime=start,
        stoptime=start + draw(st.sampled_from([0, 1, 2, 3, 5, 8, 11, 13.5])),
        dt=draw(st.sampled_from([1.0, 1.0, 1.0, 0.5, 0.4, 2.0])),
        revenue_risk_level=0.5,
        fixed_cost=draw(st.sampled_from([0.0, 3.0])),
        consultants=[
            Consultant(name=f"C{at}", salary=pay, workplace_cost=1.0)
            for at, pay in enumerate(staff)
        ],
        projects=work,
        order=[run for run in (("consultant", len(staff)), *runs) if run[1]],
    )


@st.composite
def plans(draw: st.DrawFn, firm: Firm) -> Decide:
    """Any decision; windows at the ends of the horizon are likely."""
    end = firm.limits.horizon
    step = st.integers(0, end) | st.sampled_from([0, end])
    window = st.builds(lambda a, b: Window(min(a, b), max(a, b)), step, step)
    chosen = draw(st.tuples(*[window | st.none()] * len(firm.limits.windows)))
    if not any(chosen):
        chosen = tuple(draw(window) for _ in chosen)
    risk = st.sampled_from(firm.risks) | st.floats(0, 1)
    return Decide(draw(st.sampled_from(firm.counts)), draw(risk), chosen)


@examples(150)
@given(scenario=scenarios(), data=st.data())
def test_the_search_promises_what_the_model_pays(scenario: Scenario, data: st.DataObject) -> None:
    """Closed forms between events and the model with its clock and ledger agree on earnings."""
    firm = Firm(scenario)
    plan = data.draw(plans(firm))
    assert firm.earnings(plan) == pytest.approx(played(scenario, plan), rel=1e-9, abs=1e-6)


@pytest.mark.traces("edt/traces/*.json")
def test_the_search_promises_what_the_published_simulator_pays(trace: Path) -> None:
    """The same holds for every published decision on the built-in template."""
    known = json.loads(trace.read_text(encoding="utf-8"))
    firm = Firm(GAME.loaded_scenario)
    if "normalised" in known:
        plan = second_pass(known["normalised"], firm.limits)
        assert firm.earnings(plan) == pytest.approx(known["final"]["accumulated_earnings"])


# -- firms that are solved -------------------------------------------------------------------------


@pytest.mark.slow
def test_the_published_game_is_solved() -> None:
    """The best decision known is the best there is (reference SPEC section 11)."""
    episode = play(GAME, Optimal)
    assert episode.score == 14_756_000
    assert episode.steps[0].notes == {"found": 14_756_000}


def every(firm: Firm) -> Iterator[Decide]:
    """All decisions of a firm, one risk level for each set of gates."""
    ends = combinations_with_replacement(range(firm.limits.horizon + 1), 2)
    windows = [None, *(Window(start, end) for start, end in ends)]
    for chosen in product(windows, repeat=len(firm.limits.windows)):
        if any(chosen):
            for count, risk in product(firm.counts, firm.risks):
                yield Decide(count, risk, chosen)


@pytest.mark.parametrize(("seats", "best"), [(1, 38.0), (2, 41.0)])
def test_a_tiny_firm_is_solved_as_by_trying_everything(seats: int, best: float) -> None:
    """The search finds what trying every decision finds."""
    names = ("name", "contracted_effort", "extension_probability", "extension_effort")
    rows = [("long", 5.0, 0.4, 3.0), ("short", 2.0, 0.7, 1.0)]
    work = [
        Project(
            **dict(zip(names, row, strict=True)),
            contracted_probability=1.0,
            follow_on_probability=0.2,
            start_time=1.0,
            deadline=6.0,
            consultants=seats,
            billing_rate=rate,
        )
        for row, rate in zip(rows, (7.0, 9.0), strict=True)
    ]
    scenario = evolve(
        GAME.loaded_scenario,
        stoptime=7.0,
        fixed_cost=1.0,
        consultants=[Consultant(name=n, salary=3.0, workplace_cost=0.0) for n in "abc"],
        projects=work,
        order=[("consultant", 3), ("project", 2), ("controlling", 1)],
    )
    firm = Firm(scenario)
    assert max(firm.earnings(plan) for plan in every(firm)) == best
    assert best_found(scenario, 2_000)[0] == best


# -- the policies ----------------------------------------------------------------------------------


def test_a_search_repeats_itself() -> None:
    """The budget fixes the decision, and a larger one finds a better."""
    first = best_found(GAME.loaded_scenario, 50)
    best_found.cache_clear()
    assert best_found(GAME.loaded_scenario, 50) == first
    assert best_found(GAME.loaded_scenario, 500)[0] > first[0]


def test_local_search_earns_what_it_notes() -> None:
    """Its notes are the score of its episode; it knows costs that the briefing hides."""
    assert knows(Optimal) == knows(LocalSearch) == "state"
    episode = play(GAME, LocalSearch)
    assert episode.steps[0].notes == {"found": episode.score}
    assert episode.score > 2 * 7_116_500


def test_a_firm_may_be_left_empty_where_the_rules_let_it() -> None:
    """The second pass alone allows no consultants; the full repair keeps at least one."""
    barren = evolve(
        GAME.loaded_scenario,
        projects=[evolve(p, billing_rate=0.0) for p in GAME.loaded_scenario.projects],
    )
    kept, empty = (best_found(barren, 2_000, least) for least in (1, 0))
    assert [(earned, plan.consultants) for earned, plan in (kept, empty)] == [
        (-28_000.0 * 95, 1),
        (-20_000.0 * 95, 0),
    ]
    rows = [
        play(evolve(GAME, scenario=barren, mode=mode), "local_search,evaluations=2000")
        for mode in ("repair", "second_pass")
    ]
    assert [row.score for row in rows] == [kept[0], empty[0]]


@pytest.mark.parametrize("policy", [LocalSearch, Optimal])
def test_other_games_are_declined(policy: type[LocalSearch | Optimal]) -> None:
    """Where decisions go on, or chance gates the work, one search beforehand is no answer."""
    for game, why in (
        (EnterpriseDigitalTwin.preset("interactive"), "decides once, before the run"),
        (EnterpriseDigitalTwin.preset(gating="bernoulli"), "only with the code's rules"),
        (EnterpriseDigitalTwin.preset(extensions="once"), "only with the code's rules"),
    ):
        with pytest.raises(UsageError, match=why):
            play(game, policy)
    with pytest.raises(UsageError, match="evaluations"):
        play(GAME, f"{tag(policy)},evaluations=0")
