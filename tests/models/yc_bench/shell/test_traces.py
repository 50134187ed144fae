"""The published transcripts, command by command, and the published loop, turn by turn."""

from pathlib import Path
from typing import Any

import pytest
from support.yc_transcripts import differences, load

from desim import Run
from models.yc_bench.actions import EndTurn, RunCommand
from models.yc_bench.model import YCBench
from models.yc_bench.observation import TurnStatus
from models.yc_bench.shell.snapshot import snapshot
from models.yc_bench.shell.status_text import event_line

#: Commands of the scripted replies that are not lists of commands.
REPLIES: dict[str, list[str]] = {"text only": [], "one tool call with unparsable arguments": [""]}


@pytest.mark.traces("ycbench/traces/cli_*.json.gz")
def test_a_published_transcript_is_repeated(trace: Path) -> None:
    """Every response, the state after every command, and the ledger at the end."""
    assert next(differences(load(trace)), "") == ""


@pytest.mark.traces("ycbench/traces/edge_*.json.gz")
def test_a_published_edge_case_is_repeated(trace: Path) -> None:
    """Refusals, usage errors and crashes included, with their texts."""
    assert next(differences(load(trace)), "") == ""


@pytest.mark.traces("ycbench/traces/loop_*.json.gz")
def test_the_published_loop_is_repeated(trace: Path) -> None:
    """Each turn's message, the scratchpad in the system prompt, and the state at the end."""
    recorded = load(trace)
    run = Run(YCBench(max_turns=recorded["max_turns"]), recorded["seed"])
    for turn in recorded["turns"]:
        [decision] = run.advance()
        status: TurnStatus = decision.observation.status
        assert decision.observation.turn == turn["turn"]
        assert status.kind == turn["user_message"]["kind"]
        assert (status.scratchpad or None) == turn["pad_in_system_prompt"]
        if status.kind == "status":
            assert shown(status) == turn["user_message"] | {"lines": None}, turn["turn"]
        play_turn(run, decision, REPLIES.get(str(turn["reply"]), turn["reply"]))
    assert run.advance() == []
    assert run.result().ended == "max_turns"
    assert snapshot(run.state) == recorded["final"]["state"]


def play_turn(run: Run, decision: Any, commands: list[str]) -> None:
    """Give a turn's commands and end it."""
    for command in commands:
        run.answer(decision, RunCommand(command))
        [decision] = run.advance()
        assert decision.observation.status is None
    run.answer(decision, EndTurn())


def shown(status: TurnStatus) -> dict[str, Any]:
    """Return a status as the trace notes a message."""
    lines = [event_line(event) for event in status.events]
    return {
        "lines": None,
        "kind": status.kind,
        "number": status.number,
        "fields": {
            "current time": status.time,
            "horizon end": status.horizon_end,
            "funds": f"${status.funds_cents / 100:,.2f} ({status.funds_cents} cents)",
            "monthly payroll": f"${status.monthly_payroll_cents / 100:,.2f}",
            "runway": f"~{status.runway_months} months",
            "employees": str(status.employees),
            "active tasks": str(status.active_tasks),
            "planned tasks": str(status.planned_tasks),
        },
        "memory_countdown": status.memory_countdown,
        **({"event_lines": lines} if lines else {}),
        "closing": status.closing,
        "bankrupt_warning": status.bankrupt,
    }
