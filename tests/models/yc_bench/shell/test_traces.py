"""The published transcripts, command by command; loop and bot runner, turn by turn."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.yc_snapshot import event_line, snapshot, stamp

from desim import Run
from desim.episodes.lineup import resolve
from desim.episodes.replay import open_decisions
from models.yc_bench import YCBench
from models.yc_bench.actions import CompanyStatus, EndTurn, RunCommand, TaskAccept
from models.yc_bench.company.state import CompanyState
from models.yc_bench.desk import CommandReply, TurnStatus


def load(path: Path) -> dict[str, Any]:
    """Read a trace."""
    trace: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return trace


def differences(trace: dict[str, Any]) -> Iterator[str]:
    """Replay a transcript and yield the differences in their order.

    Compared are exit code, response, standard error and the state after every command (a step
    without a state has changed nothing), with the order of keys; and the ledger at the end.
    """
    run = Run(YCBench(plays_on=True, max_questions_per_tick=10**9), trace["seed"])
    company, decisions, state = run.state, open_decisions(run), None
    decision, first = next(decisions), _founded(trace)
    for number, step in enumerate(trace["steps"][first:], first):
        _rank(company, trace["steps"][number:])
        run.answer(decision, RunCommand(step["cmd"]))
        decision = next(decisions)
        state = state if step.get("state", "unchanged") == "unchanged" else step["state"]
        where = f"command {number}, {step['cmd']!r}"
        answer = decision.observation.reply
        yield from (f"{where}: {fault}" for fault in _faults(step, state, answer, company))
    if ledger(company) != trace["ledger"]:
        yield "the ledger differs"


def ledger(company: CompanyState) -> list[list[Any]]:
    """Return the published ledger as traces hold it: time, category, cents, reference, funds."""
    entries, funds = [], company.params.initial_funds_cents
    for tick, category, cents, kind, name in company.accounts.entries():
        funds += cents
        entries.append([stamp(company.clock, tick), category, cents, f"{kind}:{name}", funds])
    return entries


def _founded(trace: dict[str, Any]) -> int:
    """Return the number of the first command after the founding; here a company is there."""
    places = [n for n, step in enumerate(trace["steps"]) if "sim init" in step["cmd"]]
    return places[0] + 1 if places else 0


def _faults(
    step: dict[str, Any], state: Any, answer: CommandReply, company: CompanyState
) -> Iterator[str]:
    if answer.exit_code != step.get("exit", step.get("exit_code")):
        yield f"exit code {answer.exit_code}"
    if json.dumps(answer.out) != json.dumps(step["out"]):
        yield f"printed {json.dumps(answer.out)}, not {json.dumps(step['out'])}"
    expected = step.get("stderr", {})
    if answer.stderr != expected.get("message", expected.get("exception", "")):
        yield f"wrote {answer.stderr!r} to stderr, not {expected}"
    # Before the first state a transcript shows there is none to compare.
    left = json.dumps(snapshot(company))
    if state is not None and left != json.dumps(state):
        yield f"left {left}, not {json.dumps(state)}"


def _rank(company: CompanyState, steps: list[dict[str, Any]]) -> None:
    """Order completions of one instant as the report of the next resume does.

    In the original their order is random (SPEC section 16).
    """
    for order, row in enumerate(_completed_next(steps)):
        if row < len(company.tasks):
            company.tasks[row].rank = order


def _completed_next(steps: list[dict[str, Any]]) -> list[int]:
    """Return the rows of the tasks that the next resume completes, in its order."""
    for step in steps:
        events = (step["out"] or {}).get("wake_events")
        if events is not None:
            done = [event for event in events if event["type"] == "task_completed"]
            return [int(event["task_id"].strip("<>").split(":")[1]) for event in done]
    return []


#: Commands of the scripted replies that are not lists of commands.
REPLIES: dict[str, list[str]] = {"text only": [], "one tool call with unparsable arguments": [""]}


@pytest.mark.traces("ycbench/traces/cli_*.json.gz", every=4)
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


@pytest.mark.traces("ycbench/traces/bots_direct_*.json.gz")
def test_the_published_runner(trace: Path) -> None:
    """Under `direct`, the four bots take every step the published runner took."""
    for recorded in load(trace)["runs"]:
        replay(recorded)


def replay(recorded: dict[str, Any]) -> None:
    """Let a bot play and compare it with a recorded run after every turn."""
    seed, rule = recorded["seed"], f"published_{recorded['bot'].removesuffix('_bot')}"
    model = YCBench.preset("direct")
    run = Run(model, seed)
    policy = resolve(model, rule, seed).policies["founder"]
    turns = list(recorded["turns"])
    company, taken = run.state, None
    while handed := run.advance():
        action = policy.decide(handed[0].observation)
        if isinstance(action, TaskAccept):
            taken = company.task(action.task_id)
        if isinstance(action, CompanyStatus):
            same_turn(turns.pop(0), company, handed[0].observation.reply, taken)
            taken = None
        run.answer(handed[0], action)
    # The last resume ends the episode, so no look follows it.
    assert len(turns) == 1
    assert snapshot(company) == turns[0]["state"]
    assert ledger(company) == recorded["ledger"]
    result, metrics = recorded["result"], run.result().metrics
    assert metrics["final_funds_cents"] == result["final_balance_cents"]
    assert metrics["ended_on"] == result["end_time"]
    assert metrics["turns"] == result["turns"]
    assert (metrics["bankrupt_on"] is not None) == result["bankrupt"]
    assert metrics["tasks_succeeded"] == result["tasks_completed"]
    assert metrics["tasks_failed"] == result["tasks_failed"]
    assert metrics["max_prestige"] == result["max_prestige"]


def same_turn(turn: dict[str, Any], company: Any, reply: Any, taken: Any) -> None:
    """Compare one turn: what was chosen and drawn in its place, what the step brought."""
    assert (taken.title if taken else None) == turn.get("chosen")
    if taken:
        spec, drawn = company.tasks[-1].spec, turn["replacement"]
        assert spec.title == drawn["title"]
        assert company.clients[spec.client].name == drawn["client"]
        assert spec.reward_cents == drawn["reward_funds_cents"]
        assert spec.prestige_delta == drawn["prestige_delta_generated"]
        assert (spec.domain, spec.required_qty) == (drawn["domain"], drawn["required_qty"])
        assert stamp(company.clock, taken.deadline)[:19] == turn["accepted"]["deadline"][:19]
        assert float(taken.required) == turn["accepted"]["required_qty_after"]
    assert snapshot(company) == turn["state"]
    for key, value in turn["advance"].items():
        assert reply.out[key] == value
