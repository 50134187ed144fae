"""Metrics and monthly series: sums of the ledger, shares, and why tasks failed."""

import json
from itertools import pairwise
from typing import Any

import pytest
from support.paths import ROOT
from support.series import series_of

from desim import Run, play
from desim.core.policy import decide_as
from desim.episodes.lineup import resolve
from desim.suites.published import FIGURES
from models.yc_bench import YCBench
from models.yc_bench.actions import (
    Command,
    EndTurn,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskDispatch,
)
from models.yc_bench.company.work import CAUSES
from models.yc_bench.report import month_ends

EVERYBODY = tuple(f"Emp_{i}" for i in range(1, 9))


def played(spec: str, seed: int, model: YCBench | None = None) -> tuple[YCBench, Run[Any]]:
    """Play a rule and keep the run."""
    model = model or YCBench()
    run = Run(model, seed)
    policy = resolve(model, spec, seed).policies["founder"]
    while handed := run.advance():
        role = model.roles["founder"]
        run.answer(handed[0], decide_as(policy, role, handed[0].observation))
    return model, run


class Company:
    """A company and its open decision.

    Args:
        **changes: Parameters.
    """

    def __init__(self, **changes: Any) -> None:
        self.run = Run(YCBench(**changes), 1)
        self.open = self.run.advance()

    def give(self, *commands: Command) -> None:
        """Carry out commands."""
        for command in commands:
            self.run.answer(self.open[0], command)
            self.open = self.run.advance()

    def work(self, title: str, *people: str) -> None:
        """Start a task and resume until it is done."""
        self.give(TaskAccept(title), TaskAssign(title, people), TaskDispatch(title))
        while self.open and title in self.open[0].observation.active:
            self.give(SimResume())

    @property
    def metrics(self) -> dict[str, Any]:
        """Return the metrics so far."""
        return dict(self.run.model.metrics(self.run.state))

    def title(self, *, adversarial: bool, at: int = 0) -> str:
        """Return one of the tasks that a new company may take."""
        fits = [
            task.title
            for task in self.run.state.tasks
            if task.status == "market"
            and task.client.spec.adversarial == adversarial
            and task.spec.required_prestige == 1
            and not task.spec.required_trust
        ]
        return fits[at]


def test_the_workload_is_what_the_points_say() -> None:
    """Months of tasks and staff are the means and the ends of what is recorded at every change."""
    episode = play("yc_bench", "focus", 1, series=True)
    series, points, company = episode.series(), episode.points(), episode.state
    tasks, staff = points["tasks_active"], points["staff_busy"]
    assert max(tasks.values) > 1
    assert set(staff.values) <= set(range(len(company.employees) + 1))
    begins = [company.clock.opened, *month_ends(company)]
    for month, (first, last) in enumerate(pairwise(begins)):
        held = [(0, 0.0), *zip(staff.ticks, staff.values, strict=True), (last, 0.0)]
        area = sum(
            value * max(0, min(end, last) - max(since, first))
            for (since, value), (end, _) in pairwise(held)
        )
        share = area / (last - first) / len(company.employees)
        assert series["utilisation"][month] == pytest.approx(share)
        before = [v for tick, v in zip(tasks.ticks, tasks.values, strict=True) if tick <= last]
        assert series["tasks_under_way"][month] == before[-1]
    assert series["staff"] == (float(len(company.employees)),) * 12


@pytest.mark.parametrize(("spec", "seed"), [("published_greedy", 4), ("random", 4), ("focus", 2)])
def test_series_add_up_to_the_metrics(spec: str, seed: int) -> None:
    """Month by month is the year, for money and for tasks; funds are the same curve."""
    model, run = played(spec, seed)
    series, metrics = series_of(model, run.state), run.result().metrics
    assert {len(values) for values in series.values()} == {12}
    for name in ("revenue_cents", "payroll_cents", "fines_cents"):
        assert sum(series[name]) == metrics[name]
    for name in ("tasks_accepted", "tasks_succeeded", "tasks_failed"):
        assert sum(series[name]) == metrics[name]
    assert series["funds_cents"] == list(metrics["funds_by_month_cents"].values())
    opening = 20_000_000
    for month, funds in enumerate(series["funds_cents"]):
        earned = sum(series["revenue_cents"][: month + 1])
        paid = sum(series["payroll_cents"][: month + 1]) + sum(series["fines_cents"][: month + 1])
        assert funds == opening + earned - paid


def test_causes_part_the_failures_and_details_part_causes() -> None:
    """A late task has one cause, an understaffed one a detail; losses are the ledger's."""
    for spec, seed in (("published_greedy", 4), ("published_random", 2), ("random", 1)):
        _, run = played(spec, seed)
        metrics = run.result().metrics
        assert sum(metrics[f"failed_{cause}"] for cause in CAUSES) == metrics["tasks_failed"] > 0
        slow = metrics["failed_wrong_domain"] + metrics["failed_too_few"]
        assert slow == metrics["failed_understaffed"]
        assert metrics["failed_adversarial_again"] <= metrics["failed_adversarial"]
        listed = sum(t.spec.reward_cents for t in run.state.owned if t.status == "completed_fail")
        assert sum(metrics["lost_by_cause_cents"].values()) == listed + metrics["fines_cents"]


