"""What holds in every firm, whatever is decided and however the scenario is made."""

import random
from collections.abc import Iterator
from itertools import accumulate, compress, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.edt_histories import assignments, series, staffing, states
from support.edt_stepping import Stepping, dice, random_scenario
from support.examples import examples

from desim import Run
from models.edt import Decide, EnterpriseDigitalTwin, Scenario, Window
from models.edt.actions import Answer
from models.edt.agents import Phase
from models.edt.controlling import CAPACITY, EFFORT
from models.edt.firm import Firm


def given_run(scenario: Scenario) -> Run:
    """Run a scenario as it is given."""
    run = Run(EnterpriseDigitalTwin(scenario=scenario), seats=[])
    run.advance()
    return run


def differences(scenario: Scenario) -> Iterator[str]:
    """Name what differs between jumping and stepping."""
    firm: Firm = given_run(scenario).state
    plain = Stepping(scenario, scenario.revenue_risk_level).run()
    if states(firm) != [w.states for w in plain.works]:
        yield "states"
    if staffing(firm) != [w.staffing for w in plain.works]:
        yield "staff"
    if assignments(firm) != [w.seen for w in plain.workers]:
        yield "assignments"
    reported = series(firm)
    # A rest of effort below a booked unit earns nothing, so there is nothing at risk either.
    earned = [b["revenue"] > 1e-6 for b in plain.booked]
    for name in plain.booked[0]:
        theirs = [b[name] for b in plain.booked]
        ours = reported[name]
        if name == "revenue_risk":
            theirs, ours = ([*compress(values, earned)] for values in (theirs, ours))
        if ours != pytest.approx(theirs, rel=1e-9, abs=1e-9):
            yield name


@pytest.mark.slow
def test_jumping_equals_stepping_through_every_step() -> None:
    """Thousands of random firms: agents in any order, steps of any size, floats of any kind."""
    draw = dice(7)
    for number in range(1_500):
        scenario = random_scenario(draw)
        assert [*differences(scenario)] == [], (number, scenario)


def decided(draw: random.Random, scenario: Scenario) -> Run:
    """Play any decision, well-formed or not, at any mode that repairs."""
    count = len(scenario.projects)
    entries = [
        draw.choice([0, None, [0, 1, 2], [1, draw.randint(-3, 40), draw.randint(-3, 40)], "x"])
        for _ in range(draw.choice([count, count, count, count + 1]))
    ]
    raw = {"C": draw.randint(-1, 7), "R": draw.choice([0, 0.5, 0.8, 1, "1", None]), "P": entries}
    mode = draw.choice(["repair", "second_pass"])
    gating = draw.choice(["threshold", "bernoulli"])
    run = Run(EnterpriseDigitalTwin(scenario=scenario, mode=mode, gating=gating), draw.randrange(9))
    (decision,) = run.advance()
    run.answer(decision, Answer(raw))
    assert run.advance() == []
    return run


def check(firm: Firm) -> None:
    """What no firm may break."""
    controlling = firm.controlling
    effort, capacity = controlling.posted(EFFORT), controlling.posted(CAPACITY)
    assert all(0 <= e <= c for e, c in zip(effort, capacity, strict=True))
    for project in firm.engagements:
        assert len(project.staff) <= project.terms.consultants
        assert project.remaining >= 0
        steps = [step for step, _ in project.phases]
        assert steps == sorted(steps)
    balance = controlling.book.trial_balance()
    assert balance.debits == balance.credits


@pytest.mark.slow
def test_ten_thousand_random_scenarios_are_played_without_an_exception() -> None:
    """Effort never exceeds capacity, staff never the seats, and the ledger adds up."""
    draw = dice(1)
    for number in range(10_000):
        scenario = random_scenario(draw, longest=14)
        run = given_run(scenario) if number % 2 else decided(draw, scenario)
        assert run.result().ended == "horizon"
        check(run.state)


def test_assignments_are_sticky() -> None:
    """A consultant leaves a project only when it is over, and loses a step each time."""
    draw = dice(2)
    left = 0
    for _ in range(300):
        firm: Firm = given_run(random_scenario(draw)).state
        for line in assignments(firm):
            for step, (before, now) in enumerate(pairwise(line), 1):
                if before is None or now == before:
                    continue
                left += 1
                project = firm.engagements[before]
                assert now is None
                assert min(at for at, s in project.phases if s is Phase.COMPLETED) <= step + 1
    assert left > 100


def test_ledger_and_series_agree() -> None:
    """Stocks are sums of flows before the step; cash is what was paid two steps later."""
    draw = dice(4)
    for _ in range(200):
        run = decided(draw, random_scenario(draw))
        reported, metrics = series(run.state), run.result().metrics
        for name in ("revenue", "expenses", "earnings"):
            sums = [0.0, *accumulate(reported[name])]
            assert reported[f"accumulated_{name}"] == pytest.approx(sums[:-1], abs=1e-6)
            assert metrics[f"accumulated_{name}"] == reported[f"accumulated_{name}"][-1]
        paid = [0.0, 0.0, *reported["revenue"]]
        flow = [p - e for p, e in zip(paid, reported["expenses"], strict=False)]
        assert reported["cash_flow"] == pytest.approx(flow, abs=1e-6)
        assert reported["cash"] == pytest.approx([0.0, *accumulate(flow)][:-1], abs=1e-6)
        assert metrics["cash"] == reported["cash"][-1]
        assert run.result().score == metrics["accumulated_earnings"]
        mean = sum(reported["utilization"]) / len(reported["utilization"])
        assert metrics["mean_step_utilization"] == pytest.approx(mean)
        assert metrics["overall_avg_utilization"] == reported["overall_avg_utilization"][-1]


@examples(60)
@given(
    st.integers(0, 12),
    st.floats(0, 1),
    st.lists(
        st.none() | st.builds(Window, st.integers(0, 95), st.integers(0, 95)),
        min_size=10,
        max_size=10,
    ),
)
def test_any_decision_on_the_published_firm(
    staff: int, risk: float, windows: list[Window | None]
) -> None:
    """It plays, twice the same, and earns no more than the best-paid seats can."""
    played = []
    for _ in range(2):
        run = Run(EnterpriseDigitalTwin())
        run.answer(run.advance()[0], Decide(staff, risk, tuple(windows)))
        run.advance()
        check(run.state)
        played.append(run.result())
    assert played[0] == played[1]
    assert played[0].score <= 15_206_000


def test_bernoulli_draws_depend_on_project_gate_and_occurrence_alone() -> None:
    """Leaving another project out shifts no draw; another seed does."""
    full, without = (opened_gates(3, left_out) for left_out in (9, 4))
    shared = [gate for gate in full if gate in without]
    assert len(shared) > 5
    assert [full[g] for g in shared] == [without[g] for g in shared]
    assert opened_gates(4, 9) != full


def opened_gates(seed: int, left_out: int) -> dict[tuple[str, str, int], bool]:
    """Play with every gate watched; return which of them opened."""
    from models.edt import processes

    is_open = processes.is_open
    seen: dict[tuple[str, str, int], bool] = {}

    def watch(world: Any, firm: Firm, me: Any, kind: str, probability: float) -> bool:
        opened = is_open(world, firm, me, kind, probability)
        seen[me.key, kind, me.occurrences[kind]] = opened
        return opened

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "is_open", watch)
        run = Run(EnterpriseDigitalTwin(gating="bernoulli"), seed)
        windows = tuple(None if at == left_out else Window(0, 60) for at in range(10))
        run.answer(run.advance()[0], Decide(12, 1.0, windows))
        run.advance()
    return seen
