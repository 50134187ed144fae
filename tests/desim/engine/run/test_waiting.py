"""Language models of a sweep wait for their replies together, each episode in a thread."""

import asyncio
import json
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from attrs import define, evolve, field, frozen
from support.forked import desim_process, ended
from support.paths import PYTHONPATH
from support.small_worlds import STRIDE, WALK, Go, Spot
from support.stub import Served, Stub, serving, text

from desim import Policy
from desim.core.limits import Limits
from desim.engine.budget import CommandBudget, spending
from desim.engine.grid import grid
from desim.engine.run.executors import Executor
from desim.errors import UsageError
from desim.rows.rows import Rows
from desim.studies.sweep import sweep

#: Decisions, and so calls, of an episode.
WEEKS = 4
GAME: dict[str, Any] = {"model": "beer_game/poisson", "set": {"horizon": WEEKS}}


@define
class Calls:
    """Answers with orders, and counts the calls that are open at once.

    Attributes:
        wanted: Calls that must be open before any is answered, while there are enough.
        most: The most that were open.
    """

    wanted: int = 1
    most: int = 0
    _open: int = 0
    _change: threading.Condition = field(factory=threading.Condition)

    def __call__(self, number: int, body: dict[str, Any]) -> Served:
        """Answer a request."""
        served = text(f'{{"order_qty": {10 + number % 1}}}')
        served.before = self.arrive
        return served

    def arrive(self) -> None:
        """Wait until enough calls have arrived, for some seconds at most."""
        with self._change:
            self._open += 1
            self.most = max(self.most, self._open)
            self._change.notify_all()
            self._change.wait_for(lambda: self.most >= self.wanted, timeout=20)
            self._open -= 1


@pytest.fixture
def calls() -> Calls:
    """The counts of the endpoint."""
    return Calls()


@pytest.fixture
def stub(calls: Calls) -> Iterator[Stub]:
    """The endpoint."""
    with serving(calls) as served:
        yield served


def spec(stub: Stub, more: str = "") -> str:
    """The policy of a language model."""
    return f"llm,model=m,base_url={stub.url}{more}"


def played(stub: Stub, seeds: int = 6, **how: Any) -> Rows:
    """A sweep of a rule and a language model."""
    policies = ["order_up_to", spec(stub), "base_stock,target=20"]
    return sweep(GAME["model"], policies, range(seeds), set=GAME["set"], **how)


def test_episodes_wait_together_and_rows_are_those_of_one_at_a_time(
    stub: Stub, calls: Calls
) -> None:
    """In the order of jobs, with the same digests; in worker processes beside rules as well."""
    alone = played(stub, executor="concurrent=1")
    assert (calls.most, len(stub.requests)) == (1, 6 * WEEKS)
    calls.wanted = 3
    together = played(stub, executor="concurrent=3,processes=1")
    assert together == alone
    assert [row["error"] for row in together] == [None] * 18
    assert calls.most == 3


def test_eight_wait_at_once_where_no_number_is_given(stub: Stub, calls: Calls) -> None:
    """However many episodes are left."""
    calls.wanted = 8
    played(stub, 12)
    assert calls.most == 8


def test_the_threads_run_beside_a_loop_that_runs_already(stub: Stub) -> None:
    """As in a notebook."""

    async def in_notebook() -> Rows:
        return played(stub, 2)

    assert asyncio.run(in_notebook()) == played(stub, 2)


def test_a_rule_that_is_a_coroutine_plays_beside_a_loop() -> None:
    """Its rows are those of a sweep without a loop."""

    async def stroll(_: Spot) -> Go:
        await asyncio.sleep(0)
        return Go(2)

    class Called:
        async def __call__(self, spot: Spot) -> Go:
            return await stroll(spot)

    async def in_notebook() -> Rows:
        return sweep(WALK, [stroll, Called()], range(3))

    rows = asyncio.run(in_notebook())
    assert not rows.failed
    assert rows == sweep(WALK, [stroll, Called()], range(3))


@pytest.mark.parametrize("draw", [random.random, np.random.rand])
def test_a_draw_that_overlapping_episodes_share_is_refused(draw: Any) -> None:
    """The policy is named; alone, with seeded generators, it plays."""

    async def gamble(_: Spot) -> Go:
        await asyncio.sleep(0)
        return Go(1 + (draw() < 0.5))

    async def in_notebook() -> Rows:
        return sweep(WALK, gamble, range(3))

    refused = asyncio.run(in_notebook())
    assert refused.column("score") == [None] * 3
    assert all("drew from random or numpy.random" in str(one) for one in refused.column("error"))
    assert not sweep(WALK, gamble, range(3)).failed