def test_an_adversarial_client_taken_again_is_told_apart() -> None:
    """The first swollen task is a surprise; one accepted after it failed is not."""
    made = Company(initial_funds_cents=10**9)
    made.work(made.title(adversarial=True), *EVERYBODY)
    first = made.metrics
    client = made.run.state.owned[0].client
    again = next(
        task.title
        for task in made.run.state.tasks
        if task.status == "market"
        and task.client is client
        and task.spec.required_prestige == 1
        and not task.spec.required_trust
    )
    made.work(again, *EVERYBODY)
    assert (first["failed_adversarial"], first["failed_adversarial_again"]) == (1, 0)
    assert made.metrics["failed_adversarial"] == 2
    assert made.metrics["failed_adversarial_again"] == 1


def test_slow_staff_is_of_the_wrong_domain_or_too_few() -> None:
    """One junior where the fastest would do; the fastest one where four are needed."""
    made = Company(initial_funds_cents=10**9)
    state = made.run.state
    title = made.title(adversarial=False)
    task = state.task(title)
    assert task is not None
    slowest = min(state.employees, key=lambda who: who.rates[task.spec.domain])
    for who in state.employees:
        who.rates[task.spec.domain] *= 5
    slowest.rates[task.spec.domain] /= 5
    made.work(title, slowest.name)
    assert (made.metrics["failed_wrong_domain"], made.metrics["failed_too_few"]) == (1, 0)
    made = Company(initial_funds_cents=10**9)
    made.work(made.title(adversarial=False), "Emp_5")
    assert (made.metrics["failed_wrong_domain"], made.metrics["failed_too_few"]) == (0, 1)


def test_the_market_share_of_adversarial_tasks_is_that_of_the_open_ones() -> None:
    """The mean over acceptances of what could have been accepted instead."""
    made = Company()
    shares = []
    for at in range(3):
        selected = [
            task
            for task in made.run.state.market
            if task.spec.required_prestige == 1 and not task.spec.required_trust
        ]
        shares.append(sum(t.client.spec.adversarial for t in selected) / len(selected))
        made.give(TaskAccept(made.title(adversarial=at == 0)))
    assert made.metrics["adversarial_market_share"] == pytest.approx(sum(shares) / 3)
    assert made.metrics["adversarial_share"] == pytest.approx(1 / 3)
    assert Company().metrics["adversarial_market_share"] is None


def test_a_bankruptcy_has_the_cause_that_lost_most() -> None:
    """Fines and missed rewards by cause; a company without a late task died of its payroll."""
    _, run = played("published_greedy", 1, YCBench.preset("direct"))
    metrics = run.result().metrics
    assert metrics["bankrupt_on"] is not None
    assert metrics["bankruptcy_cause"] == "adversarial"
    assert played("focus", 1)[1].result().metrics["bankruptcy_cause"] is None
    made = Company(initial_funds_cents=0, idle_limit=1)
    made.give(EndTurn())
    assert made.run.result().metrics["bankruptcy_cause"] == "payroll"


def test_the_pages_contradictions_are_those_of_the_published_figures() -> None:
    """The numbers of that section are compared with the data, so that none is from memory."""
    published = json.loads((FIGURES / "yc_bench.json").read_text())
    stated = {each["id"]: each["value"] for each in published["text_statements"]}
    checks, curves = published["derived_checks"], published["leaderboard"]["series"]
    sonnet, grok = (
        round(curves[name]["values"][-1] / 1000) for name in ("claude-sonnet-4-6", "grok-4.20-beta")
    )
    page = " ".join((ROOT / "models/yc_bench/README.md").read_text(encoding="utf-8").split())
    for sentence in (
        f"{stated['above_start_abstract']} in the abstract and conclusion,",
        f"{stated['above_start_results']} in the results;",
        f"the curves have {checks['models_above_start']['count']}.",
        f"{stated['adversarial_bankruptcies']} % of bankruptcies put down",
        f"no share of the {checks['bankruptcies_table_4']} bankruptcies of Table 4",
        f"Grok ends with ${stated['grok_final']}K in the paper and ${grok}K on the leaderboard",
        f"Sonnet with ${stated['sonnet_final']}K and ${sonnet}K",
        f"a turn ({stated['grok_commands']}) in the text; three models have fewer",
        f"the figures {stated['models']} and {stated['runs']}.",
    ):
        assert sentence in page
    assert len(checks["models_below_0.92_commands"]) == 3
    table, board = (
        {
            row["label"]: row["values"]["bankrupt_runs"]["value"]
            for row in published["tables"][name]["rows"]
        }
        for name in ("table_4", "leaderboard")
    )
    twice = {name for name in table.keys() & board.keys() if (table[name], board[name]) == (2, 1)}
    assert twice == {"GPT-5.4 Mini", "GPT-5.4 Nano", "Qwen 3.5-397B", "Gemini 3.1 Pro"}
