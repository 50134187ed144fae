"""The published bot runner, turn by turn: choices, replacements, states and ledgers."""

from pathlib import Path
from typing import Any

import pytest
from support.yc_transcripts import ledger, load

from desim import Run
from desim.episodes.lineup import resolve
from models.yc_bench import CompanyStatus, TaskAccept, YCBench
from models.yc_bench.shell.snapshot import snapshot


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
        assert company.clock.stamp(taken.deadline)[:19] == turn["accepted"]["deadline"][:19]
        assert float(taken.required) == turn["accepted"]["required_qty_after"]
    assert snapshot(company) == turn["state"]
    for key, value in turn["advance"].items():
        assert reply.out[key] == value
