"""Redrawn futures: the tasks that take the place of accepted ones."""

from typing import Any

import pytest

from desim import Run
from models.yc_bench import YCBench
from models.yc_bench.actions import TaskAccept
from models.yc_bench.company.state import CompanyState
from models.yc_bench.world_file import WorldFile


def accepted(run: Run[CompanyState], title: str) -> Any:
    """Accept a task and return what was drawn in its place."""
    run.answer(run.open[0], TaskAccept(title))
    run.advance()
    assert title in [task.title for task in run.state.owned]
    return run.state.tasks[-1].spec


def begun(**changes: Any) -> Run[CompanyState]:
    """Return a run at its first decision."""
    run = Run(YCBench(**changes), 1)
    run.advance()
    return run


@pytest.mark.parametrize("stream", ["slot", "run"])
def test_the_market_stays_and_later_tasks_are_new(stream: str) -> None:
    """A task that came before the redraw stays; the others depend on the future."""
    drawn = []
    for future in (None, 1, 2, 1):
        run = begun(replacement_stream=stream)
        market = [task.spec for task in run.state.tasks]
        first = accepted(run, "Task-1")
        if future is not None:
            run.redraw(future)
        assert [task.spec for task in run.state.tasks[:-1]] == market
        assert run.state.tasks[-1].spec == first
        drawn.append((first, accepted(run, "Task-2"), accepted(run, "Task-3")))
    true, one, other, again = drawn
    assert one == again
    assert true[0] == one[0] == other[0]
    for at in (1, 2):
        assert len({repr(each[at]) for each in drawn}) == 3


def test_a_company_that_opens_again_meets_what_was_seen() -> None:
    """A slot's replacement that was seen before the redraw comes again, and so does a later one."""
    run = begun()
    first = accepted(run, "Task-1")
    run.redraw(1)
    second = accepted(run, "Task-2")
    run.state.reopen()
    assert accepted(run, "Task-1") == first
    assert accepted(run, "Task-2") == second


def test_replacements_of_a_world_file_belong_to_its_own_future() -> None:
    """They are not known to anybody before they come."""
    founded = begun().state
    tasks = tuple(task.spec for task in founded.tasks)
    staff = tuple(who.spec for who in founded.employees)
    clients = tuple(client.spec for client in founded.clients)
    given = accepted(begun(), "Task-1")
    run = begun(world=WorldFile(clients, staff, tasks, seed=1))
    assert accepted(run, "Task-1") == given
    again = begun(world=WorldFile(clients, staff, tasks, seed=1))
    again.redraw(1)
    assert accepted(again, "Task-1") != given
    assert "adversarial" in YCBench.kept[0]
