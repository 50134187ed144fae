"""The rules for the Enterprise Digital Twin and their known figures: reference SPEC 11."""

import json
from typing import Any

import pytest
from attrs import define, evolve, field

from desim import Episode, Policy, play
from desim.suites.published import FIGURES
from experiments.papers.edt_protocol import play_six
from models.edt import Decide, EnterpriseDigitalTwin, Window
from models.edt.actions import Answer
from models.edt.desk import Briefing
from policies.heuristics.edt import Simple, baselines

FULL = (Window(0, 95),) * 10

STAFF = [
    (7, 5_180_500, 12_400_500, 7_220_000, 0.97024),
    (8, 6_124_500, 14_104_500, 7_980_000, 0.94922),
    (9, 7_116_500, 15_856_500, 8_740_000, 0.93403),
    (10, 7_190_500, 16_690_500, 9_500_000, 0.87917),
    (11, 6_452_500, 16_712_500, 10_260_000, 0.80019),
    (12, 5_692_500, 16_712_500, 11_020_000, 0.73351),
]
RISKS = (0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.75, 0.8, 0.9, 1.0)
RISK = {
    9: [7_116.5, 7_116.5, 7_314.5, 8_206.5, 8_285.5, 7_921, 7_921, 7_689, 7_005, 7_005],
    12: [5_692.5, 5_692.5, 6_746.5, 9_746.5, 11_560.5, 11_585, 11_635, 10_843, 10_459, 10_459],
}


@define
class Fixed(Policy):
    """Answers always the same."""

    action: Any

    def decide(self, _: Briefing) -> Any:
        """Answer."""
        return self.action


def earned(action: Any, **changes: Any) -> dict[str, Any]:
    """Play a decision and return the metrics."""
    return dict(play(EnterpriseDigitalTwin(**changes), {"manager": Fixed(action)}).metrics)


@pytest.mark.parametrize(("staff", "earnings", "revenue", "expenses", "utilisation"), STAFF)
def test_the_table_of_staff(
    staff: int, earnings: float, revenue: float, expenses: float, utilisation: float
) -> None:
    """R = 0, all projects, the longest windows."""
    metrics = earned(Decide(staff, 0.0, FULL))
    assert metrics["accumulated_earnings"] == earnings
    assert metrics["accumulated_revenue"] == revenue
    assert metrics["accumulated_expenses"] == expenses
    assert round(metrics["mean_step_utilization"], 5) == utilisation


@pytest.mark.parametrize("staff", RISK)
def test_the_table_of_risk(staff: int) -> None:
    """Repeated extensions and follow-ons."""
    earnings = [earned(Decide(staff, risk, FULL))["accumulated_earnings"] for risk in RISKS]
    assert earnings == [1_000 * thousands for thousands in RISK[staff]]


def test_controlling_before_projects_books_late() -> None:
    """The untouched template's order costs the same decision two steps of revenue."""
    given = EnterpriseDigitalTwin().loaded_scenario
    # Nine consultants and the longest windows, in the template's order of agents.
    late = evolve(
        given,
        revenue_risk_level=0.0,
        consultants=given.consultants[:9],
        projects=[evolve(p, start_time=1.0, deadline=95.0) for p in given.projects],
        order=(("consultant", 9), ("controlling", 1), ("project", 10)),
    )
    assert play(EnterpriseDigitalTwin(scenario=late), {}).score == 6_980_500


def test_simple_is_the_published_baseline() -> None:
    """Nine consultants, no risk, everything."""
    episode = play("edt", "simple")
    assert episode.steps[0].action == Decide(9, 0.0, FULL)
    assert episode.score == 7_116_500
    assert episode.metrics["mean_step_utilization"] == pytest.approx(0.93403, abs=5e-6)
    assert episode.metrics["overall_avg_utilization"] == pytest.approx(0.94386, abs=5e-6)
    assert play("edt", Simple()).result == episode.result


def test_greedy_takes_the_best_paid_seats() -> None:
    """Projects 2, 4, 7, 9 and 10 for all twelve, every gate open."""
    episode = play("edt", "greedy")
    decision: Decide = episode.steps[0].action
    chosen = [at + 1 for at, window in enumerate(decision.projects) if window]
    assert (decision.consultants, decision.revenue_risk, chosen) == (12, 1.0, [2, 4, 7, 9, 10])
    assert episode.score == 14_369_000


