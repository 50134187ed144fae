"""Turns: numbering, idleness, the notes shown, and the message as text."""

from typing import Any

import attrs
import pytest

from desim import Run
from models.yc_bench import YCBench
from models.yc_bench.actions import EndTurn, RunCommand, TaskAccept
from models.yc_bench.company import Company
from models.yc_bench.observation import Status
from models.yc_bench.turns import MEMORY, Turns, event_line, message

ERROR = {"error": "No active tasks."}
PAYDAY = {"wake_events": [{"type": "monthly_payroll", "funds_after": 1}]}


def opened(**changes: Any) -> tuple[Turns, Company]:
    """Turns of a fresh company, the first begun."""
    run = Run(YCBench(**changes), 1)
    run.advance()
    turns = Turns(run.model)
    turns.begin(run.state)
    return turns, run.state


def looked(turns: Turns) -> Status:
    """The status of the present turn."""
    assert turns.status is not None
    return turns.status


def go_on(turns: Turns, company: Company, *payloads: dict[str, Any]) -> Status:
    """Resume so often, end the turn, begin the next."""
    for payload in payloads:
        turns.resumed(payload)
    turns.close()
    turns.begin(company)
    return looked(turns)


def test_a_desk_shows_the_last_of_many_planned_tasks() -> None:
    """A founder who accepts without end does not carry all titles to every command."""
    run = Run(YCBench(desk_titles=2), 1)
    (decision,) = run.advance()
    for title in ("Task-1", "Task-7", "Task-2"):
        run.answer(decision, TaskAccept(title))
        (decision,) = run.advance()
    assert decision.observation.planned == ("Task-2", "Task-7")
    assert len(run.state.planned) == 3


def test_a_founder_who_never_acts_is_given_up() -> None:
    """Where no time can pass any more, the episode ends after so many turns."""
    run = Run(YCBench(idle_limit=7), 1)
    turns = 0
    while handed := run.advance():
        run.answer(handed[0], EndTurn())
        turns += 1
    assert (run.result().ended, turns) == ("idle", 7)


def test_the_first_status_is_the_initial_one() -> None:
    """Later ones are plain; each counts down the memory."""
    turns, company = opened()
    first, second = looked(turns), go_on(turns, company)
    assert (first.kind, first.number, first.memory_countdown) == ("initial", 1, MEMORY - 1)
    assert (second.kind, second.number, second.memory_countdown) == ("status", 2, MEMORY - 2)
    assert turns.number == 2


@pytest.mark.parametrize(("changes", "number"), [({}, 1), ({"status_number_lags": False}, 2)])
def test_a_status_after_a_resume_bears_the_number_before(
    changes: dict[str, Any], number: int
) -> None:
    """`status_number_lags` is what the published loop does; the memory counts alike."""
    turns, company = opened(**changes)
    status = go_on(turns, company, PAYDAY)
    assert (status.number, status.memory_countdown) == (number, MEMORY - number)
    assert go_on(turns, company).number == turns.number == 3


def test_only_the_last_resume_of_a_turn_is_reported() -> None:
    """A refused one hides what came before it, and nothing is reported twice."""
    turns, company = opened()
    assert go_on(turns, company, PAYDAY).events == tuple(PAYDAY["wake_events"])
    assert go_on(turns, company, PAYDAY, ERROR).events == ()
    assert go_on(turns, company).events == ()


def test_a_status_keeps_its_events_whatever_becomes_of_the_payload() -> None:
    """The payload is also the reply of an earlier observation."""
    turns, company = opened()
    event = {"type": "monthly_payroll", "funds_after": 1}
    status = go_on(turns, company, {"wake_events": [event]})
    event.clear()
    assert status.events == ({"type": "monthly_payroll", "funds_after": 1},)


def test_notes_are_read_at_the_start_of_a_turn_that_follows_no_resume() -> None:
    """The notes of a turn that resumes stay unseen until one passes without."""
    turns, company = opened()
    company.scratchpad = "new"
    assert go_on(turns, company, ERROR).scratchpad == ""
    assert go_on(turns, company).scratchpad == "new"


def test_fresh_notes_are_read_at_every_turn() -> None:
    """Where `stale_scratchpad` is off."""
    turns, company = opened(stale_scratchpad=False)
    company.scratchpad = "new"
    assert go_on(turns, company, PAYDAY).scratchpad == "new"


def test_the_clock_is_moved_on_after_idle_turns() -> None:
    """And the resume then counts as the founder's own."""
    turns, company = opened(auto_advance_after_turns=3)
    for idle in (1, 2):
        assert not turns.close()
        assert turns.idle == idle
        turns.begin(company)
    assert turns.close()
    turns.resumed(PAYDAY)
    turns.begin(company)
    assert turns.idle == 0
    assert looked(turns).events == tuple(PAYDAY["wake_events"])
    assert looked(turns).number == 3
    assert not turns.close()


