"""Executors: rows are the same wherever and in whatever order the jobs are played."""

import random
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from support.command_line import python
from support.examples import examples
from support.small_worlds import ENDLESS, FAILS, STRIDE, WALK, Dice, Go, Spot, Tally, Walk

from desim import Policy
from desim.core.limits import Limits
from desim.engine.plan import Grid, Job
from desim.engine.run.executors import (
    DaskExecutor,
    Executor,
    Played,
    ProcessExecutor,
)
from desim.engine.run.playing import stopped_text
from desim.engine.run.workers import Work, WorkerDied
from desim.engine.store import Store, SweepWarning
from desim.episodes.driver import play
from desim.errors import UsageError
from desim.rows.rows import Rows
from desim.studies.sweep import sweep


def mixed(**more: Any) -> Rows:
    """A sweep with parameters, two policies, and failures among the episodes."""
    return sweep(WALK, [STRIDE, FAILS], range(25), set={"steps": [2, 4]}, **more)


def lines(rows: Rows) -> list[bytes]:
    """Rows as bytes."""
    return [msgspec.json.encode(row) for row in rows]


# -- any executor ----------------------------------------------------------------------------------


class Whimsical(Executor):
    """Plays jobs in an order of its own, some at a time."""

    def __init__(self, whim: int) -> None:
        self.whim = whim
        self.jobs: list[Job] = []
        self.closed = False

    def run(self, work: Work, plan: Grid, indices: Sequence[int]) -> Played:
        """Play jobs far from each other together."""
        order = sorted(indices, key=lambda index: index * self.whim % 61)
        for start in range(0, len(order), self.whim):
            some = order[start : start + self.whim]
            self.jobs += map(plan.job, some)
            yield some, [row for index in some for row in work([plan.job(index)])]

    def close(self) -> None:
        """Note the call."""
        self.closed = True


@examples(10)
@given(st.integers(1, 60))
def test_rows_do_not_depend_on_the_order_of_play(whim: int) -> None:
    """Each job is played once, and the first once more at the end."""
    executor = Whimsical(whim)
    rows = sweep(WALK, STRIDE, range(60), executor=executor)
    assert rows.column("seed") == list(range(60))
    assert rows == sweep(WALK, STRIDE, range(60))
    assert sorted(job.seed for job in executor.jobs) == [0, *range(60)]
    assert not executor.closed  # the caller closes its own executor


def test_progress_reports_every_finished_episode() -> None:
    """It starts with none, never decreases, and ends with all."""
    reports: list[tuple[int, int]] = []
    sweep(WALK, STRIDE, range(30), progress=lambda *now: reports.append(now))
    assert reports[0] == (0, 30)
    assert reports[-1] == (30, 30)
    assert reports == sorted(reports)


# -- worker processes ------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_rows_are_the_same_for_any_number_of_workers(jobs: int) -> None:
    """No byte differs, failures included."""
    assert lines(mixed(jobs=jobs)) == lines(mixed())


def test_draws_from_global_generators_depend_on_the_seed_alone() -> None:
    """Rows are equal for any number of workers, and the caller's states stay as they are."""
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    np.random.normal()  # noqa: NPY002 (keeps a second number)
    before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
    rows = sweep(WALK, Dice, range(6))
    assert len({*rows.column("score")}) > 1
    assert lines(rows) == lines(sweep(WALK, Dice, range(6), jobs=2))
    episodes = [play(WALK, Dice, seed) for seed in range(2)]
    assert [one.ledger_digest for one in episodes] == rows.column("ledger_digest")[:2]
    assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_policy_with_state_in_its_class_is_named(jobs: int) -> None:
    """A sentence names it and what to do."""
    with pytest.warns(SweepWarning, match=r"^\S*Tally: the first seed.* Seat\.generator") as said:
        sweep(WALK, [STRIDE, Tally], range(2), jobs=jobs)
    assert len(said) == 1


@pytest.mark.parametrize("more", [{"jobs": 2}, {"executor": "processes=1"}], ids=str)
def test_an_episode_that_ends_its_worker_is_a_failed_row(
    more: dict[str, Any], tmp_path: Path
) -> None:
    """The others are played, and the row is the same however the chunks were cut."""
    policies = [f"{STRIDE},size={n}" for n in range(4)] + [f"{FAILS},how=die"]
    rows = sweep(WALK, policies, range(4), out=tmp_path, **more)
    assert [row["seed"] for row in rows.failed] == [0, 3]
    assert {row["error"] for row in rows.failed} == {"worker process died (exit code 4)"}
    assert {row["policy"] for row in rows.failed} == {f"{FAILS},how=die"}
    assert [row["decisions"] for row in rows if not row["error"]] == [3] * 18
    assert sweep(WALK, policies, range(4), out=tmp_path, **more) == rows