def test_the_budget_of_a_command_holds_for_all_episodes(stub: Stub) -> None:
    """Those that it cuts are failed rows; rules are not concerned."""
    with spending(CommandBudget(max_calls=WEEKS + 1)):
        rows = played(stub, 3, executor="concurrent=1")
    assert len(stub.requests) == WEEKS + 1
    assert [row["error"] is None for row in rows] == [True] * 3 + [True, False, False] + [True] * 3
    assert "--max-calls 5 is reached" in rows.failed[0]["error"]


@pytest.mark.parametrize(("bound", "at_once"), [(",reply_tokens=40", 3), ("", 1)])
def test_calls_under_way_keep_to_the_limit_of_money_together(
    stub: Stub, calls: Calls, bound: str, at_once: int
) -> None:
    """Three calls as dear as possible fit; one whose reply has no limit is sent alone."""
    paid: list[float] = []

    def dear(number: int, body: dict[str, Any]) -> Served:
        read = len(json.dumps(body, separators=(",", ":")).encode()) // 2
        paid.append(read + 40)
        served = text("{}", usage={"prompt_tokens": read, "completion_tokens": 40})
        return evolve(served, before=calls.arrive)

    stub.script, calls.wanted = dear, at_once
    most = 3500
    model = f"{spec(stub)}{bound},price_in=1e6,price_out=1e6"
    with spending(CommandBudget(max_cost=most)) as budget:
        rows = sweep(**GAME, policies=model, seeds=range(12), executor="concurrent=12")
    assert len(rows.failed) == 12
    assert "--max-cost" in rows.failed[0]["error"]
    assert calls.most == at_once
    spent = budget.shared[0].spent
    assert sum(paid) == spent
    assert spent <= most if bound else spent - paid[-1] < most


def test_limits_are_refused_where_they_would_not_hold(stub: Stub) -> None:
    """An executor of the user's may play in other processes."""
    with spending(CommandBudget(max_calls=1)), pytest.raises(UsageError, match="in one process"):
        sweep(**GAME, policies=spec(stub), seeds=[1], executor=Executor())
    assert not stub.requests


def test_a_limit_of_time_holds_while_a_reply_is_awaited(stub: Stub) -> None:
    """The other episodes go on."""

    def slow_once(number: int, _: dict[str, Any]) -> Served:
        served = text('{"order_qty": 1}')
        served.slow = 30.0 if number == WEEKS else 0.0
        return served

    stub.script = slow_once
    assert not played(stub, 1).failed  # with all imports
    began = time.monotonic()
    rows = played(stub, 2, limits=Limits(seconds=2))
    assert time.monotonic() - began < 20
    assert [row["error"] for row in rows.failed] == [
        "LimitReached: the limit of 2 seconds was reached"
    ]


@frozen
class Blocks(Policy):
    """Declares a host, and blocks its thread until the other episodes have begun."""

    reaches = ("base_url",)
    together: ClassVar[threading.Barrier] = threading.Barrier(2)

    base_url: str = "http://127.0.0.1:1/v1"

    def decide(self, _: Spot) -> Go:
        """Wait for the other episode."""
        self.together.wait(20)
        return Go(1)


def test_policies_that_block_wait_in_threads() -> None:
    """One that has no coroutine does not hold the others up."""
    rows = sweep(WALK, Blocks, range(2), executor="concurrent=2")
    assert [row["error"] for row in rows] == [None, None]


def test_which_policies_wait_is_known_without_an_episode(stub: Stub) -> None:
    """By the class of one policy of the line-up."""
    made = grid("beer_game/classic", [{"": "order_up_to", "factory": spec(stub)}, "greedy"], [0, 1])
    assert [cell.waits for cell in made.cells] == [True, False]
    assert not grid(WALK, STRIDE, [0]).cells[0].waits


def test_episodes_that_share_a_file_of_lessons_are_played_one_by_one(
    tmp_path: Path, stub: Stub, calls: Calls
) -> None:
    """Each reads what the one before has learned."""
    learner = f"method=reflexion,memory={tmp_path / 'lessons.json'}"
    rows = sweep(GAME["model"], spec(stub, f",{learner}"), range(3), set=GAME["set"])
    assert not rows.failed
    assert calls.most == 1


