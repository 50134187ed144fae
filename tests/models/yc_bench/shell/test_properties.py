"""Random founders: no command raises, loses a cent, or takes effect in part."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import thinned
from support.yc_snapshot import snapshot

from desim import Policy, Run, play, replay
from models.yc_bench import YCBench, console
from models.yc_bench.actions import (
    CompanyStatus,
    EmployeeList,
    EndTurn,
    MarketBrowse,
    RunCommand,
    ScratchpadAppend,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskCancel,
    TaskDispatch,
    TaskInspect,
    TaskList,
)

#: Commands in all: over 30 seeds of the published rules and 10 of the paper's.
COMMANDS = 300
CASES = [("default", seed) for seed in range(30)] + [("paper", seed) for seed in range(10)]
STAFF = [f"Emp_{i}" for i in range(1, 10)]
NO_COMMANDS = [
    "",
    "  ",
    "yc-bench",
    "yc-bench task",
    "ls",
    'yc-bench "',
    "yc-bench sim resume --now",
]


class RandomFounder(Policy):
    """Gives random commands, most of them sensible, some absurd.

    Args:
        seed: Seed of the commands.
        commands: How many before it only resumes.
    """

    def __init__(self, seed: int, commands: int = COMMANDS) -> None:
        self.draw = random.Random(seed)  # noqa: S311 (no secret)
        self.left = commands
        self.titles = ["Task-1", "Task-0", "<task:3>", "nothing"]

    def decide(self, desk: Any) -> Any:
        """Draw a command, and keep the titles seen."""
        out = desk.reply.out if desk.reply else None
        rows = out.get("tasks", ()) if isinstance(out, dict) else ()
        self.titles += [row["task_id"] for row in rows if isinstance(row, dict)][:3]
        self.left -= 1
        if self.left < 0:
            return SimResume() if desk.active else self.begin_work(desk)
        return self.drawn(desk)

    def begin_work(self, desk: Any) -> Any:
        """Start any task, so that time passes and the run ends."""
        if not desk.planned:
            return TaskAccept(self.draw.choice(["Task-1", "Task-2", "Task-3", "Task-1000"]))
        reply = desk.reply
        assigned = reply and isinstance(reply.out, dict) and reply.out.get("total_assigned")
        title = desk.planned[0]
        return TaskDispatch(title) if assigned else TaskAssign(title, ("Emp_6",))

    def drawn(self, desk: Any) -> Any:
        """Draw one of the commands."""
        some = self.draw.choice([*self.titles[-12:], *desk.planned, *desk.active])
        people = tuple(self.draw.sample(STAFF, self.draw.randint(0, 5)))
        action = self.draw.choices(
            [
                SimResume(),
                TaskAccept(some),
                TaskAssign(some, people),
                TaskDispatch(some),
                TaskCancel(some, "a whim"),
                MarketBrowse(limit=self.draw.randint(-1, 9)),
                TaskInspect(some),
                TaskList(),
                EmployeeList(),
                CompanyStatus(),
                ScratchpadAppend("note"),
                EndTurn(),
                RunCommand(self.draw.choice(NO_COMMANDS)),
            ],
            weights=[6, 5, 5, 5, 1, 4, 1, 1, 1, 1, 1, 2, 1],
        )[0]
        # Half of the commands are given as lines of the console.
        if type(action) not in (EndTurn, RunCommand) and self.draw.random() < 0.5:
            return RunCommand(console.line_of(action))
        return action


@pytest.mark.parametrize(("preset", "seed"), thinned(CASES, 4))
def test_a_refused_command_changes_nothing(preset: str, seed: int) -> None:
    """Exit code 1 or 2 leaves the state as it was; funds are what the ledger sums to."""
    run, founder = Run(YCBench.preset(preset, plays_on=True), seed), RandomFounder(seed)
    handed = run.advance()
    for _ in range(COMMANDS):
        before = snapshot(run.state)
        action = founder.drawn(handed[0].observation)
        founder.decide(handed[0].observation)
        run.answer(handed[0], action)
        handed = run.advance()
        reply = handed[0].observation.reply
        after = snapshot(run.state)
        if reply is not None and reply.exit_code:
            assert after == before, reply
        assert after["funds_cents"] == run.state.accounts.book.balance("cash")
        started = run.model.initial_funds_cents
        assert after["funds_cents"] == started + sum(e[2] for e in run.state.accounts.entries())


@pytest.mark.parametrize("seed", thinned(range(8), 3))
@pytest.mark.parametrize("preset", ["default", "direct", "paper"])
def test_a_record_of_random_commands_replays(preset: str, seed: int, tmp_path: Path) -> None:
    """A record of random commands plays again to the same desks and the same ledger."""
    record = tmp_path / "typed.jsonl"
    play(YCBench.preset(preset, max_turns=400), RandomFounder(seed), seed, record=record)
    assert replay(record).result is not None


@given(st.text(max_size=80))
def test_every_line_gets_a_reply(line: str) -> None:
    """Every text is answered, and one that is no command leaves the company alone."""
    run = Run(YCBench(plays_on=True), 1)
    (decision,) = run.advance()
    before = snapshot(run.state)
    for typed in (line, f"yc-bench {line}", f"yc-bench task accept --task-id {line}"):
        run.answer(decision, RunCommand(typed))
        (decision,) = run.advance()
        reply = decision.observation.reply
        assert reply.exit_code in (0, 1, 2)
        if reply.exit_code:
            assert snapshot(run.state) == before
