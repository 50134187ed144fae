"""A client goes away: its tasks leave market and desk, nobody pays, and nothing is drawn."""

from typing import Any

import pytest
from support.yc_links import DAY, HOUR, LinkedRun
from support.yc_snapshot import snapshot

from desim import Policy
from desim.errors import UsageError
from models.yc_bench import YCBench
from models.yc_bench.actions import (
    EndTurn,
    MarketBrowse,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskDispatch,
)
from models.yc_bench.company.entities import Client
from models.yc_bench.company.state import CompanyState

MODEL = YCBench()


class Founder(Policy):
    """Gives commands, keeps the desks, and ends turns after the last command."""

    def __init__(self, *commands: Any) -> None:
        self.commands = iter(commands)
        self.desks: list[Any] = []

    def decide(self, desk: Any) -> Any:
        """Return the next command."""
        self.desks.append(desk)
        return next(self.commands, EndTurn())

    @property
    def replies(self) -> list[Any]:
        """The documents printed."""
        return [desk.reply.out for desk in self.desks if desk.reply is not None]


def begun(*titles: str) -> list[Any]:
    """Return the commands that start tasks, each with two people of its own."""
    commands: list[Any] = []
    for number, title in enumerate(titles):
        team = (f"Emp_{2 * number + 1}", f"Emp_{2 * number + 2}")
        commands += [TaskAccept(title), TaskAssign(title, team), TaskDispatch(title)]
    return commands


def client(company: CompanyState, name: str) -> Client:
    """Return a client by name."""
    return next(each for each in company.clients if each.name == name)


def test_its_tasks_leave_the_market_for_good() -> None:
    """None is listed, none can be accepted by a name seen before, none comes as a replacement."""
    linked = LinkedRun(MODEL, 1)
    company = linked.company
    gone = company.tasks[0].client
    theirs = [task.title for task in company.market if task.client is gone]
    MODEL.lose_client(company, gone.name)
    first = next(
        task.title
        for task in company.market
        if task.spec.required_prestige == 1 and not task.spec.required_trust
    )
    founder = Founder(TaskAccept(theirs[0]), TaskAccept(first), MarketBrowse(limit=1000))
    linked.play(founder.decide)
    refused, accepted, page, *_ = founder.replies
    assert refused == {"error": f"Task {theirs[0]} is not in market status (current: cancelled)."}
    assert accepted["replacement_task_id"]
    assert gone.name not in {row["client_name"] for row in page["tasks"]}
    assert len(theirs) > 30
    assert len(company.market) == 200 - len(theirs)
    assert not any(task.client is gone for task in company.market)


def test_work_for_it_is_cancelled_without_money_prestige_or_trust() -> None:
    """People are free for their other tasks, and no entry is posted."""
    start = LinkedRun(MODEL, 1).company
    by_client = {
        task.client.name: task.title
        for task in start.market[::-1]
        if task.spec.required_prestige == 1 and not task.spec.required_trust
    }
    (name, active), (_, other), *_ = by_client.items()
    planned = next(
        task.title
        for task in start.market
        if task.client.name == name
        and task.title != active
        and task.spec.required_prestige == 1
        and not task.spec.required_trust
    )
    founder = Founder(*begun(active, other), TaskAccept(planned), SimResume())
    at = DAY + 5 * HOUR + 3
    seen: dict[str, Any] = {}

    def act(company: CompanyState) -> None:
        seen["before"] = dict(company.prestige), len(company.accounts.book.journal)
        MODEL.lose_client(company, name)
        seen["after"] = dict(company.prestige), len(company.accounts.book.journal)

    linked = LinkedRun(MODEL, 1, {at: act})
    linked.play(founder.decide)
    company = linked.company
    assert seen["before"] == seen["after"]
    assert [task.status for task in company.owned if task.client.name == name] == 2 * ["cancelled"]
    assert [event["type"] for event in founder.replies[7]["wake_events"]] == ["client_lost"]
    assert founder.replies[7]["new_sim_time"] == "2025-01-02T14:00:00.000003"
    [lost] = founder.replies[7]["wake_events"]
    assert (lost["client_name"], sorted(lost["task_titles"])) == (name, sorted([active, planned]))
    desk = founder.desks[8]
    assert (desk.planned, desk.active) == ((), (other,))
    assert client(company, name).trust == 0
    assert all(task.due is None for task in company.owned if task.client.name == name)
    who = next(each for each in company.employees if each.name == "Emp_1")
    assert who.load == 0
    assert who.tasks == []


def test_work_that_shares_its_people_is_done_sooner() -> None:
    """The task left over is planned anew from the progress made until then."""
    start = LinkedRun(MODEL, 1).company
    by_client = {
        task.client.name: task
        for task in start.market
        if task.spec.required_prestige == 1
        and not task.spec.required_trust
        and not task.client.spec.adversarial
    }
    (name, gone), (_, kept), *_ = by_client.items()
    team = ("Emp_1", "Emp_2")
    commands = [
        c
        for task in (gone, kept)
        for c in (TaskAccept(task.title), TaskAssign(task.title, team), TaskDispatch(task.title))
    ]
    dues: list[int | None] = []

    def act(company: CompanyState) -> None:
        left = next(task for task in company.active if task.client.name != name)
        dues.append(left.due)
        MODEL.lose_client(company, name)
        dues.append(left.due)
        assert left.completed > 0
        assert company.settled == company.world.now

    linked = LinkedRun(MODEL, 1, {2 * DAY + 3: act})
    linked.play(Founder(*commands, SimResume(), SimResume()).decide)
    before, after = dues
    assert before is not None
    assert after is not None
    assert linked.run.world.now > after > 2 * DAY + 3
    assert after < before
    done = next(task for task in linked.company.owned if task.client.name != name)
    assert done.finished == after


def test_what_is_drawn_later_is_what_would_have_been_drawn() -> None:
    """A replacement has streams of its own: no other client's task moves."""
    drawn: list[Any] = []
    for lost in (False, True):
        linked = LinkedRun(MODEL, 3)
        company = linked.company
        easy = [
            task
            for task in company.market
            if task.client is not company.clients[0]
            and task.spec.required_prestige == 1
            and not task.spec.required_trust
        ]
        if lost:
            MODEL.lose_client(company, company.clients[0].name)
        linked.play(Founder(*[TaskAccept(task.title) for task in easy[:6]]).decide)
        drawn.append([task.spec for task in company.tasks[200:]])
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 6


@pytest.mark.parametrize("again", [False, True])
def test_a_client_that_is_not_there_is_refused(again: bool) -> None:  # noqa: FBT001
    """One sentence with the near miss and the clients that are left; nothing changes."""
    company = LinkedRun(MODEL, 1).company
    names = [each.name for each in company.clients]
    if again:
        MODEL.lose_client(company, names[0])
    wrong = names[0] if again else f"{names[0]}s"
    before, market = snapshot(company), list(company.market)
    with pytest.raises(UsageError, match="there is no client ") as refused:
        MODEL.lose_client(company, wrong)
    assert repr(wrong) in str(refused.value)
    assert f"Possible: {', '.join(names[again:])}" in str(refused.value)
    assert (f"did you mean {names[0]!r}?" in str(refused.value)) is not again
    assert (snapshot(company), company.market, company.report[again:]) == (before, market, [])


# -- rules -----------------------------------------------------------------------------------------
