"""The planner of YC-Bench sees only what a player sees and earns the more for it; its oracle."""

import ast
from collections.abc import Generator
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desim import Episode, play
from models.yc_bench import Command, Desk, EndTurn, MarketBrowse, TaskAccept, YCBench, generation
from models.yc_bench.clock import Clock
from policies.heuristics.yc_bench import Oracle, Planner
from policies.heuristics.yc_bench import planner as planner_module
from policies.heuristics.yc_bench.course import Started, rows
from policies.heuristics.yc_bench.estimate import Estimate
from policies.heuristics.yc_bench.forecast import forecast, plans
from policies.heuristics.yc_bench.foresight import Foresight
from policies.heuristics.yc_bench.ruleset import Ruleset

GAME = YCBench()
RULES = Ruleset.of(GAME)
FOLDER = Path(planner_module.__file__).parent
#: Everything the planner is made of.
SEEING = (
    "planner",
    "matching",
    "worth",
    "forecast",
    "estimate",
    "ruleset",
    "working_time",
    "course",
)


@lru_cache
def played(spec: str, seed: int, preset: str = "default") -> Episode:
    """An episode, played once for all tests."""
    return play(YCBench.preset(preset), spec, seed=seed)


# -- what it earns ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_it_earns_twice_what_focus_earns(seed: int) -> None:
    """Specialised, trained staff on the best paid tasks leaves the scripted rule far behind."""
    episode = played("planner", seed)
    assert episode.ended == "horizon_end"
    assert episode.score > 2 * played("focus", seed).score > 3_000_000


@pytest.mark.parametrize("seed", [1, 4])
def test_it_passes_two_and_a_half_million_without_rerolling(seed: int) -> None:
    """Most of what it is ahead does not come from acceptances that only refresh the market."""
    episode = played("planner,rerolls=0", seed)
    assert episode.score > 2_500_000
    # Each client is probed once; a few tasks are still under way when the year is over.
    idle = episode.metrics["tasks_accepted"] - episode.metrics["tasks_succeeded"]
    assert idle <= 6 + 2 * 8


def test_the_oracle_is_not_behind_where_foresight_is_unlucky() -> None:
    """It plays the year in advance and does what came out better, here what the planner does."""
    assert played("oracle", 9).score == played("planner", 9).score


def test_foresight_is_worth_something() -> None:
    """Knowing every replacement beats drawing as many blindly."""
    assert played("oracle,rehearse=false", 1).score > played("planner", 1).score


@pytest.mark.parametrize(("preset", "least"), [("paper", 2_500_000), ("direct", 2_500_000)])
def test_it_plays_other_rules_too(preset: str, least: float) -> None:
    """Other people, office hours that mean it, titles that repeat: it reads what there is."""
    episode = played("planner,rerolls=0", 5, preset)
    assert episode.ended == "horizon_end"
    assert episode.score > least


@pytest.mark.parametrize(("preset", "rerolls"), [("paper", 0), ("direct", 1)])
def test_the_oracle_plays_other_rules_too(preset: str, rerolls: int) -> None:
    """Where replacements cannot be foreseen it knows at least whom not to serve."""
    episode = played(f"oracle,rerolls={rerolls},rehearse=false", 5, preset)
    assert episode.ended == "horizon_end"
    assert episode.score > 2_500_000


def test_a_staff_that_must_be_read_is_employed() -> None:
    """Neither eight people nor six clients are taken for granted."""
    game = YCBench(num_employees=3, num_clients=2, num_market_tasks=30, people_seed=7)
    assert play(game, "planner", seed=1).ended == "horizon_end"


