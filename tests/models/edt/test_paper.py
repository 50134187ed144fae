"""The preset `paper`: every rule in which the paper's text differs from the published code."""

from typing import Any

import pytest
from attrs import evolve
from support.edt_histories import assignments, series

from desim import Episode, Run, play
from models.edt import Consultant, Decide, EnterpriseDigitalTwin, Scenario, Window

PAPER = EnterpriseDigitalTwin.presets["paper"]
FULL = (Window(0, 95),) * 10


def firm(**terms: Any) -> Scenario:
    """A firm of one consultant and one project of three units; all gates are certain."""
    given = EnterpriseDigitalTwin().loaded_scenario
    certain = {"extension_probability": 1.0, "extension_effort": 2.0, "follow_on_probability": 0.0}
    fixed = {"contracted_effort": 3.0, "billing_rate": 100.0, "consultants": 1}
    project = evolve(given.projects[0], **{**certain, **fixed, **terms})
    return evolve(
        given,
        stoptime=20.0,
        fixed_cost=0.0,
        consultants=[Consultant(name="C", salary=1.0, workplace_cost=0.0)],
        projects=[project, evolve(project, name="Project 2", extension_probability=0.0)],
        order=[("consultant", 1), ("project", 2), ("controlling", 1)],
    )


def run(scenario: Scenario, *windows: Window | None, risk: float = 1.0, **rules: str) -> Run:
    """Play a decision in the published game with some rules of the paper."""
    game = Run(EnterpriseDigitalTwin(scenario=scenario, **rules))
    game.answer(game.advance()[0], Decide(1, risk, windows))
    game.advance()
    return game


def line(game: Run) -> str:
    """The project of the only consultant in each step; a dot without one."""
    return "".join("." if at is None else str(at) for at in assignments(game.state)[0])


def test_a_project_is_extended_once() -> None:
    """The code extends whenever the work is done; the paper adds the extension effort once."""
    repeated = run(firm(), Window(0, 19), None)
    once = run(firm(), Window(0, 19), None, extensions="once")
    assert sum(series(repeated.state)["effort"]) == 18
    assert sum(series(once.state)["effort"]) == 3 + 2


def test_a_consultant_is_available_at_completion() -> None:
    """The code loses a step between two projects, the paper none."""
    both = Window(0, 19), Window(0, 19)
    assert line(run(firm(), *both, risk=0.0)) == ".000.111" + "." * 12
    assert line(run(firm(), *both, risk=0.0, release="at_once")) == ".000111" + "." * 13


def test_work_begins_at_the_start() -> None:
    """In the code the first work is a step behind the start; a window of one step has none."""
    late, early = {}, {"first_work": "at_start"}
    assert line(run(firm(), Window(5, 7), None, **late)) == "." * 5 + "00" + "." * 13
    assert line(run(firm(), Window(5, 7), None, **early)) == "." * 4 + "000" + "." * 13
    assert sum(series(run(firm(), Window(5, 5), None, **late).state)["effort"]) == 0
    assert sum(series(run(firm(), Window(5, 5), None, **early).state)["effort"]) == 1


def test_step_numbers_are_steps() -> None:
    """In the code 0 and 1 are the same time, and the last step of the run cannot be named."""
    for rule, times in (("time", (1, 1, 19)), ("step", (1, 2, 20))):
        starts = [
            run(firm(), Window(at, 19), None, step_numbers=rule).state.engagements[0]
            for at in (0, 1)
        ]
        assert (*(one.start for one in starts), starts[0].deadline) == times


def test_utilisation_counts_busy_consultants() -> None:
    """A consultant who waits at a project without work is busy in the paper, idle in the code."""
    game = firm(extension_probability=0.0, contracted_effort=2.5)
    effort = run(game, Window(0, 19), None).result().metrics
    busy = run(game, Window(0, 19), None, utilisation="busy").result().metrics
    assert effort["mean_step_utilization"] == pytest.approx(2.5 / 20)
    assert busy["mean_step_utilization"] == pytest.approx(3 / 20)
    assert effort["accumulated_earnings"] == busy["accumulated_earnings"]


def test_sums_run_to_the_last_step() -> None:
    """The code leaves the last step out of every accumulated figure and of the score."""
    to_last = run(firm(), Window(0, 19), None, sums="all_steps", step_numbers="step")
    before = run(firm(), Window(0, 19), None, step_numbers="step")
    last = before.result().metrics
    assert last["earnings"] == 99
    assert to_last.result().score == before.result().score + last["earnings"]
    assert to_last.result().metrics["cash"] == last["cash"] + last["cash_flow"]
    full = to_last.result().metrics["overall_avg_utilization"]
    assert full == pytest.approx(sum(series(before.state)["effort"]) / 20)


def test_gates_open_by_chance() -> None:
    """With R = 1 seeds differ; the preset is not deterministic, the others are."""
    decision = Decide(12, 1.0, FULL)
    scores = {paper(decision, seed).score for seed in range(5)}
    assert len(scores) > 1
    for preset in EnterpriseDigitalTwin.presets:
        game = EnterpriseDigitalTwin.preset(preset)
        assert game.deterministic == (preset != "paper")


def paper(decision: Decide, seed: int = 0) -> Episode:
    """Play a decision in the preset."""
    return play("edt/paper", lambda _: decision, seed)


def test_the_task_is_stated_in_full_and_its_format_is_strict() -> None:
    """Costs are part of the description; a malformed decision is refused, not repaired."""
    game = Run(EnterpriseDigitalTwin.preset("paper"))
    (asked,) = game.advance()
    assert (asked.observation.salary, asked.observation.fixed_cost) == (6_000, 20_000)
    assert asked.observation.projects[0].extension_effort == 10
    game.answer(asked, Decide(13, 0.0, FULL))
    (again,) = game.advance()
    assert again.observation.refused.startswith("C_range")


def test_without_gates_three_rules_change_the_simple_row() -> None:
    """Each rule by itself changes the Simple row as the README's table says."""
    changed = {
        rule: play(EnterpriseDigitalTwin.preset("published", **{rule: value}), "simple").score
        for rule, value in PAPER.items()
    }
    moved = {rule: score for rule, score in changed.items() if score != 7_116_500}
    assert moved == {"release": 7_320_500, "first_work": 7_252_500, "sums": 7_024_500}
    assert play("edt/paper", "simple").score == 7_500_500
