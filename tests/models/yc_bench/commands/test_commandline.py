"""Lines of the console: read as published, written so that they are read back."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.yc_bench import actions, console
from models.yc_bench.actions import (
    EndTurn,
    FinanceLedger,
    MarketBrowse,
    ReportMonthly,
    RunCommand,
    ScratchpadWrite,
    SimInit,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskAssignAll,
)
from models.yc_bench.desk import CommandReply
from models.yc_bench.specs import DOMAINS

NUMBERS = st.none() | st.integers(-(10**6), 10**6)
DAYS = st.none() | st.dates().map(lambda day: f"{day.month:02}/{day.day}/{day.year:04}")
MONTHS = st.none() | st.dates().map(lambda day: f"{day.year:04}-{day.month}")
#: Names without the comma and the blanks that separate them.
NAMES = st.text(min_size=1).filter(lambda name: name.strip() == name and "," not in name)

SPECIAL = {
    SimInit: st.builds(
        SimInit,
        seed=st.integers(-10, 10**9),
        start_date=DAYS.filter(bool),
        company_name=st.text(),
        horizon_years=st.integers(-1, 9),
        employee_count=NUMBERS,
        market_task_count=NUMBERS,
    ),
    MarketBrowse: st.builds(
        MarketBrowse,
        domain=st.none() | st.sampled_from(DOMAINS),
        reward_min_cents=NUMBERS,
        limit=NUMBERS,
        offset=st.integers(-5, 500),
    ),
    FinanceLedger: st.builds(
        FinanceLedger, from_date=DAYS, to_date=DAYS, category=st.none() | st.text()
    ),
    ReportMonthly: st.builds(ReportMonthly, from_month=MONTHS, to_month=MONTHS),
    TaskAssign: st.builds(
        TaskAssign, task_id=st.text(), employees=st.lists(NAMES, max_size=9).map(tuple)
    ),
}
WRITABLE = [cls for cls in get_args(actions.Command) if cls not in (EndTurn, RunCommand)]
COMMANDS = st.one_of([SPECIAL.get(cls, st.builds(cls)) for cls in WRITABLE])


@given(COMMANDS)
def test_a_command_is_read_back_from_its_line(command: Any) -> None:
    """Whatever its texts hold: quotes, blanks, dashes in front, line breaks."""
    assert console.parse(console.line_of(command)) == command


@given(st.text() | st.text().map(lambda text: f"yc-bench {text}"))
def test_any_text_is_a_command_or_gets_a_reply(text: str) -> None:
    """No text raises."""
    answer = console.parse(text)
    if isinstance(answer, CommandReply):
        assert answer.command == text
        assert (answer.exit_code, answer.out) == (2, None) or "--help" in text
        assert answer.stderr or "--help" in text
    else:
        assert type(answer) in WRITABLE


WORDS = ["yc-bench", "task", "accept", "assign", "sim", "resume", "init", "market", "browse"]
WORDS += ["--task-id", "--limit", "--seed", "--from", "--help", "--", "-", "-x", "--limit=3", "''"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "command must be a non-empty string"),
        (" \t\n", "command must be a non-empty string"),
        ("yc-bench task list '", "invalid command syntax: yc-bench task list '"),
        ("'yc-bench task list'", "only top-level `yc-bench` commands are allowed"),
        ("YC-BENCH task list", "only top-level `yc-bench` commands are allowed"),
        ("yc-bench", "Missing command."),
        ("yc-bench task", "Missing command."),
        ("yc-bench run --model x", "No such command 'run'."),
        ("yc-bench end turn", "No such command 'end'."),
        ("yc-bench sim resume now", "Got unexpected extra argument (now)"),
        ("yc-bench sim resume | cat x", "Got unexpected extra arguments (| cat x)"),
        ("yc-bench sim init", "Missing option '--seed'."),
        ("yc-bench task assign --employees a", "Missing option '--task-id'."),
        ("yc-bench task assign --task-id a", "Missing option '--employees'."),
        ("yc-bench task accept --task-id", "Option '--task-id' requires an argument."),
        (
            "yc-bench market browse --limit 1e3",
            "Invalid value for '--limit': '1e3' is not a valid integer.",
        ),
        (
            "yc-bench report monthly --to-month 2025-13",
            "Invalid value: Invalid month format: 2025-13. Use YYYY-MM.",
        ),
        (
            "yc-bench sim init --seed 1 --company-name x --start-date 02/30/2025",
            "Invalid value: Invalid date format: 02/30/2025. Use MM/DD/YYYY.",
        ),
    ],
)
def test_what_is_no_command_is_answered_with_exit_code_2(line: str, why: str) -> None:
    """With the published reason."""
    assert console.parse(line) == CommandReply(line, 2, None, why)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (" yc-bench  sim resume", SimResume()),
        ("yc-bench task assign-all --task-id=Task-1", TaskAssignAll("Task-1")),
        ("yc-bench task accept --task-id a --task-id b", TaskAccept("b")),
        ("yc-bench task assign --task-id a --employees ' x ,,y '", TaskAssign("a", ("x", "y"))),
        ("yc-bench finance ledger --to 1/2/2025", FinanceLedger(to_date="1/2/2025")),
        ("yc-bench finance ledger --to '01/ 2/2025'", FinanceLedger(to_date="01/2/2025")),
        ("yc-bench market browse --limit -3", MarketBrowse(limit=-3)),
        ("yc-bench scratchpad write --content ''", ScratchpadWrite("")),
        ("yc-bench scratchpad write --content '--help'", ScratchpadWrite("--help")),
    ],
)
def test_a_line_is_read_as_its_command(line: str, command: Any) -> None:
    """Options come in any of the published spellings."""
    assert console.parse(line) == command


@pytest.mark.parametrize("words", ["", " task", " task assign", " sim init --seed 1"])
def test_help_is_text_and_no_fault(words: str) -> None:
    """It names the commands or options there are."""
    answer = console.parse(f"yc-bench{words} --help")
    assert isinstance(answer, CommandReply)
    assert (answer.exit_code, answer.stderr) == (0, "")
    usage = words.removesuffix(" --seed 1")
    assert answer.out.startswith(f"Usage: yc-bench{usage} [OPTIONS]")