def test_an_executor_that_is_closed_stops_what_waits(tmp_path: Path, stub: Stub) -> None:
    """No reply is waited for; a record is released, so that the next sweep continues it."""

    def stuck(number: int, _: dict[str, Any]) -> Served:
        served = text('{"order_qty": 1}')
        served.slow = 20.0 if number >= WEEKS + 1 else 0.0
        return served

    def stop(done: int, _total: int) -> None:
        if done:
            raise KeyboardInterrupt

    stub.script = stuck
    how: dict[str, Any] = {**GAME, "policies": spec(stub), "seeds": range(3), "out": tmp_path}
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt, match="stopped after 1 of 3"):
        sweep(**how, records=True, executor="concurrent=1", progress=stop)
    stub.script = Calls()
    rows = sweep(**how, records=True)
    assert not rows.failed
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("executor", ["concurrent=0", "concurrent=x", "processes=2,workers=3", ""])
def test_a_wrong_number_is_a_sentence(executor: str) -> None:
    """It names what is possible."""
    with pytest.raises(UsageError, match=r"possible: processes=N, concurrent=N with N of at least"):
        sweep(WALK, STRIDE, [0], executor=executor)


def command(stub: Stub, out: Path, *options: str) -> Any:
    """Start `desim sweep` of a language model."""
    words = ["--preset", "poisson", "--set", f"horizon={WEEKS}", "--policy", spec(stub)]
    return desim_process(
        *("sweep", "beer_game", *words, "--seeds", "0:4", "--out", str(out), *options),
        cwd=out.parent,
        env={"PYTHONPATH": PYTHONPATH, "COLUMNS": "200"},
    )


def test_ctrl_c_waits_for_no_reply_and_the_same_command_goes_on(tmp_path: Path, stub: Stub) -> None:
    """Rows that have finished are kept."""

    def stuck(number: int, _: dict[str, Any]) -> Served:
        served = text('{"order_qty": 1}')
        served.slow = 60.0 if number >= WEEKS else 0.0
        return served

    stub.script = stuck
    process = command(stub, tmp_path / "out", "--concurrent", "1")
    while len(stub.requests) < WEEKS + 1:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    done = ended(process)
    assert done.code == 130
    assert "stopped after 1 of 4; the same command goes on" in done.err
    stub.script = lambda _number, _body: text('{"order_qty": 1}')
    assert ended(command(stub, tmp_path / "out")).code == 0
    assert len(stub.requests) == 4 * WEEKS + 1


def test_the_command_limits_calls_and_says_which_option_to_use(tmp_path: Path, stub: Stub) -> None:
    """`--max-calls` ends with 1, two numbers of episodes at once with 2."""
    done = ended(command(stub, tmp_path / "cut", "--max-calls", "3"))
    assert (done.code, len(stub.requests)) == (1, 3)
    assert "4 of 4 episodes failed, the first is " in done.err
    assert "with seed 0: LimitReached: the limit --max" in done.err
    both = ended(command(stub, tmp_path / "no", "--concurrent", "2", "--executor", "processes=1"))
    assert both.code == 2
    assert "write --executor processes=N,concurrent=N" in both.err


@pytest.mark.parametrize(("read", "played"), [(0, False), (1, False), (2, True), (4, True)])
def test_an_episode_of_mostly_default_actions_has_no_score(read: int, *, played: bool) -> None:
    """It counts as failed, so that no mean takes it for the model's; the share is a column."""

    def script(number: int, _: dict[str, Any]) -> Served:
        return text('{"order_qty": 10}' if number < read else "")

    with serving(script) as stub:
        rows = sweep(**GAME, policies=f"llm,model=m,base_url={stub.url},retries=0", seeds=[1])
    assert rows.column("defaults") == [1 - read / WEEKS]
    expected = None if played else f"not played: {WEEKS - read} of {WEEKS} decisions were"
    assert (rows[0]["error"] or "").startswith(expected or "")
    assert (rows[0]["error"] is None, rows[0]["score"] is not None) == (played, played)
    notes = " ".join(rows.table().notes)
    assert ("default actions: " in notes) is (read < WEEKS)


def test_an_episode_with_one_silent_model_among_others_has_no_score() -> None:
    """The share is that of each role; those who decide do not hide one that does not."""
    with serving(text("")) as silent, serving(text('{"order_qty": 10}')) as speaking:
        where = dict.fromkeys(("retailer", "wholesaler", "distributor"), speaking.url)
        seats = {**where, "factory": silent.url}
        team = {role: f"llm,model=m,base_url={at},retries=0" for role, at in seats.items()}
        rows = sweep("beer_game/classic", set={"horizon": 8}, policies=[team], seeds=[1])
    (row,) = rows
    said = "not played: 4 of 4 decisions of factory were default actions"
    assert (row["error"], row["score"]) == (said, None)
    assert row["defaults"] == 0.25
