"""Turns: numbering, idleness, the scratchpad shown."""

from typing import Any

import pytest

from desim import Run
from models.yc_bench import YCBench
from models.yc_bench.actions import EndTurn, RunCommand
from models.yc_bench.company.state import CompanyState
from models.yc_bench.desk import TurnStatus
from models.yc_bench.founder import MEMORY, FounderTurns

ERROR = {"error": "No active tasks."}
PAYDAY = {"wake_events": [{"type": "monthly_payroll", "funds_after": 1}]}


def opened(**changes: Any) -> tuple[FounderTurns, CompanyState]:
    """FounderTurns of a fresh company, the first begun."""
    run = Run(YCBench(**changes), 1)
    run.advance()
    turns = FounderTurns(run.model)
    turns.begin(run.state)
    return turns, run.state


def looked(turns: FounderTurns) -> TurnStatus:
    """The status of the present turn."""
    assert turns.status is not None
    return turns.status


def go_on(turns: FounderTurns, company: CompanyState, *payloads: dict[str, Any]) -> TurnStatus:
    """Resume so often, end the turn, begin the next."""
    for payload in payloads:
        turns.resumed(payload)
    turns.close()
    turns.begin(company)
    return looked(turns)


def idle_run(model: YCBench, turns: int = 10_000) -> tuple[Run[Any], int]:
    """Let a founder only end turns; return the run and how many there were."""
    run, count = Run(model, 1), 0
    while (handed := run.advance()) and count < turns:
        run.answer(handed[0], EndTurn())
        count += 1
    return run, count


@pytest.mark.parametrize("preset", ["default", "direct"])
def test_an_idle_founder_pays_the_salaries_of_the_year(preset: str) -> None:
    """Doing nothing is no way to keep the capital: the year passes and bankrupts the company."""
    run, turns = idle_run(YCBench.preset(preset, idle_limit=7))
    result, payroll = run.result(), 3_800_503
    assert turns == 7
    assert result.ended == "bankruptcy"
    assert result.metrics["final_funds_cents"] == 20_000_000 - 6 * payroll < 0
    assert result.metrics["idle_since"] == "2025-01-01T09:00:00"
    assert result.metrics["bankruptcy_cause"] == "payroll"


def test_without_a_limit_the_loop_never_ends_as_published() -> None:
    """`idle_limit=0` is the published loop: no turn moves the clock."""
    run, turns = idle_run(YCBench(idle_limit=0), turns=3_000)
    assert turns == 3_000
    assert (run.world.now, run.world.ended) == (0, "")


def test_the_first_status_is_the_initial_one() -> None:
    """Later ones are plain; each counts down the memory."""
    turns, company = opened()
    first, second = looked(turns), go_on(turns, company)
    assert (first.kind, first.number, first.memory_countdown) == ("initial", 1, MEMORY - 1)
    assert (second.kind, second.number, second.memory_countdown) == ("status", 2, MEMORY - 2)
    assert turns.number == 2


@pytest.mark.parametrize(("changes", "number"), [({}, 1), ({"status_number_lags": False}, 2)])
def test_a_status_after_a_resume_has_the_number_before(
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


def test_the_scratchpad_is_read_at_the_start_of_a_turn_that_follows_no_resume() -> None:
    """After a turn with a resume the old text is shown until a turn without one."""
    turns, company = opened()
    company.scratchpad = "new"
    assert go_on(turns, company, ERROR).scratchpad == ""
    assert go_on(turns, company).scratchpad == "new"


def test_the_clock_is_moved_on_after_idle_turns() -> None:
    """The resume then counts as the founder's own."""
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
    """So the clock is not moved on for as many turns again."""
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