# -- what it knows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEEING)
def test_it_imports_nothing_that_hides_from_a_player(name: str) -> None:
    """Of the model it knows the commands and the desk, neither the company nor how it is drawn."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    models = {node.module for node in froms if (node.module or "").startswith("models")}
    names = {a.name for n in froms if n.module == "models.yc_bench" for a in n.names}
    own = {(n.module or "").split(".")[-1] for n in froms if "heuristics" in (n.module or "")}
    assert models <= {"models.yc_bench", "models.yc_bench.actions"}
    assert all(each in ("Command", "Desk") or each[0].isupper() for each in names)
    assert "YCBench" not in names
    assert own <= set(SEEING)


def test_it_does_not_know_the_seed() -> None:
    """Built from the published rules alone it gives the same commands."""
    unseated = play(GAME, Planner(rerolls=0, rules=RULES), seed=4)
    given_ = [step.action for step in played("planner,rerolls=0", 4).steps]
    assert [step.action for step in unseated.steps] == given_


def test_it_finds_out_who_is_adversarial() -> None:
    """One acceptance and a look tell; nothing of theirs is ever worked on."""
    planner = Planner(rerolls=0, rules=RULES)
    episode = play(GAME, planner, seed=2)
    hidden = {client.name for client in generation.clients(GAME, 2) if client.adversarial}
    assert planner._known.adversarial == hidden
    assert episode.metrics["failed_adversarial"] == 0
    assert episode.metrics["adversarial_share"] * episode.metrics["tasks_accepted"] == len(hidden)


def test_oracle_says_what_it_reads() -> None:
    """Nobody takes its figures for a player's."""
    assert "hidden state" in (Oracle.__doc__ or "")


# -- what it reckons with --------------------------------------------------------------------------

CLOCK = Clock.of(GAME)
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
    assert RULES.progress.between(first, last) == pytest.approx(float(hours))


@given(stops, st.integers(0, 10**6))
def test_its_open_hours_return_where_they_came_from(first: datetime, seconds: int) -> None:
    """After some hours, that many lie in between."""
    last = RULES.planning.after(first, seconds / 3600)
    assert RULES.planning.between(first, last) == pytest.approx(seconds / 3600)


def test_trust_grows_and_saves_work_as_published() -> None:
    """The first success is worth 1.6, the second takes it to 2.497; full trust saves half."""
    assert RULES.trusted(0.0) == 1.6
    assert round(RULES.trusted(1.6), 3) == 2.497
    assert RULES.agreed(1000, 5.0) == 500
    assert RULES.agreed(300, 5.0) == 200
    assert round(RULES.neglected(1.0, 1.0, 1.0), 3) == 0.973


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
        for who in generation.employees(GAME, 1)
    )
    estimate.read_clients(
        {"name": name, "trust_level": 0.0, "specialties": ("training",)} for name in "AB"
    )
    for plan in plans(estimate):
        few, many = (forecast(estimate, plan, [], draws) for draws in (1.0, 4.0))
        assert 0 < few < many


class Refresh(Started):
    """Accept the best paid task again and again and note what the market shows then."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def course(self, desk: Desk) -> Generator[Command, Desk, None]:
        """Take a task that needs nothing, then whatever comes in its place."""
        desk = yield MarketBrowse(limit=1000)
        self.title = next(r["task_id"] for r in rows(desk, "tasks") if r["task_id"] != "Task-1")
        title = self.title
        for _ in range(3):
            desk = yield TaskAccept(title)
            assert desk.reply is not None
            if desk.reply.exit_code:
                break
            title = desk.reply.out["replacement_task_id"]
            desk = yield MarketBrowse(limit=1000)
            self.seen += [row for row in rows(desk, "tasks") if row["task_id"] == title]
        while True:
            yield EndTurn()


def test_foresight_tells_what_the_market_will_show() -> None:
    """Rows are equal to the figure, those that are open to a new company."""
    for seed in range(5):
        policy = Refresh()
        play(YCBench(max_turns=1), policy, seed=seed)
        foreseen = list(islice(Foresight.of(GAME, seed).after(policy.title, 3), 3))
        assert [row for row in foreseen if row in policy.seen] == policy.seen