def test_workers_that_keep_dying_end_the_sweep(tmp_path: Path) -> None:
    """After a number of restarts the error says how many rows are kept."""
    policies = [*(f"{STRIDE},size={n}" for n in range(4)), f"{FAILS},how=die"]
    with pytest.raises(WorkerDied) as died:
        sweep(WALK, policies, range(50), executor=ProcessExecutor(2, restarts=0), out=tmp_path)
    with Store(tmp_path, read=True) as store:
        kept = len(store)
    assert 0 < kept < 250
    assert str(died.value).startswith("a worker process died: it ran out of memory, was killed")
    assert str(died.value).endswith(f"try fewer jobs; {stopped_text(kept, 250)}")


@pytest.mark.parametrize("given", ["processes=0", "processes=-1", "processes=x", "dask=", "local"])
def test_an_executor_that_does_not_exist_is_refused(given: str) -> None:
    """The error lists those that do."""
    text = f"executor '{given}' was given; possible: processes=N, concurrent=N with N of at least 1"
    with pytest.raises(UsageError, match=text):
        mixed(executor=given)


SLOW = [pytest.param(how, marks=pytest.mark.slow) for how in ("in C", "catch")]


@pytest.mark.parametrize("how", ["loop", "build", *SLOW])
def test_an_episode_that_never_ends_is_a_failed_row(how: str) -> None:
    """With a limit of time: even a policy that no exception can interrupt, or that catches it."""
    rows = sweep(
        WALK,
        f"{ENDLESS},how={how}",
        range(3),
        executor="processes=1",
        limits=Limits(seconds=2),
    )
    assert [row["seed"] for row in rows.failed] == [1]
    assert rows[1]["error"].startswith("LimitReached: the limit of 2 seconds was reached")


def test_a_policy_that_cannot_be_pickled_is_refused() -> None:
    """A lock is neither sent by value nor by name; the error says what to do instead."""
    lock = threading.Lock()

    def careful(_spot: object) -> object:
        with lock:
            return {"do": "go", "places": 1}

    text = r"a job cannot be sent to a worker .*lock.*; what its model .* or use jobs=1"
    with pytest.raises(UsageError, match=text):
        sweep(WALK, careful, range(2), jobs=2)


def local_policies() -> list[Any]:
    """A class, an instance and functions that no module has by name."""

    @frozen
    class Local(Policy):
        size: int = 2

        def decide(self, _spot: Spot) -> Go:
            return Go(self.size)

    step = 3
    return [Local, Local(4), lambda _spot: Go(step), {"walker": Local, "helper": Local(5)}]


def local_model() -> Walk:
    """A model that no module has by name."""

    @frozen
    class Own(Walk):
        def score(self, path: Any) -> float:
            return 10 * super().score(path)

    return Own()


def test_local_classes_and_lambdas_play_in_workers() -> None:
    """Models as well; rows are those of one process."""
    rows = sweep(local_model(), local_policies(), range(9), jobs=2)
    assert lines(rows) == lines(sweep(local_model(), local_policies(), range(9)))
    assert len(rows) == 36
    assert not rows.failed


def test_a_script_may_sweep_its_own_policy_and_model(tmp_path: Path) -> None:
    """Workers find its classes and modules in the current folder; it needs no guard."""
    (tmp_path / "mine.py").write_text("from support.small_worlds import Stride as Mine\n")
    (tmp_path / "script.py").write_text(
        "from support import small_worlds\n"
        "from attrs import frozen\n"
        "from desim.studies.sweep import sweep\n"
        "class Own(small_worlds.Stride): pass\n"
        "def rule(spot): return small_worlds.Go(1)\n"
        "Field = frozen(type('Field', (small_worlds.Walk,), {}))\n"
        "for jobs in (1, 2):\n"
        "    rows = sweep(Field, [Own, 'mine:Mine', rule], range(2), jobs=jobs)\n"
        "    print(rows.column('score'), rows.failed)\n",
    )
    done = python("script.py", cwd=tmp_path)
    one, two = done.stdout.splitlines()
    assert done.stderr == ""
    assert one == two
    assert "0 of which failed" in one


