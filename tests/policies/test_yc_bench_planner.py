"""The planner of YC-Bench, which reads replies and the constants of the world."""

import ast
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desim import play
from models.yc_bench import YCBench, formulas
from models.yc_bench.company.clock import CompanyClock
from models.yc_bench.world import draw_clients, draw_employees
from policies.heuristics.yc_bench import Planner
from policies.heuristics.yc_bench import planner as planner_module
from policies.heuristics.yc_bench.estimate import Estimate
from policies.heuristics.yc_bench.forecast import forecast, plans

GAME = YCBench()
RULES = GAME.public
FOLDER = Path(planner_module.__file__).parent
#: Everything the planner is made of.
SEEING = ("planner", "matching", "forecast", "estimate", "generator_policy")
#: What these may import of the model: commands, observations and public rules.
OPEN = {
    "models.yc_bench.actions",
    "models.yc_bench.desk",
    "models.yc_bench.specs",
    "models.yc_bench.formulas",
    "models.yc_bench.params",
}


def test_it_plays_with_a_staff_of_any_size() -> None:
    """It assumes neither eight people nor six clients."""
    game = YCBench(num_employees=3, num_clients=2, num_market_tasks=30, people_seed=7)
    assert play(game, "planner", seed=1).ended == "horizon_end"


# -- what it knows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEEING)
def test_it_imports_nothing_that_hides_from_a_player(name: str) -> None:
    """It imports commands, observations and public rules, neither the state nor the draws."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    models = {node.module for node in froms if (node.module or "").startswith("models")}
    own = {(n.module or "").split(".")[-1] for n in froms if "heuristics" in (n.module or "")}
    assert models <= OPEN
    assert own <= set(SEEING)


@pytest.mark.slow
def test_it_does_not_know_the_seed() -> None:
    """Built from the published rules alone it gives the same commands."""
    planner = Planner(rerolls=0)
    planner._rules = RULES
    unseated = play(GAME, planner.decide, seed=4)
    seated = play(GAME, "planner,rerolls=0", seed=4)
    assert [step.action for step in unseated.steps] == [step.action for step in seated.steps]


def test_it_finds_out_who_is_adversarial() -> None:
    """One acceptance and a look suffice; no task of theirs is ever worked on."""
    planner = Planner(rerolls=0)
    episode = play(GAME, planner, seed=2)
    hidden = {client.name for client in draw_clients(GAME, 2) if client.adversarial}
    assert planner._known.adversarial == hidden
    assert episode.metrics["failed_adversarial"] == 0
    assert episode.metrics["adversarial_share"] * episode.metrics["tasks_accepted"] == len(hidden)


# -- what it computes with -------------------------------------------------------------------------


CLOCK = CompanyClock(GAME)
START, END = CLOCK.start, CLOCK.moment(CLOCK.horizon)
stops = st.builds(
    lambda day, seconds: START + timedelta(days=day, seconds=seconds),
    st.integers(0, 364),
    st.integers(0, 9 * 3600 - 1),
).filter(lambda moment: moment.weekday() < 5)


@given(stops, stops)
def test_it_counts_evenings_as_the_world_does(first: datetime, last: datetime) -> None:
    """Progress between two stops is the published one."""
    hours = CLOCK.hours_between(CLOCK.tick(first), CLOCK.tick(last))
    assert RULES.progress_between(first, last) == pytest.approx(float(hours))


@given(stops, st.integers(0, 10**6))
def test_its_open_hours_return_where_they_came_from(first: datetime, seconds: int) -> None:
    """After some hours, that many have passed."""
    tick, ticks = CLOCK.tick(first), seconds * 10**6
    assert RULES.open_hours.between(tick, RULES.open_hours.add(tick, ticks)) == ticks


def test_trust_grows_and_saves_work_as_published() -> None:
    """The first success is worth 1.6, the second takes it to 2.497; full trust saves half."""
    assert formulas.trust_after_success(RULES, 0.0) == 1.6
    assert round(formulas.trust_after_success(RULES, 1.6), 3) == 2.497
    assert formulas.agreed_quantity(RULES, 1000, 5.0) == 500
    assert formulas.agreed_quantity(RULES, 300, 5.0) == 200
    left = formulas.trust_after_other_completions(RULES, 1.0, 1.0)
    assert round(left - formulas.trust_worn(RULES, 1.0), 3) == 0.973


def test_a_forecast_rises_with_the_choice_there_is() -> None:
    """Whatever the plan, more draws for each task mean better ones."""
    estimate = Estimate(RULES, END, START)
    estimate.read_staff(
        {
            "name": who.name,
            "salary_cents": who.salary_cents,
            "skill_rates": {domain: float(rate) for domain, rate in who.rates.items()},
            "active_tasks": [],
        }
        for who in draw_employees(GAME, 1)
    )
    estimate.read_clients(
        [{"name": name, "trust_level": 0.0, "specialties": ("training",)} for name in "AB"]
    )
    for plan in plans(estimate):
        few, many = (forecast(estimate, plan, [], draws) for draws in (1.0, 4.0))
        assert 0 < few < many