def test_a_refused_resume_counts_as_one() -> None:
    """So an idle founder is left in peace for as many turns again."""
    turns, company = opened(auto_advance_after_turns=1)
    assert turns.close()
    turns.resumed(ERROR)
    assert turns.idle == 0
    turns.begin(company)
    assert looked(turns).number == 1


def test_a_refused_resume_does_not_count_where_errors_do_not() -> None:
    """It is tried again after the next turn, and numbers go on."""
    turns, company = opened(auto_advance_after_turns=2, errors_count_as_resume=False)
    turns.resumed(ERROR)
    assert not turns.close()
    turns.begin(company)
    assert looked(turns).number == 2
    assert turns.close()
    turns.resumed(ERROR)
    turns.begin(company)
    assert looked(turns).number == 3
    assert turns.close()


@pytest.mark.parametrize(("limit", "ends"), [(0, ""), (2, "max_turns")])
def test_turns_are_finished_at_their_limit(limit: int, ends: str) -> None:
    """A limit of zero is none."""
    turns, company = opened(max_turns=limit)
    assert turns.finished(company) == ""
    turns.begin(company)
    assert turns.finished(company) == ends


@pytest.mark.parametrize(
    ("commands", "closing"),
    [
        ([], "nothing running"),
        (["task accept --task-id Task-7"], "planned only"),
        (
            [
                "task accept --task-id Task-7",
                "task assign --task-id Task-7 --employees Emp_1",
                "task dispatch --task-id Task-7",
                "task accept --task-id Task-2",
            ],
            "neutral",
        ),
    ],
)
def test_the_last_line_calls_for_what_is_missing(commands: list[str], closing: str) -> None:
    """Accepting, dispatching, or nothing in particular."""
    run = Run(YCBench(), 1)
    [decision] = run.advance()
    for command in commands:
        run.answer(decision, RunCommand(f"yc-bench {command}"))
        [decision] = run.advance()
    run.answer(decision, EndTurn())
    [decision] = run.advance()
    assert decision.observation.status.closing == closing


def test_without_payroll_money_lasts() -> None:
    """The runway is a large finite number."""
    turns, company = opened()
    for who in company.employees:
        who.salary_cents = 0
    assert go_on(turns, company).runway_months == 9999.0


# -- text ------------------------------------------------------------------------------------------

SUCCESS = (
    "Task-1 (client: Helix Systems): SUCCESS +$13,551 [ahead by 54h] | 4 employees, "
    "+$264/mo payroll"
)
DONE = {
    "type": "task_completed",
    "task_title": "Task-1",
    "client_name": "Helix Systems",
    "success": True,
    "funds_delta": 1355068,
    "deadline_margin": "ahead by 54h",
    "employees_assigned": 4,
    "salary_bump_total_cents": 26400,
}


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (DONE, SUCCESS),
        (
            DONE | {"success": False, "deadline_margin": "late by 2h"},
            "Task-1 (client: Helix Systems): FAILED [late by 2h]",
        ),
        ({"type": "monthly_payroll", "funds_after": 5}, "monthly_payroll"),
        ({"type": "task_half", "milestone_pct": 25}, "task_half"),
        (
            {"type": "horizon_end", "reached": True},
            "The horizon has been reached; the run is over.",
        ),
        ({"type": "bankruptcy", "bankrupt": True}, "The company went bankrupt; the run is over."),
        ({}, ""),
    ],
)
def test_an_event_is_one_line(event: dict[str, Any], line: str) -> None:
    """Completions tell what they brought; payroll and what is unknown tell their type alone."""
    assert event_line(event) == line


def test_the_message_holds_the_fields_in_the_published_order() -> None:
    """One line each, and the call at the end."""
    turns, _ = opened()
    assert message(looked(turns)).splitlines() == [
        "Turn 1",
        "Current time: 2025-01-01T09:00:00",
        "Horizon end: 2026-01-01T09:00:00",
        "Funds: $200,000.00 (20000000 cents)",
        "Monthly payroll: $38,005.03",
        "Runway: ~5.3 months",
        "Employees: 8",
        "Active tasks: 0",
        "Planned tasks: 0",
        "Memory: 19 turns until your oldest messages drop.",
        "",
        "Nothing is running: accept a task, assign people and dispatch it before you resume.",
    ]


def test_the_message_warns_of_bankruptcy_and_lists_events() -> None:
    """Behind the fields and before the last line."""
    turns, _ = opened()
    status = attrs.evolve(looked(turns), bankrupt=True, events=(DONE,), memory_countdown=0)
    lines = message(status).splitlines()
    assert lines[9:11] == [
        "Memory: your oldest messages have been dropped; keep notes on the scratchpad.",
        "Warning: funds are below zero; the company is bankrupt.",
    ]
    assert lines[11:15] == ["", "Since the last turn:", f"- {event_line(DONE)}", ""]
