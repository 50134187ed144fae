"""The paper's rules where the code differs: checkpoints, learning, payout, cancelling, worlds."""

from decimal import Decimal
from typing import Any

import pytest

from desim import Run
from models.yc_bench import YCBench
from models.yc_bench.actions import (
    Command,
    EndTurn,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskCancel,
    TaskDispatch,
    TaskInspect,
)
from models.yc_bench.company.state import CompanyState
from models.yc_bench.desk import CommandReply

PAPER = YCBench.preset("paper")

#: One percent of each tier's midpoint, cents (SPEC section 17).
RAISES = {"junior": 3_000, "mid": 7_000, "senior": 12_500}


class Founded:
    """A company and the replies to commands.

    Args:
        model: The parameters.
        seed: Seed of the world.
    """

    def __init__(self, model: YCBench = PAPER, seed: int = 1) -> None:
        self.run = Run(model, seed)
        (self.open,) = self.run.advance()
        self.company: CompanyState = self.run.state

    def give(self, command: Command) -> Any:
        """Give a command and return the document it prints; none once the episode has ended."""
        self.run.answer(self.open, command)
        handed = self.run.advance()
        if not handed:
            return None
        self.open = handed[0]
        reply: CommandReply | None = self.open.observation.reply
        return reply.out if reply else None

    def start(self, title: str, *people: str) -> Any:
        """Accept a task, put people on it and dispatch it."""
        self.give(TaskAccept(title))
        self.give(TaskAssign(title, people))
        return self.give(TaskDispatch(title))

    def honest(self) -> str:
        """Return the first open task of an honest client."""
        return next(
            task.title
            for task in self.company.tasks
            if not task.client.spec.adversarial
            and task.spec.required_prestige == 1
            and not task.spec.required_trust
        )


def test_work_stops_at_every_checkpoint() -> None:
    """At 25, 50 and 75 percent of the work a resume ends, and then at its end."""
    made = Founded()
    title = made.honest()
    made.start(title, *[e.name for e in made.company.employees])
    task = made.company.task(title)
    assert task is not None
    seen = []
    while task.status == "active":
        out = made.give(SimResume())
        seen += [(e["type"], e.get("milestone_pct")) for e in out["wake_events"]]
        if seen[-1][0] == "task_half":
            share = float(task.completed / task.required)
            assert share == pytest.approx(seen[-1][1] / 100, abs=1e-4)
    assert [e for e in seen if e[0] != "monthly_payroll"] == [
        ("task_half", 25),
        ("task_half", 50),
        ("task_half", 75),
        ("task_completed", None),
    ]


def test_evenings_are_no_working_time() -> None:
    """Progress and plan agree: an undisturbed task ends when it was first planned to."""
    made = Founded()
    title = made.honest()
    made.start(title, made.company.employees[0].name)
    task = made.company.task(title)
    assert task is not None
    planned = task.due
    while task.status == "active":
        made.give(SimResume())
    assert planned is not None
    assert task.finished == pytest.approx(planned, abs=10**6)


def test_everybody_on_a_task_learns_and_gets_a_fixed_raise_by_tier() -> None:
    """Also the fifth of a team; a raise is one percent of the tier's midpoint."""
    made = Founded()
    title = made.honest()
    people = made.company.employees
    before = [(e.rates[d], e.salary_cents) for e in people for d in [domain(made, title)]]
    made.start(title, *[e.name for e in people])
    task = made.company.task(title)
    assert task is not None
    while task.status == "active":
        made.give(SimResume())
    assert task.status == "completed_success"
    for (rate, salary), who in zip(before, people, strict=True):
        limit = Decimal(10)
        assert who.rates[task.spec.domain] == min(rate * (1 + task.boost), limit).quantize(
            Decimal("0.0001")
        )
        assert who.salary_cents == salary + RAISES[who.spec.tier]


def domain(made: Founded, title: str) -> str:
    """Return the domain of a task."""
    task = made.company.task(title)
    assert task is not None
    return task.spec.domain