def test_the_divisor_of_e_norm_is_the_published_one() -> None:
    """The best mean of the methods in Table 3, Simple left out, in millions."""
    rows = json.loads((FIGURES / "firmbench.json").read_text())["tables"]["table_3"]["rows"]
    means = {row["label"]: row["values"]["e_mean"]["value"] for row in rows}
    best = max(mean for label, mean in means.items() if label != "Simple")
    assert means["AMEM"] * 1e6 == best * 1e6


def test_greedy_knows_no_cost_that_the_briefing_hides() -> None:
    """Other salaries change nothing that the manager observes, so they change no decision."""
    dear = EnterpriseDigitalTwin.preset(
        **{f"scenario.consultants.{n}.salary": 6e6 for n in (3, 11)}
    )
    hidden = play(dear, "greedy").steps[0]
    assert hidden.action == play("edt", "greedy").steps[0].action
    assert hidden.observation == play("edt", "greedy").steps[0].observation
    shown = play(evolve(dear, shows_costs=True), "greedy").steps[0].action
    assert shown != hidden.action


def test_simple_employs_within_limits() -> None:
    """At least one, at most all; also where there is hardly any time."""
    seen = play("edt", "simple").steps[0].observation
    assert seen.workable == 94
    assert Simple().decide(evolve(seen, projects=())).consultants == 1
    assert Simple().decide(evolve(seen, consultants=3)).consultants == 3
    assert Simple().decide(evolve(seen, stoptime=1.0)).consultants == 1


def test_a_search_is_a_baseline_only_where_one_decision_is_taken_without_chance() -> None:
    """In the published game."""
    games = [EnterpriseDigitalTwin.preset(preset) for preset in EnterpriseDigitalTwin.presets]
    searched = [evolve(game, gating="bernoulli") for game in games] + games
    assert ["optimal" in baselines(game) for game in searched].count(True) == 1


# -- six episodes ----------------------------------------------------------------------------------


@define
class Hiring(Policy):
    """Hires one more each time for as long as that has paid."""

    staff: int = 7
    step: int = 1
    lessons: list[Any] = field(factory=list)

    def decide(self, _: Briefing) -> Decide:
        """Take everything, without risk."""
        return Decide(self.staff, 0.0, FULL)

    def after(self, episode: Episode) -> None:
        """Learn from the earnings."""
        self.lessons.append(episode.metrics["accumulated_earnings"])
        if len(self.lessons) > 1 and not self._grew():
            self.step = -1
        self.staff += self.step

    def _grew(self) -> bool:
        return self.lessons[-1] > self.lessons[-2]


def test_a_learning_policy_receives_each_of_six_episodes() -> None:
    """It climbs to ten consultants, passes the top, and comes back."""
    player = Hiring()
    scores = play_six(EnterpriseDigitalTwin(), player)
    earned_ = player.lessons
    assert earned_ == [5_180_500, 6_124_500, 7_116_500, 7_190_500, 6_452_500, 7_190_500]
    third = scores.episodes[2]
    assert third.metrics["overall_avg_utilization"] == pytest.approx(0.94386, abs=5e-6)
    assert third.steps[0].action.raw() == {"C": 9, "R": 0.0, "P": [[1, 0, 95]] * 10}
    mean = sum(earned_) / 6
    assert scores.e_mean == pytest.approx(mean)
    assert scores.e_std == pytest.approx((sum((e - mean) ** 2 for e in earned_) / 6) ** 0.5)
    assert [e.header.seed for e in scores.episodes] == [0, 1, 2, 3, 4, 5]


def test_an_episode_that_fails_is_left_out() -> None:
    """The others count."""

    @define
    class Moody(Policy):
        played: int = 0

        def decide(self, seen: Briefing) -> Answer:
            self.played += 1
            if self.played == 3:
                raise RuntimeError("not today")
            return Answer({"C": 9, "R": 0, "P": [[1, 0, 96]] * seen.consultants})

    scores = play_six(EnterpriseDigitalTwin(), Moody())
    assert len(scores.episodes) == 5
    (failure,) = scores.failures
    assert "not today" in failure


def test_the_briefing_shows_costs_only_if_the_game_says_so() -> None:
    """The published briefing leaves them out."""
    silent = play("edt", "simple").steps[0].observation
    assert (silent.fixed_cost, silent.salary, silent.workplace_cost) == (None, None, None)
    assert {p.extension_effort for p in silent.projects} == {None}
    open_ = play(EnterpriseDigitalTwin(shows_costs=True), "simple").steps[0].observation
    assert (open_.fixed_cost, open_.salary, open_.workplace_cost) == (20_000, 6_000, 2_000)
    assert open_.projects[5].extension_effort == 30
