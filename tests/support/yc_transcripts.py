"""Command transcripts of the reference data, replayed on our console."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from models.yc_bench.model import YCBench
from models.yc_bench.shell.program import Console
from models.yc_bench.state import CompanyState


def load(path: Path) -> dict[str, Any]:
    """Read a trace."""
    trace: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return trace


def differences(trace: dict[str, Any]) -> Iterator[str]:
    """Replay a transcript and yield the differences in their order.

    Compared are exit code, response, standard error and the state after every command (a step
    without a state has changed nothing), with the order of keys; and the ledger at the end.
    """
    console, state = Console(YCBench(), _seed(trace)), None
    for number, step in enumerate(trace["steps"]):
        _rank(console.company, trace["steps"][number:])
        answer = console.give(step["cmd"])
        state = state if step.get("state", "unchanged") == "unchanged" else step["state"]
        where = f"command {number}, {step['cmd']!r}"
        yield from (f"{where}: {fault}" for fault in _faults(step, state, answer))
    if console.company is not None and ledger(console.company) != trace["ledger"]:
        yield "the ledger differs"


def ledger(company: CompanyState) -> list[list[Any]]:
    """Return the published ledger as traces hold it: time, category, cents, reference, funds."""
    entries, funds = [], company.params.initial_funds_cents
    for tick, category, cents, kind, name in company.accounts.entries():
        funds += cents
        entries.append([company.clock.stamp(tick), category, cents, f"{kind}:{name}", funds])
    return entries


def _seed(trace: dict[str, Any]) -> int | None:
    """Return the seed of a company that exists from the start; edge cases found their own."""
    return None if any("sim init" in step["cmd"] for step in trace["steps"]) else trace["seed"]


def _faults(step: dict[str, Any], state: Any, answer: dict[str, Any]) -> Iterator[str]:
    if answer["exit_code"] != step.get("exit", step.get("exit_code")):
        yield f"exit code {answer['exit_code']}"
    if json.dumps(answer["out"]) != json.dumps(step["out"]):
        yield f"printed {json.dumps(answer['out'])}, not {json.dumps(step['out'])}"
    expected = step.get("stderr", {})
    if answer["stderr"] != expected.get("message", expected.get("exception", "")):
        yield f"wrote {answer['stderr']!r} to stderr, not {expected}"
    # Before the first state a transcript shows there is none to compare.
    if state is not None and json.dumps(answer["state"]) != json.dumps(state):
        yield f"left {json.dumps(answer['state'])}, not {json.dumps(state)}"


def _rank(company: CompanyState | None, steps: list[dict[str, Any]]) -> None:
    """Order completions of one instant as the report of the next resume does.

    In the original their order is random (SPEC section 16).
    """
    if company is None:
        return
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