def test_prestige_scales_the_payout() -> None:
    """A task pays its listed reward times 1 + 0.3 for each level of prestige above 1."""
    made = Founded()
    title = made.honest()
    made.company.prestige[domain(made, title)] = Decimal("3.500")
    made.start(title, *[e.name for e in made.company.employees])
    task = made.company.task(title)
    assert task is not None
    before = made.company.accounts.book.balance("rewards")
    while task.status == "active":
        made.give(SimResume())
    paid = before - made.company.accounts.book.balance("rewards")
    assert paid == int(task.spec.reward_cents * (1 + 0.3 * 2.5))


@pytest.mark.parametrize("count", [2, 4])
def test_work_in_several_domains_advances_at_the_rate_of_the_slowest(count: int) -> None:
    """It is listed in each of them, needs the prestige in each, and teaches and counts in each."""
    made = Founded(YCBench(domain_count=count))
    title, company = made.honest(), made.company
    who = company.employees[0]
    made.start(title, who.name)
    task, rates = company.task(title), dict(who.rates)
    assert task is not None
    shown = made.give(TaskInspect(title))["requirements"]
    domains = [need["domain"] for need in shown]
    assert len({*domains}) == count
    assert {need["required_qty"] for need in shown} == {float(task.required)}
    hours = task.required / min(rates[domain] for domain in domains)
    assert task.due == company.clock.add_hours(company.world.now, hours)
    other = next(each for each in company.market if each.spec.required_prestige > 1)
    company.prestige.update(dict.fromkeys(company.prestige, Decimal(5)))
    company.prestige[other.domains[-1]] = Decimal("1.250")
    refused = made.give(TaskAccept(other.title))
    assert f"prestige in {other.domains[-1]} (1.2)" in refused["error"]
    before = dict(company.prestige)
    skills = [dict(each.rates) for each in company.employees]
    made.give(TaskAssign(title, tuple(each.name for each in company.employees)))
    while task.status == "active":
        made.give(SimResume())
    assert task.status == "completed_success"
    assert {each for each in before if company.prestige[each] > before[each]} == {*domains}
    now = [each.rates for each in company.employees]
    taught = {
        at for then, rate in zip(skills, now, strict=True) for at in then if then[at] < rate[at]
    }
    assert taught == {*domains}


def test_cancelling_costs_prestige_and_frees_people() -> None:
    """One and a half times the task's prestige, no money; its people work full time elsewhere."""
    made = Founded(YCBench.preset("paper", trust_fragility=0.3))
    titles = [
        task.title
        for task in made.company.tasks
        if task.spec.required_prestige == 1 and not task.spec.required_trust
    ][:2]
    who = made.company.employees[0]
    for title in titles:
        made.start(title, who.name)
    given_up, kept = (made.company.task(title) for title in titles)
    assert given_up is not None
    assert kept is not None
    level = made.company.prestige[given_up.spec.domain] = Decimal("2.000")
    given_up.client.trust = Decimal("2.000")
    funds, due = made.company.funds_cents, kept.due
    out = made.give(TaskCancel(titles[0], "too much"))
    assert out["status"] == given_up.status == "cancelled"
    lost = (Decimal("1.5") * given_up.delta).quantize(Decimal("0.001"))
    assert made.company.prestige[given_up.spec.domain] == pytest.approx(
        level - lost, abs=Decimal("1e-3")
    )
    assert given_up.client.trust == Decimal("1.700")
    assert out["trust_delta"] == pytest.approx(-0.3)
    assert made.company.funds_cents == funds
    assert who.tasks == [kept]
    assert who.load == 1
    assert kept.due is not None
    assert due is not None
    assert kept.due < due


def test_an_idle_founder_is_moved_on() -> None:
    """After five turns without a resume the clock moves to the next payday, task or no task."""
    made = Founded()
    for _ in range(5):
        made.give(EndTurn())
    assert made.open.observation.time == "2025-02-03T09:00:00"
    published = Founded(YCBench())
    for _ in range(12):
        published.give(EndTurn())
    assert published.open.observation.time == "2025-01-01T09:00:00"