#: What a notebook does: `__main__` has no file, a class refers to another by a text, and a class
#: is defined anew between two sweeps of the same workers.
NOTEBOOK = """
from attrs import frozen
import desim
from desim import Policy
from desim.core.roles import Role
from support.small_worlds import Go, Spot, Walk

@frozen
class See:
    last: "Step | None" = None

@frozen
class Step:
    size: int = 0

@frozen
class Mine(Walk):
    @property
    def roles(self): return {"walker": Role(See, Step)}
    def begin(self, world):
        trail = []
        world.process(self.walk(world, trail))
        return trail
    def walk(self, world, trail):
        wind = world.stream("wind")
        for _ in range(self.steps):
            step = yield world.ask("walker", lambda: See(trail[-1] if trail else None))
            trail.append(Step(step.size + int(wind.integers(9))))
            yield world.timeout(1)
        world.end("walked")
    def score(self, trail): return sum(step.size for step in trail)
    def metrics(self, trail): return {}

SIZE = 2
def rule(see): return Step(SIZE + (see.last.size if see.last else 0))

rows = desim.sweep(Mine, rule, range(9), jobs=2)
print(len(rows.failed), rows == desim.sweep(Mine, rule, range(9)))
SIZE = 5
again = desim.sweep(Mine, rule, range(9), jobs=2)
print(again != rows, again == desim.sweep(Mine, rule, range(9)))
for size in (1, 7):
    class Own(Policy):
        def decide(self, spot, size=size): return Go(size)
    rows = desim.sweep(Walk, Own, range(9), jobs=2)
    print(rows == desim.sweep(Walk, Own, range(9)), rows[0]["policy"])
"""


def test_a_notebook_may_sweep_its_own_policy_and_model() -> None:
    """Also in workers that have played an earlier class of the same name."""
    done = python("-c", NOTEBOOK)
    assert done.stdout.splitlines() == ["0 True", "True True", *["True __main__:Own"] * 2]
    assert done.stderr == ""


def test_importing_desim_loads_nothing_slow() -> None:
    """Databases, pools, clusters and rich are imported where they are used."""
    done = python(
        "-c", "import sys; old = {*sys.modules}; import desim; print(*{*sys.modules} - old)"
    )
    slow = {"sqlite3", "multiprocessing", "concurrent.futures.process", "numpy", "scipy", "rich"}
    slow |= {"cloudpickle"}
    assert done.returncode == 0
    assert slow & {*done.stdout.split()} == set()


# -- a Dask cluster --------------------------------------------------------------------------------


def test_a_dask_cluster_plays_the_same_rows() -> None:
    """The jobs do not depend on the executor."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        rows = mixed(executor=f"dask={cluster.scheduler_address}")
        assert lines(rows) == lines(mixed())
        dask = f"dask={cluster.scheduler_address}"
        rows = sweep(local_model(), local_policies(), range(4), executor=dask)
        assert lines(rows) == lines(sweep(local_model(), local_policies(), range(4)))


def test_a_cluster_without_workers_is_refused() -> None:
    """The sweep would never end."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster,
        pytest.raises(UsageError, match="has no workers; start one with dask worker"),
    ):
        DaskExecutor(cluster.scheduler_address)


def test_a_cluster_that_does_not_answer_is_an_error() -> None:
    """The error names the address."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        DaskExecutor("tcp://127.0.0.1:9", seconds=0.3)


def test_dask_is_imported_only_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, the error says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install desim\[dask\]"):
        mixed(executor="dask=tcp://somewhere:8786")


@pytest.mark.slow
def test_a_scheduler_that_ends_is_one_sentence(tmp_path: Path) -> None:
    """It says how many rows are kept, and the same sweep goes on, here without a cluster."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    seeds = range(5_000)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        end = lambda done, _total: cluster.close() if done else None  # noqa: E731 (a callback)
        with pytest.raises(WorkerDied) as lost:
            sweep(WALK, STRIDE, seeds, out=tmp_path, executor=f"dask={address}", progress=end)
    with Store(tmp_path, read=True) as store:
        kept = len(store)
    assert 0 < kept < len(seeds)
    assert str(lost.value) == (
        f"the Dask scheduler {address} ended or cannot be reached any more; "
        f"{stopped_text(kept, len(seeds))}"
    )
    reports: list[tuple[int, int]] = []
    rows = sweep(WALK, STRIDE, seeds, out=tmp_path, progress=lambda *now: reports.append(now))
    assert reports[0] == (kept, len(seeds))
    assert rows.column("seed") == list(seeds)
